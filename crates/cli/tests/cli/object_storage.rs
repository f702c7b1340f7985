//! `verial serve --blobs s3://…` with the S3 server that `./test` starts.

use testkit::Database;
use testkit::world::patients;

use crate::process::ServerData;

#[tokio::test]
async fn a_dataset_is_stored_in_and_read_from_a_bucket() {
    let Some(bucket) = testkit::s3_bucket("verial-serve").await else { return };
    let http = testkit::http_client();
    let server_data = ServerData::new(Database::Sqlite);
    let mut server = server_data.serve_with(&["--blobs", "s3://verial-serve/blobs"]);
    let key = server.first_key.clone().unwrap();
    let datasets = format!("{}/datasets", server.base_url);
    let new = r#"{"name": "Patients", "type": "fhir"}"#;
    let created = http.post(&datasets).bearer_auth(&key).header("content-type", "application/json").body(new);
    let created: serde_json::Value = created.send().await.unwrap().json().await.unwrap();
    let data = format!("/datasets/{}/data", created["id"].as_str().unwrap());
    let put = http.put(format!("{}{data}", server.base_url)).bearer_auth(&key).body(patients(100));
    let put = put.header("content-type", "application/fhir+ndjson").send().await.unwrap();
    assert_eq!(put.status(), 200);
    let listed = http.get(format!("{bucket}?list-type=2&prefix=blobs/")).send().await.unwrap();
    assert!(listed.text().await.unwrap().contains("<Key>blobs/"), "the bucket is empty");
    server.kill();
    let again = server_data.serve_with(&["--blobs", "s3://verial-serve/blobs"]);
    let kept = http.get(format!("{}{data}", again.base_url)).bearer_auth(&key).send().await.unwrap();
    assert_eq!(kept.text().await.unwrap().lines().count(), 100);
}
