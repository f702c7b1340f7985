//! Authoring a benchmark: write, change, publish.

use serde_json::json;
use testkit::both_databases;
use testkit::world::Authored;

both_databases! {
    async fn a_complete_benchmark_is_written_and_published(server: TestServer) {
        let author = server.organization("Author").await;
        let made = Authored::create(&author).await;
        let version = author.post(&format!("/benchmarks/{}/publish", made.benchmark), json!({})).await.expect(201);
        assert_eq!(version["slug"], "referral-intake");
        assert_eq!(version["version"], 1);
        assert_eq!(version["tasks"][0]["criteria"][0]["label"], "A service request was made");
        let again =
            author.post(&format!("/benchmarks/{}/publish", made.benchmark), json!({})).await.expect_error(409, "CONFLICT");
        assert!(again["error"]["message"].as_str().unwrap().contains("referral-intake@1"));
    }
}
