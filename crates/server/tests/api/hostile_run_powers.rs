//! V15: what an agent holds opens the agent's own run and nothing else.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, basic, solver};
use testkit::{Caller, both_databases};

use crate::hostile_run_trap::{Held, Trap};
use crate::prober::{absent, telling};
use crate::request::{Request, send_all};
use crate::surface::Surface;

/// `OPTIONS` is answered to everyone, with nothing in it but what browsers may ask.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "TRACE"];

both_databases! {
    async fn what_an_agent_holds_opens_no_internal_operation(server: TestServer) {
        let (surface, trap) = (Surface::load(), Trap::set(&server).await);
        let mut held = Held::begin(&server, &trap, true).await;
        held.start(&server, 0).await;
        held.find_out(&trap).await;
        let before = everything(&trap.author, &surface, &trap, &held).await;
        let mut probes = 0;
        for credential in &held.credentials {
            let mut requests = Vec::new();
            for operation in surface.internal() {
                // Filled with ids that exist: the answer must not depend on them.
                let path = operation.path(|variable| trap.ids(variable, &held).pop().unwrap());
                for method in METHODS {
                    let method = Method::from_bytes(method.as_bytes()).unwrap();
                    requests.push(Request::new(method.clone(), &path));
                    requests.push(Request::new(method, &path).json(&json!({"name": "mine now", "criteria": []})));
                }
            }
            probes += requests.len();
            send_all(&server.caller(credential), requests, |answer| {
                assert!([401, 403, 404, 405].contains(&answer.status), "{} {}: {}", answer.asked, answer.status, answer.text());
            })
            .await;
            for operation in surface.internal() {
                let path = operation.path(|variable| trap.ids(variable, &held).pop().unwrap());
                let answer = Request::new(operation.method.clone(), &path).json(&json!({})).send(&server.caller(credential)).await;
                assert!([401, 403].contains(&answer.status), "{} {}", answer.asked, answer.status);
            }
        }
        assert_eq!(before, everything(&trap.author, &surface, &trap, &held).await);
        eprintln!("{probes} probes of internal operations, no success");
        assert!(probes > 3000, "only {probes}");
    }

    async fn ids_of_another_run_are_answered_like_ids_of_nothing(server: TestServer) {
        let trap = Trap::set(&server).await;
        let (mut own, mut other) = (Held::begin(&server, &trap, true).await, Held::begin(&server, &trap, true).await);
        own.start(&server, 0).await;
        other.start(&server, 0).await;
        let stranger = server.organization("Stranger").await;
        let stranger = solver(&server, &stranger, "agent-1").await;
        let sibling = solver(&server, &trap.author, "agent-2").await;
        let before = trap.author.get(&format!("/benchmark-runs/{}", other.agent.run)).await.expect(200).json;
        let mut probes = 0;
        for credential in own.credentials.iter().map(String::as_str).chain([stranger.key(), sibling.key()]) {
            // The solver that made both may read both.
            let is_solver = credential == trap.solver.key();
            let ids: Vec<&str> =
                [&other.agent.run].into_iter().chain(&other.agent.task_runs).map(String::as_str).collect();
            for (method, path) in addresses(&other.agent) {
                if is_solver && method == Method::GET && path == format!("/v1/benchmark-runs/{}", other.agent.run) {
                    continue;
                }
                let nothing = ids.iter().fold(path.clone(), |path, id| path.replace(id, &absent(id)));
                let caller = server.caller(credential);
                let ask = async |path: &str| Request::new(method.clone(), path).send(&caller).await;
                let (theirs, nothing) = (ask(&path).await, ask(&nothing).await);
                assert!([401, 403, 404].contains(&theirs.status), "{} {}", theirs.asked, theirs.status);
                assert_eq!(telling(&theirs, &ids), telling(&nothing, &ids), "{}", theirs.asked);
                probes += 1;
            }
        }
        assert_eq!(before, trap.author.get(&format!("/benchmark-runs/{}", other.agent.run)).await.expect(200).json);
        other.agent.write(basic("a")).await.expect(201);
        eprintln!("{probes} pairs of probes of another run");
    }

    async fn a_credential_ends_with_what_it_is_for(server: TestServer) {
        let trap = Trap::set(&server).await;
        let mut held = Held::begin(&server, &trap, true).await;
        held.start(&server, 0).await;
        held.agent.complete(0).await.expect(200);
        // Its sandbox takes no traffic, whatever is shown.
        for (base, credential) in &held.fhir {
            for (method, path) in [(Method::GET, "Patient/p1"), (Method::GET, "metadata"), (Method::POST, "Basic"), (Method::GET, "_history")] {
                let request = Request::new(method, format!("{base}/{path}"));
                let answer = request.content("application/fhir+json", basic("late").to_string()).send(&server.caller(credential)).await;
                assert!([401, 409].contains(&answer.status), "{} {}: {}", answer.asked, answer.status, answer.text());
                assert_eq!(answer["resourceType"], "OperationOutcome", "{}", answer.asked);
            }
        }
        trap.author.post(&format!("/benchmark-runs/{}/cancel", held.agent.run), json!({})).await.expect(200);
        for (method, path) in addresses(&held.agent) {
            let answer = Request::new(method, path).send(&held.agent.caller).await;
            assert_eq!(answer.status, 401, "{}", answer.asked);
        }
        // A revoked solver key reads no run, and a run that it made goes on.
        let other = Held::begin(&server, &trap, true).await;
        let solver = trap.author.get("/solvers").await.expect(200).data()[0]["id"].as_str().unwrap().to_owned();
        let keys = trap.author.get(&format!("/solvers/{solver}/api-keys")).await.expect(200);
        for key in keys.data() {
            trap.author.delete(&format!("/solvers/{solver}/api-keys/{}", key["id"].as_str().unwrap())).await.expect(204);
        }
        trap.solver.get(&format!("/v1/benchmark-runs/{}", other.agent.run)).await.refused(401, "UNAUTHORIZED");
        other.agent.start(0).await.expect(200);
    }
}

/// Where an agent's run can be reached.
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

/// All that the author can read at these ids, without what changes by being looked at.
async fn everything(author: &Caller, surface: &Surface, trap: &Trap, held: &Held) -> Vec<(String, Value)> {
    let mut read = Vec::new();
    for operation in surface.internal().filter(|operation| operation.method == Method::GET) {
        let path = operation.path(|variable| trap.ids(variable, held).pop().unwrap());
        // Listed with the time of their use.
        if !path.contains("api-keys") {
            let answer = author.get(&path).await;
            read.push((path, answer.without_request_id()));
        }
    }
    read
}
