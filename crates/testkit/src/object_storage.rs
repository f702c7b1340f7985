//! Buckets in the S3 server that `./test` starts.

/// The URL of a bucket that is there, or nothing when there is no server. `./test` sets the `AWS_…` variables for it.
#[expect(clippy::disallowed_methods, reason = "a setting of the tests, as the one for PostgreSQL")]
pub async fn s3_bucket(name: &str) -> Option<String> {
    let Ok(server) = std::env::var("VERIAL_TEST_S3") else {
        eprintln!("skipped: VERIAL_TEST_S3 is not set; ./test starts a server");
        return None;
    };
    let url = format!("{server}/{name}");
    let made = reqwest::Client::new().put(&url).send().await.expect("the S3 server answers");
    assert!(made.status().is_success(), "{url}: {}", made.status());
    Some(url)
}
