//! Pairs of concurrent requests: one wins, and both get a correct response.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use testkit::runs::{Agent, Bench, wants_code};
use testkit::{Caller, TestServer, both_databases};

const MANY: usize = 8;

both_databases! {
    async fn a_concurrent_cancel_and_completion_have_one_winner(server: TestServer) {
        let (author, agent) = run(&server).await;
        agent.start(0).await.expect(200);
        let path = format!("/benchmark-runs/{}/cancel", agent.run);
        let (cancelled, completed) =
            futures_util::join!(author.send(Method::POST, &path, &[], None), agent.complete(0));
        let run = author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200);
        let outcome = (cancelled.status, &run["status"], run["score"].is_null());
        assert!(
            outcome == (200, &json!("cancelled"), true) || outcome == (409, &json!("completed"), false),
            "{outcome:?} {}",
            completed.text()
        );
        assert_eq!(completed.status == 200, run["status"] == "completed");
    }

    async fn a_rejection_during_the_start_is_not_cached(server: TestServer) {
        let (_, agent) = run(&server).await;
        let ask = || agent.fhir(Method::GET, "Patient/p1", None);
        let (_, started) = futures_util::join!(join_all((0..MANY).map(|_| ask())), agent.start(0));
        started.expect(200);
        ask().await.expect(200);
    }
}

/// A run of one task.
async fn run(server: &TestServer) -> (Caller, Agent) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    bench.task("Task", &[wants_code("a")]).await;
    let agent = bench.begin(server).await;
    (author, agent)
}
