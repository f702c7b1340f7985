//! An agent that does not stop: event and rate limits are enforced, and the task is scored anyway.

use std::time::Instant;

use app::Limits;
use futures_util::{StreamExt, stream};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, solver, wants_code};
use testkit::{Caller, Database, TestResponse, TestServer, both_databases};

use crate::fhir_client::{entry, transaction};
use crate::request::AT_ONCE;

const MAX_EVENTS: i64 = 40;

both_databases! {
    async fn a_task_over_its_event_limit_accepts_no_traffic_and_is_still_scored(server: TestServer) {
        let limits = Limits { task_run_events: MAX_EVENTS, ..TestServer::unhurried() };
        let server = TestServer::start_with(server.database().kind(), limits).await;
        let author = server.organization("Acme").await;
        for kind in ["writes", "reads", "both", "bundles", "refused"] {
            let (agent, sandbox) = begun(&server, &author, kind).await;
            agent.write(basic("a")).await.expect(201);
            let mut accepted = 1;
            let last = loop {
                let response = send(&agent, kind, accepted).await;
                if response.status == 409 {
                    break response;
                }
                accepted += 1;
                assert!(accepted < 10_000, "{kind}: no end");
            };
            assert_eq!(last["resourceType"], "OperationOutcome");
            assert!(last.text().contains(&MAX_EVENTS.to_string()), "{}", last.text());
            // Other addresses of the same sandbox do not either.
            for path in [format!("/sandboxes/{sandbox}/fhir/metadata"), format!("/sandboxes/{sandbox}/fhir/Patient")] {
                author.get(&path).await.expect(409);
            }
            assert_eq!(accepted, MAX_EVENTS, "{kind}");
            let result = agent.complete(0).await.expect(200);
            let budget = &result["checks"][1];
            assert_eq!(budget["evidence"]["counts"]["fhir_request"], json!(accepted), "{kind}: {budget}");
            assert_eq!(budget["result"], "fail", "{kind}: more than 39 were made");
            assert_eq!(result["score"], json!(0.5), "{kind}: {}", result.text());
        }
    }

    async fn requests_without_a_credential_do_not_fill_the_log(server: TestServer) {
        let author = server.organization("Acme").await;
        let (agent, sandbox) = begun(&server, &author, "strangers").await;
        for path in ["metadata", ".well-known/smart-configuration"] {
            for _ in 0..MAX_EVENTS {
                server.anonymous().get(&format!("/sandboxes/{sandbox}/fhir/{path}")).await.expect(200);
            }
        }
        server.anonymous().get(&format!("/sandboxes/{sandbox}/fhir/Patient")).await.expect(401);
        agent.write(basic("a")).await.expect(201);
        let result = agent.complete(0).await.expect(200);
        assert_eq!(result["checks"][1]["evidence"]["counts"], json!({"fhir_request": 1}));
        assert_eq!(result["verdict"], "pass");
    }

    async fn concurrent_agents_cannot_exceed_the_event_limit(server: TestServer) {
        let limits = Limits { task_run_events: MAX_EVENTS, ..TestServer::unhurried() };
        let server = TestServer::start_with(server.database().kind(), limits).await;
        let author = server.organization("Acme").await;
        let (agent, _) = begun(&server, &author, "many").await;
        let answers: Vec<u16> = stream::iter(0..500)
            .map(|_| agent.write(basic("a")))
            .buffer_unordered(AT_ONCE)
            .map(|response| response.status)
            .collect()
            .await;
        let accepted = answers.iter().filter(|status| **status == 201).count();
        assert!(answers.iter().all(|status| [201, 409].contains(status)));
        let result = agent.complete(0).await.expect(200);
        assert_eq!(result["checks"][1]["evidence"]["counts"]["fhir_request"], json!(accepted));
        assert_eq!(accepted as i64, MAX_EVENTS);
    }

    async fn a_task_with_many_requests_is_completed_quickly(server: TestServer) {
        let author = server.organization("Acme").await;
        let (agent, _) = begun(&server, &author, "flood").await;
        agent.write(basic("a")).await.expect(201);
        let count = if server.database().kind() == Database::Sqlite { 20_000 } else { 4_000 };
        let (begun, before) = (Instant::now(), resident_megabytes());
        let ask = |number: usize| agent.fhir(Method::GET, ["Patient/p1", "Basic", "Patient/none"][number % 3], None);
        let answers = stream::iter(0..count).map(ask).buffer_unordered(64);
        answers.for_each(|response| async move { assert!([200, 404].contains(&response.status), "{}", response.text()) }).await;
        let (flooded, loaded) = (begun.elapsed(), resident_megabytes());
        let completing = Instant::now();
        let result = agent.complete(0).await.expect(200);
        eprintln!(
            "{count} events in {flooded:.1?}, completed in {:.2?}; resident {before} MB, then {loaded} MB, then {} MB",
            completing.elapsed(),
            resident_megabytes()
        );
        assert_eq!(result["checks"][1]["evidence"]["counts"]["fhir_request"], json!(count + 1));
        assert!(result.body.len() < 10_000);
    }

    async fn rate_limits_apply_to_the_paths_of_agents(server: TestServer) {
        let limits = Limits { requests_per_second: 1, request_burst: 60, ..Limits::default() };
        let server = TestServer::start_with(server.database().kind(), limits).await;
        let author = server.organization("Acme").await;
        let (agent, _) = begun(&server, &author, "rates").await;
        let task_run = format!("/v1/task-runs/{}", agent.task_runs[0]);
        let fhir = format!("/v1/benchmark-runs/{}/fhir/Patient/p1", agent.run);
        let of_task = format!("{task_run}/sandbox/fhir/Patient/p1");
        // One rate limit for all paths of the token, and the error has the format of the path's protocol.
        for path in [&fhir, &of_task] {
            let refused = refused_at_last(&agent.caller, path).await;
            assert_eq!(refused["resourceType"], "OperationOutcome");
            assert!(refused.header("retry-after").is_some());
        }
        refused_at_last(&agent.caller, &task_run).await.expect_error(429, "RATE_LIMITED");
        author.get("/organization").await.expect(200);
    }

    async fn guessing_run_tokens_is_rate_limited(server: TestServer) {
        let limits = Limits { refusals_per_second: 1, refusal_burst: 5, ..Limits::default() };
        let server = TestServer::start_with(server.database().kind(), limits).await;
        let author = server.organization("Acme").await;
        let (agent, _) = begun(&server, &author, "guess").await;
        let guess = server.caller(&format!("vrl_run_{}", "0".repeat(38)));
        let paths = [
            format!("/v1/benchmark-runs/{}", agent.run),
            format!("/v1/task-runs/{}", agent.task_runs[0]),
            format!("/v1/benchmark-runs/{}/fhir/Patient", agent.run),
            format!("/v1/task-runs/{}/sandbox/fhir/Patient", agent.task_runs[0]),
        ];
        let mut statuses = Vec::new();
        for number in 0..40 {
            statuses.push(guess.get(&paths[number % paths.len()]).await.status);
        }
        assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
        assert!(statuses.contains(&429) && statuses[0] == 401, "{statuses:?}");
        agent.read().await;
    }
}

/// An agent in a started task with a required resource and a request budget, and its sandbox.
async fn begun(server: &TestServer, author: &Caller, alias: &str) -> (Agent, String) {
    let bench = Bench::new(author, json!({})).await;
    let budget = json!({"assert": "interaction-budget", "max": MAX_EVENTS - 1});
    bench.task("Only", &[wants_code("a"), json!({"label": "budget", "assertion": budget})]).await;
    let publish = format!("/benchmarks/{}/publish", bench.benchmark);
    author.post(&publish, json!({"slug": format!("flood-{alias}")})).await.expect(201);
    let solver = solver(server, author, alias).await;
    let agent = Agent::begin(server, &solver, &format!("flood-{alias}@1"), false).await;
    let started = agent.start(0).await.expect(200);
    (agent, started["sandboxes"][0]["id"].as_str().unwrap().to_owned())
}

async fn send(agent: &Agent, kind: &str, number: i64) -> TestResponse {
    let refused = json!({"resourceType": "Basic", "code": 5});
    match kind {
        "writes" => agent.write(basic("b")).await,
        "reads" => agent.fhir(Method::GET, "Patient/p1", None).await,
        "both" if number % 2 == 0 => agent.write(basic("b")).await,
        "bundles" => agent.fhir(Method::POST, "", Some(several())).await,
        "refused" => agent.write(refused).await,
        _ => agent.fhir(Method::GET, "Basic?code=x", None).await,
    }
}

fn several() -> Value {
    transaction((0..5).map(|_| entry("POST", "Basic", Some(basic("b")))).collect())
}

async fn refused_at_last(caller: &Caller, path: &str) -> TestResponse {
    for _ in 0..500 {
        let response = caller.get(path).await;
        if response.status == 429 {
            return response;
        }
    }
    panic!("{path} is never refused");
}

/// The resident memory of this process, if the system reports it.
fn resident_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() / 1024
}
