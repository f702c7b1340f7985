//! `Idempotency-Key` on creations and transitions of runs: a retry takes effect once and gets the same response.

use reqwest::Method;
use serde_json::json;
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{Caller, TestServer, both_databases};

const KEY: [(&str, &str); 1] = [("idempotency-key", "retry")];

both_databases! {
    async fn a_repeated_creation_is_one_run_with_one_token(server: TestServer) {
        let (author, solver, reference) = benchmark(&server).await;
        let body = json!({"benchmark": reference, "agent": "a"});
        let first = solver.send(Method::POST, "/v1/benchmark-runs", &KEY, Some(body.clone())).await.expect(201);
        let again = solver.send(Method::POST, "/v1/benchmark-runs", &KEY, Some(body)).await.expect(201);
        assert_eq!((again.header("idempotent-replayed"), &again.json), (Some("true"), &first.json));
        assert_eq!(author.get("/benchmark-runs").await.expect(200).data().len(), 1);
        Agent::from(&server, &again).start(0).await.expect(200);
        let other = json!({"benchmark": reference, "agent": "b"});
        solver.send(Method::POST, "/v1/benchmark-runs", &KEY, Some(other)).await.expect_error(409, "CONFLICT");
        let internal = json!({"benchmark": reference});
        let first = author.send(Method::POST, "/benchmark-runs", &KEY, Some(internal.clone())).await.expect(201);
        let again = author.send(Method::POST, "/benchmark-runs", &KEY, Some(internal)).await.expect(201);
        assert_eq!(again.json, first.json);
    }

    async fn a_repeated_start_gives_the_same_playground_and_credentials(server: TestServer) {
        let (author, solver, reference) = benchmark(&server).await;
        let agent = Agent::begin(&server, &solver, &reference, false).await;
        let path = format!("/v1/task-runs/{}/start", agent.task_runs[0]);
        let first = agent.caller.send(Method::POST, &path, &KEY, None).await.expect(200);
        let again = agent.caller.send(Method::POST, &path, &KEY, None).await.expect(200);
        assert_eq!((again.header("idempotent-replayed"), &again.json), (Some("true"), &first.json));
        agent.start(0).await.expect_error(409, "CONFLICT");
        assert_eq!(author.get("/playgrounds").await.expect(200).data().len(), 2, "one for each task run");
        agent.fhir(Method::GET, "Patient/p1", None).await.expect(200);
        agent.complete(0).await.expect(200);
        let late = agent.caller.send(Method::POST, &path, &KEY, None).await.expect(200);
        assert_eq!(late.json, first.json, "even after the task has ended");
    }

    async fn a_repeated_completion_gives_the_same_result(server: TestServer) {
        let (author, solver, reference) = benchmark(&server).await;
        let agent = Agent::begin(&server, &solver, &reference, false).await;
        let path = format!("/v1/task-runs/{}/complete", agent.task_runs[0]);
        agent.caller.send(Method::POST, &path, &KEY, None).await.expect_error(409, "CONFLICT");
        agent.start(0).await.expect(200);
        let first = agent.caller.send(Method::POST, &path, &KEY, None).await.expect(200);
        assert_eq!(first.header("idempotent-replayed"), None, "a refusal is not kept");
        let again = agent.caller.send(Method::POST, &path, &KEY, None).await.expect(200);
        assert_eq!((again.header("idempotent-replayed"), &again.json), (Some("true"), &first.json));
        agent.caller.send(Method::POST, &path, &[("idempotency-key", "new")], None).await.expect_error(409, "CONFLICT");
        let kept = author.get(&format!("/criterion-runs?task_run_id={}", agent.task_runs[0])).await.expect(200);
        assert_eq!(kept.data().len(), 1, "scored once");
    }

    async fn a_key_of_another_request_is_rejected_without_effect(server: TestServer) {
        let (author, solver, reference) = benchmark(&server).await;
        let agent = Agent::begin(&server, &solver, &reference, false).await;
        let path = |task: usize, step: &str| format!("/v1/task-runs/{}/{step}", agent.task_runs[task]);
        agent.start(0).await.expect(200);
        agent.caller.send(Method::POST, &path(0, "complete"), &KEY, None).await.expect(200);
        agent.start(1).await.expect(200);
        agent.caller.send(Method::POST, &path(1, "complete"), &KEY, None).await.expect_error(409, "CONFLICT");
        agent.fhir(Method::GET, "Patient/p1", None).await.expect(200);
        agent.complete(1).await.expect(200);
        // Completing a task with an organization key starts it first if needed.
        let other = Agent::begin(&server, &solver, &reference, false).await;
        let of_organization = |task: usize, step: &str| format!("/task-runs/{}/{step}", other.task_runs[task]);
        author.send(Method::POST, &of_organization(0, "cancel"), &KEY, None).await.expect(200);
        author.send(Method::POST, &of_organization(1, "complete"), &KEY, None).await.expect_error(409, "CONFLICT");
        assert_eq!(other.read().await["task_runs"][1]["phase"], "created");
    }

    async fn every_transition_by_an_organization_can_be_repeated(server: TestServer) {
        let (author, solver, reference) = benchmark(&server).await;
        let agent = Agent::begin(&server, &solver, &reference, true).await;
        let cancelled = Agent::begin(&server, &solver, &reference, true).await;
        let (task_run, run) = (&agent.task_runs[0], &agent.run);
        for (number, path) in [
            format!("/task-runs/{task_run}/start"),
            format!("/task-runs/{task_run}/complete"),
            format!("/task-runs/{}/cancel", agent.task_runs[1]),
            format!("/benchmark-runs/{run}/publish"),
            format!("/benchmark-runs/{run}/unpublish"),
            format!("/benchmark-runs/{}/cancel", cancelled.run),
        ]
        .into_iter()
        .enumerate()
        {
            let key = format!("key {number}");
            let headers = [("idempotency-key", key.as_str())];
            let first = author.send(Method::POST, &path, &headers, None).await.expect(200);
            let again = author.send(Method::POST, &path, &headers, None).await.expect(200);
            assert_eq!((again.header("idempotent-replayed"), &again.json), (Some("true"), &first.json), "{path}");
        }
    }

    async fn the_same_idempotency_key_in_two_runs_does_not_conflict(server: TestServer) {
        let (_, solver, reference) = benchmark(&server).await;
        for _ in 0..2 {
            let agent = Agent::begin(&server, &solver, &reference, false).await;
            for step in ["start", "complete"] {
                let key = format!("{step} it");
                let path = format!("/v1/task-runs/{}/{step}", agent.task_runs[0]);
                let done = agent
                    .caller
                    .send(Method::POST, &path, &[("idempotency-key", key.as_str())], None)
                    .await
                    .expect(200);
                assert_eq!(done.header("idempotent-replayed"), None);
            }
        }
    }
}

async fn benchmark(server: &TestServer) -> (Caller, Caller, String) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    for name in ["First", "Second"] {
        bench.task(name, &[wants_code("a")]).await;
    }
    let reference = bench.publish().await;
    let solver = solver(server, &author, "agent-1").await;
    (author, solver, reference)
}
