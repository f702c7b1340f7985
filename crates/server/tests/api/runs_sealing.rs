//! The time of sealing counts: a task completed in time is scored, however long that takes and even after a crash.

use std::path::PathBuf;

use app::Clock;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench};
use testkit::{Caller, TestServer, both_databases};

const SECOND: i64 = 1000;

both_databases! {
    async fn a_task_sealed_in_time_is_scored_after_the_deadline(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (author, agent) = working(&server, 1).await;
        server.clock.advance(60 * SECOND - 1);
        let sealed_at = server.clock.now().to_string();
        crash_while_scoring(&server, &agent).await;
        for _ in 0..2 {
            let result = agent.result(0).await;
            assert_eq!((&result["phase"], &result["status"]), (&json!("started"), &json!("active")));
            assert_eq!((&result["sealed_at"], &result["score"]), (&json!(sealed_at), &Value::Null));
            let owner = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
            assert_eq!((&owner["phase"], &owner["sealed_at"]), (&json!("started"), &json!(sealed_at)));
            assert_eq!(agent.read().await["task_runs"][0]["sealed_at"], sealed_at);
            let refused = agent.caller.get(&format!("/v1/task-runs/{}/sandbox/files/outbox", agent.task_runs[0])).await;
            assert!(refused.expect_error(409, "CONFLICT").message().contains("being scored"));
            // After the deadline nothing changes, whoever reads it.
            server.clock.advance(10 * SECOND);
            app::runs::sweep(&server.app).await.unwrap();
        }
        let result = agent.complete(0).await.expect(200).json;
        assert_eq!((&result["status"], &result["score"]), (&json!("completed"), &json!(1.0)), "{result:#}");
        assert_eq!((&result["sealed_at"], &result["benchmark_run"]["status"]), (&json!(sealed_at), &json!("completed")));
        let rescored = author.post(&format!("/benchmark-runs/{}/rescore", agent.run), json!({})).await.expect(200);
        assert_eq!(rescored["identical"], true);
        agent.complete(0).await.expect_error(409, "CONFLICT");
    }

    async fn a_sealed_unscored_task_is_scored_by_the_sweeper(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (_, agent) = working(&server, 1).await;
        crash_while_scoring(&server, &agent).await;
        server.clock.advance(59 * SECOND);
        app::runs::sweep(&server.app).await.unwrap();
        assert_eq!(agent.result(0).await["phase"], "started", "somebody may still be scoring it");
        server.clock.advance(2 * SECOND);
        app::runs::sweep(&server.app).await.unwrap();
        let result = agent.result(0).await;
        assert_eq!((&result["status"], &result["score"]), (&json!("completed"), &json!(1.0)), "{result:#}");
        assert_eq!(result["benchmark_run"]["score"], json!(1.0));
    }

    async fn another_node_neither_times_out_nor_loses_a_sealed_task(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (author, agent) = working(&server, 1).await;
        crash_while_scoring(&server, &agent).await;
        let node = server.another_node_at(Clock::fixed(server.clock.now().plus_milliseconds(50 * SECOND))).await;
        app::runs::sweep(&node.app).await.unwrap();
        let seen = node.caller(author.key()).get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200);
        assert_eq!(seen["task_runs"][0]["phase"], "started");
        let late = server.another_node_at(Clock::fixed(server.clock.now().plus_milliseconds(3600 * SECOND))).await;
        app::runs::sweep(&late.app).await.unwrap();
        assert_eq!(agent.result(0).await["score"], json!(1.0));
    }

    async fn the_next_task_can_be_started_while_one_is_scored(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (_, agent) = working(&server, 2).await;
        crash_while_scoring(&server, &agent).await;
        agent.start(1).await.expect(200);
        let path = format!("/v1/benchmark-runs/{}/files/outbox/done.txt", agent.run);
        agent.caller.put_bytes(&path, "text/plain", work()).await.expect(201);
        assert_eq!(agent.complete(1).await.expect(200)["score"], json!(1.0));
        let last = agent.complete(0).await.expect(200);
        assert_eq!(last["benchmark_run"]["score"], json!(1.0));
    }

    async fn a_late_completion_is_still_rejected(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (author, agent) = working(&server, 1).await;
        server.clock.advance(60 * SECOND);
        agent.complete(0).await.expect_error(409, "CONFLICT");
        let task_run = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
        assert_eq!((&task_run["status"], &task_run["sealed_at"]), (&json!("timed_out"), &Value::Null));
    }
}

/// More bytes than are stored inside the row of a file.
fn work() -> String {
    format!("{}\nThe work is done.", "x ".repeat(200_000))
}

/// Tasks that require a file; the first is started and has its file.
async fn working(server: &TestServer, tasks: usize) -> (Caller, Agent) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({"timeout": 60})).await;
    let simulator = author.post("/simulators", json!({"type": "Files", "name": "Drop"})).await.expect(201).id();
    let path = format!("/environments/{}/simulators/{simulator}", bench.environment);
    author.send(reqwest::Method::POST, &path, &[], None).await.expect(200);
    let assertion = json!({"assert": "sftp-file-present", "path": "outbox/done.txt", "contains": ["the work is done"]});
    for place in 0..tasks {
        let criterion = json!({"label": "done", "assertion": assertion});
        bench.task(&format!("Task {place}"), &[criterion]).await;
    }
    let agent = bench.begin(server).await;
    agent.start(0).await.expect(200);
    let path = format!("/v1/benchmark-runs/{}/files/outbox/done.txt", agent.run);
    agent.caller.put_bytes(&path, "text/plain", work()).await.expect(201);
    (author, agent)
}

/// Makes file contents unreadable for a moment, so that the sealed task cannot be scored, as after a crash.
async fn crash_while_scoring(server: &TestServer, agent: &Agent) {
    let blobs = server.database().directory().join("blobs");
    let away: PathBuf = server.database().directory().join("away");
    std::fs::rename(&blobs, &away).unwrap();
    let response = agent.complete(0).await;
    assert!(response.status >= 500, "{}", response.text());
    let _ = std::fs::remove_dir_all(&blobs);
    std::fs::rename(&away, &blobs).unwrap();
}
