//! `verial serve --blobs s3://…`, against the S3 server that `./test` starts.

use testkit::Database;
use testkit::world::patients;

use crate::process::Site;

#[tokio::test]
async fn a_dataset_is_kept_in_a_bucket_and_read_from_there() {
    let Some(bucket) = testkit::s3_bucket("verial-serve").await else { return };
    let http = reqwest::Client::new();
    let site = Site::new(Database::Sqlite);
    let mut serving = site.serve_with(&["--blobs", "s3://verial-serve/blobs"]);
    let key = serving.first_key.clone().unwrap();
    let datasets = format!("{}/datasets", serving.base_url);
    let new = r#"{"name": "Patients", "type": "fhir"}"#;
    let made = http.post(&datasets).bearer_auth(&key).header("content-type", "application/json").body(new);
    let made: serde_json::Value = made.send().await.unwrap().json().await.unwrap();
    let data = format!("/datasets/{}/data", made["id"].as_str().unwrap());
    let put = http.put(format!("{}{data}", serving.base_url)).bearer_auth(&key).body(patients(100));
    let put = put.header("content-type", "application/fhir+ndjson").send().await.unwrap();
    assert_eq!(put.status(), 200);
    let listed = http.get(format!("{bucket}?list-type=2&prefix=blobs/")).send().await.unwrap();
    assert!(listed.text().await.unwrap().contains("<Key>blobs/"), "the bucket is empty");
    serving.kill();
    let again = site.serve_with(&["--blobs", "s3://verial-serve/blobs"]);
    let kept = http.get(format!("{}{data}", again.base_url)).bearer_auth(&key).send().await.unwrap();
    assert_eq!(kept.text().await.unwrap().lines().count(), 100);
}
