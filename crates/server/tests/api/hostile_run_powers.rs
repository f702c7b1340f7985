//! V15: an agent's credentials are valid for its own run and nothing else.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, basic, solver};
use testkit::{Caller, both_databases};

use crate::hostile_run_fixture::{AgentCredentials, MarkedBenchmark};
use crate::prober::{comparable, unknown_id};
use crate::request::{Request, send_all};
use crate::surface::Surface;

/// `OPTIONS` needs no credential; its response only contains CORS headers.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "TRACE"];

both_databases! {
    async fn an_agents_credentials_cannot_use_internal_operations(server: TestServer) {
        let (surface, trap) = (Surface::load(), MarkedBenchmark::set(&server).await);
        let mut held = AgentCredentials::begin(&server, &trap, true).await;
        held.start(&server, 0).await;
        held.find_out(&trap).await;
        let before = everything(&trap.author, &surface, &trap, &held).await;
        let mut probes = 0;
        for credential in &held.credentials {
            let mut requests = Vec::new();
            for operation in surface.internal() {
                // With existing ids, because the response must not depend on them.
                let path = operation.path(|variable| trap.ids(variable, &held).pop().unwrap());
                for method in METHODS {
                    let method = Method::from_bytes(method.as_bytes()).unwrap();
                    requests.push(Request::new(method.clone(), &path));
                    requests.push(Request::new(method, &path).json(&json!({"name": "mine now", "criteria": []})));
                }
            }
            probes += requests.len();
            send_all(&server.caller(credential), requests, |response| {
                assert!([401, 403, 404, 405].contains(&response.status), "{} {}: {}", response.request, response.status, response.text());
            })
            .await;
            for operation in surface.internal() {
                let path = operation.path(|variable| trap.ids(variable, &held).pop().unwrap());
                let response = Request::new(operation.method.clone(), &path).json(&json!({})).send(&server.caller(credential)).await;
                assert!([401, 403].contains(&response.status), "{} {}", response.request, response.status);
            }
        }
        assert_eq!(before, everything(&trap.author, &surface, &trap, &held).await);
        eprintln!("{probes} probes of internal operations, no success");
        assert!(probes > 3000, "only {probes}");
    }

    async fn ids_of_another_run_look_like_unknown_ids(server: TestServer) {
        let trap = MarkedBenchmark::set(&server).await;
        let (mut own, mut other) = (AgentCredentials::begin(&server, &trap, true).await, AgentCredentials::begin(&server, &trap, true).await);
        own.start(&server, 0).await;
        other.start(&server, 0).await;
        let stranger = server.organization("Stranger").await;
        let stranger = solver(&server, &stranger, "agent-1").await;
        let sibling = solver(&server, &trap.author, "agent-2").await;
        let before = trap.author.get(&format!("/benchmark-runs/{}", other.agent.run)).await.expect(200).json;
        let mut probes = 0;
        for credential in own.credentials.iter().map(String::as_str).chain([stranger.key(), sibling.key()]) {
            // The solver that created both may read both.
            let is_solver = credential == trap.solver.key();
            let ids: Vec<&str> =
                [&other.agent.run].into_iter().chain(&other.agent.task_runs).map(String::as_str).collect();
            for (method, path) in addresses(&other.agent) {
                if is_solver && method == Method::GET && path == format!("/v1/benchmark-runs/{}", other.agent.run) {
                    continue;
                }
                let nothing = ids.iter().fold(path.clone(), |path, id| path.replace(id, &unknown_id(id)));
                let caller = server.caller(credential);
                let ask = async |path: &str| Request::new(method.clone(), path).send(&caller).await;
                let (theirs, nothing) = (ask(&path).await, ask(&nothing).await);
                assert!([401, 403, 404].contains(&theirs.status), "{} {}", theirs.request, theirs.status);
                assert_eq!(comparable(&theirs, &ids), comparable(&nothing, &ids), "{}", theirs.request);
                probes += 1;
            }
        }
        assert_eq!(before, trap.author.get(&format!("/benchmark-runs/{}", other.agent.run)).await.expect(200).json);
        other.agent.write(basic("a")).await.expect(201);
        eprintln!("{probes} pairs of probes of another run");
    }

    async fn a_credential_ends_with_its_run_or_sandbox(server: TestServer) {
        let trap = MarkedBenchmark::set(&server).await;
        let mut held = AgentCredentials::begin(&server, &trap, true).await;
        held.start(&server, 0).await;
        held.agent.complete(0).await.expect(200);
        // Its sandbox accepts no traffic, whatever credential is used.
        for (base, credential) in &held.fhir {
            for (method, path) in [(Method::GET, "Patient/p1"), (Method::GET, "metadata"), (Method::POST, "Basic"), (Method::GET, "_history")] {
                let request = Request::new(method, format!("{base}/{path}"));
                let response = request.content("application/fhir+json", basic("late").to_string()).send(&server.caller(credential)).await;
                assert!([401, 409].contains(&response.status), "{} {}: {}", response.request, response.status, response.text());
                assert_eq!(response["resourceType"], "OperationOutcome", "{}", response.request);
            }
        }
        trap.author.post(&format!("/benchmark-runs/{}/cancel", held.agent.run), json!({})).await.expect(200);
        for (method, path) in addresses(&held.agent) {
            let response = Request::new(method, path).send(&held.agent.caller).await;
            assert_eq!(response.status, 401, "{}", response.request);
        }
        // A revoked solver key cannot read runs, and the run that it created continues.
        let other = AgentCredentials::begin(&server, &trap, true).await;
        let solver = trap.author.get("/solvers").await.expect(200).data()[0]["id"].as_str().unwrap().to_owned();
        let keys = trap.author.get(&format!("/solvers/{solver}/api-keys")).await.expect(200);
        for key in keys.data() {
            trap.author.delete(&format!("/solvers/{solver}/api-keys/{}", key["id"].as_str().unwrap())).await.expect(204);
        }
        trap.solver.get(&format!("/v1/benchmark-runs/{}", other.agent.run)).await.expect_error(401, "UNAUTHORIZED");
        other.agent.start(0).await.expect(200);
    }
}

/// The paths of an agent's run.
fn addresses(agent: &Agent) -> Vec<(Method, String)> {
    let mut addresses = vec![(Method::GET, format!("/v1/benchmark-runs/{}", agent.run))];
    for task_run in &agent.task_runs {
        addresses.push((Method::GET, format!("/v1/task-runs/{task_run}")));
        addresses.push((Method::POST, format!("/v1/task-runs/{task_run}/start")));
        addresses.push((Method::POST, format!("/v1/task-runs/{task_run}/complete")));
        for path in ["", "/", "/metadata", "/Patient", "/Patient/p1", "/_history", "/.well-known/smart-configuration"] {
            addresses.push((Method::GET, format!("/v1/task-runs/{task_run}/sandbox/fhir{path}")));
            addresses.push((Method::POST, format!("/v1/task-runs/{task_run}/sandbox/fhir{path}")));
            addresses.push((Method::GET, format!("/v1/benchmark-runs/{}/fhir{path}", agent.run)));
            addresses.push((Method::DELETE, format!("/v1/benchmark-runs/{}/fhir{path}", agent.run)));
        }
    }
    addresses
}

/// Everything the author can read at these ids, without fields that reading changes.
async fn everything(
    author: &Caller,
    surface: &Surface,
    trap: &MarkedBenchmark,
    held: &AgentCredentials,
) -> Vec<(String, Value)> {
    let mut read = Vec::new();
    for operation in surface.internal().filter(|operation| operation.method == Method::GET) {
        let path = operation.path(|variable| trap.ids(variable, held).pop().unwrap());
        // The list shows when they were last used.
        if !path.contains("api-keys") {
            let response = author.get(&path).await;
            read.push((path, response.without_request_id()));
        }
    }
    read
}
