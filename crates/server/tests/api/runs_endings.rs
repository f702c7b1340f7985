//! Other ends of runs: cancelled completely or in part, or completed by their organization.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, wants_code};
use testkit::{Caller, TestResponse, TestServer, both_databases};

both_databases! {
    async fn a_cancelled_run_keeps_completed_tasks_and_has_no_score(server: TestServer) {
        let (author, agent) = run(&server, 3).await;
        let first = agent.do_task(0, &["a"]).await;
        let started = agent.start(1).await.expect(200).json;
        let cancelled = post(&author, &format!("/benchmark-runs/{}/cancel", agent.run)).await.expect(200);
        let ending = (&cancelled["phase"], &cancelled["status"], &cancelled["verdict"], &cancelled["score"]);
        assert_eq!(ending, (&json!("completed"), &json!("cancelled"), &Value::Null, &Value::Null));
        let statuses: Vec<&Value> =
            cancelled["task_runs"].as_array().unwrap().iter().map(|task_run| &task_run["status"]).collect();
        assert_eq!(statuses, ["completed", "cancelled", "cancelled"]);
        let kept = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
        assert_eq!((&kept["score"], &kept["verdict"]), (&first["score"], &json!("pass")));
        let criterion_run = first["checks"][0]["criterion_run_id"].as_str().unwrap();
        author.get(&format!("/criterion-runs/{criterion_run}")).await.expect(200);
        agent.caller.get(&format!("/v1/benchmark-runs/{}", agent.run)).await.expect_error(401, "UNAUTHORIZED");
        let direct = format!("/sandboxes/{}/fhir/Patient/p1", started["sandboxes"][0]["id"].as_str().unwrap());
        author.get(&direct).await.expect(200);
        author.delete(&direct).await.expect(409);
        let again = post(&author, &format!("/benchmark-runs/{}/cancel", agent.run)).await.expect_error(409, "CONFLICT");
        assert!(again.message().contains("cancelled"), "{}", again.message());
        for step in ["start", "complete", "cancel"] {
            let refused =
                post(&author, &format!("/task-runs/{}/{step}", agent.task_runs[2])).await.expect_error(409, "CONFLICT");
            assert!(refused.message().contains("cancelled"), "{}", refused.message());
        }
        let stays = author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200);
        assert_eq!((&stays["score"], &stays["completed_at"]), (&Value::Null, &cancelled["completed_at"]));
    }

    async fn a_run_that_was_not_started_can_be_cancelled(server: TestServer) {
        let (author, agent) = run(&server, 1).await;
        let cancelled = post(&author, &format!("/benchmark-runs/{}/cancel", agent.run)).await.expect(200);
        assert_eq!((&cancelled["status"], &cancelled["started_at"]), (&json!("cancelled"), &Value::Null));
        agent.start(0).await.expect_error(401, "UNAUTHORIZED");
    }

    async fn a_cancelled_task_scores_zero_and_the_run_continues(server: TestServer) {
        let (author, agent) = run(&server, 3).await;
        let cancelled = post(&author, &format!("/task-runs/{}/cancel", agent.task_runs[0])).await.expect(200);
        assert_eq!((&cancelled["phase"], &cancelled["status"]), (&json!("completed"), &json!("cancelled")));
        agent.start(1).await.expect(200);
        agent.write(basic("a")).await.expect(201);
        post(&author, &format!("/task-runs/{}/cancel", agent.task_runs[1])).await.expect(200);
        agent.write(basic("b")).await.expect(409);
        let refused = agent.complete(1).await.expect_error(409, "CONFLICT");
        assert_eq!(refused["error"]["details"]["status"], json!(["cancelled"]));
        assert_eq!(agent.read().await["status"], "active");
        let last = agent.do_task(2, &["a"]).await;
        assert_eq!(last["benchmark_run"]["score"], json!(1.0 / 3.0), "two of three count nothing");
        assert_eq!(last["benchmark_run"]["status"], "completed");
    }

    async fn cancelling_the_last_task_ends_the_run_with_the_mean(server: TestServer) {
        let (author, agent) = run(&server, 2).await;
        agent.do_task(0, &["a"]).await;
        post(&author, &format!("/task-runs/{}/cancel", agent.task_runs[1])).await.expect(200);
        let run = agent.read().await;
        assert_eq!(
            (&run["status"], &run["score"], &run["verdict"]),
            (&json!("completed"), &json!(0.5), &json!("partial"))
        );
    }

    async fn completing_a_run_scores_started_tasks_and_the_others_score_zero(server: TestServer) {
        let (author, agent) = run(&server, 4).await;
        agent.do_task(0, &["a"]).await;
        agent.start(1).await.expect(200);
        agent.write(basic("a")).await.expect(201);
        let path = format!("/benchmark-runs/{}/complete", agent.run);
        let key = [("idempotency-key", "one")];
        let done = author.send(Method::POST, &path, &key, None).await.expect(200);
        let statuses: Vec<&Value> =
            done["task_runs"].as_array().unwrap().iter().map(|task_run| &task_run["status"]).collect();
        assert_eq!(statuses, ["completed", "completed", "cancelled", "cancelled"]);
        assert_eq!(
            (&done["status"], &done["score"], &done["verdict"]),
            (&json!("completed"), &json!(0.5), &json!("partial"))
        );
        assert_eq!((&done["tasks"], &done["tasks_completed"]), (&json!(4), &json!(4)));
        let again = author.send(Method::POST, &path, &key, None).await.expect(200);
        assert_eq!((again.header("idempotent-replayed"), &again.json), (Some("true"), &done.json));
        let refused = post(&author, &path).await.expect_error(409, "CONFLICT");
        assert!(refused.message().contains("completed"), "{}", refused.message());
        assert_eq!(agent.read().await["score"], json!(0.5), "its token can still read");
    }

    async fn a_run_without_a_started_task_scores_zero(server: TestServer) {
        let (author, agent) = run(&server, 2).await;
        let done = post(&author, &format!("/benchmark-runs/{}/complete", agent.run)).await.expect(200);
        assert_eq!((&done["score"], &done["verdict"], &done["axes"]), (&json!(0.0), &json!("fail"), &json!({"__default__": {"score": 0.0, "weight": 2}})));
    }

    async fn an_organization_can_run_all_tasks_with_its_own_key(server: TestServer) {
        let (author, agent) = run(&server, 1).await;
        let started = post(&author, &format!("/task-runs/{}/start", agent.task_runs[0])).await.expect(200);
        let direct = format!("/sandboxes/{}/fhir/Basic", started["sandboxes"][0]["id"].as_str().unwrap());
        author.post(&direct, basic("a")).await.expect(201);
        let done = post(&author, &format!("/task-runs/{}/complete", agent.task_runs[0])).await.expect(200);
        assert_eq!((&done["score"], &done["benchmark_run_id"]), (&json!(1.0), &json!(agent.run)));
        for member in [
            "snapshot",
            "playground_id",
            "criterion_runs",
            "verdict",
            "axes",
            "started_at",
            "deadline_at",
            "completed_at",
        ] {
            assert!(!done[member].is_null(), "{member}");
        }
    }
}

async fn run(server: &TestServer, tasks: usize) -> (Caller, Agent) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    for number in 0..tasks {
        bench.task(&format!("Task {number}"), &[wants_code("a")]).await;
    }
    let agent = bench.begin(server).await;
    (author, agent)
}

async fn post(caller: &Caller, path: &str) -> TestResponse {
    caller.send(Method::POST, path, &[], None).await
}
