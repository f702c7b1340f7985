//! A benchmark task with a payer portal, from start to score.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, solver};
use testkit::{Caller, TestServer, both_databases};

use crate::portal_kit::{environment, request};

fn portal_check(assertions: &Value) -> Value {
    let correlate_by = json!({"resource": "prior_auth_requests", "key": "patient_member_id", "value": "M100"});
    json!({"label": "requested", "assertion":
        {"assert": "portal-state-match", "correlate_by": correlate_by, "assertions": assertions, "count": 1}})
}

/// A benchmark of one task, and a solver for it.
async fn published(server: &TestServer, config: Value, criteria: &[Value]) -> (Caller, String) {
    let author = server.organization("Acme").await;
    let environment = environment(&author, config).await;
    let benchmark = json!({"name": "Prior authorization", "environment_id": environment});
    let benchmark = author.post("/benchmarks", benchmark).await.expect(201).id();
    let task = author.post("/tasks", json!({"name": "Request", "benchmark_id": benchmark})).await.expect(201).id();
    for criterion in criteria {
        let mut criterion = criterion.clone();
        criterion["task_id"] = json!(task);
        author.post("/criteria", criterion).await.expect(201);
    }
    let version = author.post(&format!("/benchmarks/{benchmark}/publish"), json!({})).await.expect(201);
    let reference = format!("{}@{}", version["slug"].as_str().unwrap(), version["version"]);
    (solver(server, &author, "agent-1").await, reference)
}

both_databases! {
    async fn an_agents_request_is_scored(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let decided = json!([{"path": "status", "expected": "submitted"}, {"path": "procedure_code", "expected": "70551"},
            {"path": "determination.status", "expected": "approved"}, {"path": "documents.0.name", "expected": "note.txt"}]);
        let criteria = [
            portal_check(&decided),
            json!({"label": "clean", "assertion": {"assert": "no-side-effects", "allow": ["portal/prior_auth_requests", "portal/documents"]}}),
            json!({"label": "nothing", "assertion": {"assert": "no-side-effects", "allow": ["fhir/Basic"]}}),
            json!({"label": "budget", "assertion": {"assert": "interaction-budget", "max": 3}}),
        ];
        let config = json!({"default_determination": {"status": "approved", "delay_seconds": 600}});
        let (solver, benchmark) = published(&server, config, &criteria).await;
        let agent = Agent::begin(&server, &solver, &benchmark, false).await;
        let started = agent.start(0).await.expect(200);
        let endpoint = started["endpoints"]["portal"].as_str().unwrap().to_owned();
        assert_eq!(endpoint, format!("/v1/task-runs/{}/sandbox/portal", agent.task_runs[0]));
        assert_eq!(agent.created["endpoints"]["portal"], format!("/v1/benchmark-runs/{}/portal", agent.run));
        let found = agent.caller.get(&format!("{endpoint}/patients?name=maria")).await.expect(200);
        let member = found.data()[0]["member_id"].clone();
        let body = request(json!({"patient_member_id": member, "documents": [{"name": "note.txt", "content": "x"}]}));
        let path = format!("/v1/benchmark-runs/{}/portal/prior-auths", agent.run);
        agent.caller.send(Method::POST, &path, &[], Some(body)).await.expect(201);
        let row = agent.caller.get(&format!("{endpoint}/prior-auths/PA-100001")).await.expect(200);
        assert_eq!(row["determination"]["status"], "pending");
        // Without any read in between, completing settles what was due.
        server.clock.advance(600_000);
        let result = agent.complete(0).await.expect(200);
        let results: Vec<&str> =
            result["checks"].as_array().unwrap().iter().map(|check| check["result"].as_str().unwrap()).collect();
        assert_eq!(results, ["pass", "pass", "fail", "pass"], "{}", result.text());
    }

    async fn doing_nothing_or_too_much_does_not_pass(server: TestServer) {
        let criteria = [portal_check(&json!([{"path": "status", "expected": "submitted"}]))];
        let (solver, benchmark) = published(&server, json!({}), &criteria).await;
        for (requests, score) in [(0, 0.0), (1, 1.0), (2, 0.0)] {
            let agent = Agent::begin(&server, &solver, &benchmark, false).await;
            agent.start(0).await.expect(200);
            for _ in 0..requests {
                let path = format!("/v1/benchmark-runs/{}/portal/prior-auths", agent.run);
                agent.caller.post(&path, request(json!({}))).await.expect(201);
            }
            assert_eq!(agent.complete(0).await.expect(200)["score"], json!(score), "{requests}");
        }
    }
}
