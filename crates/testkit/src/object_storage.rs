//! Buckets in the S3 server that `./test` starts.

/// Creates a bucket and returns its URL, or `None` without an S3 server. `./test` sets the `AWS_…` variables for it.
#[expect(clippy::disallowed_methods, reason = "configures the tests")]
pub async fn s3_bucket(name: &str) -> Option<String> {
    let Ok(server) = std::env::var("VERIAL_TEST_S3") else {
        eprintln!("skipped: VERIAL_TEST_S3 is not set; ./test starts a server");
        return None;
    };
    let url = format!("{server}/{name}");
    let response = crate::http_client().put(&url).send().await.expect("a response of the S3 server");
    assert!(response.status().is_success(), "{url}: {}", response.status());
    Some(url)
}
