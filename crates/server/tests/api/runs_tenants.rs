//! What each type of credential allows below `/v1`, and that a foreign run looks like an unknown one.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, solver, wants_code};
use testkit::{Caller, TestResponse, TestServer, both_databases};

use crate::prober::{SPELLINGS, comparable, unknown_id};
use crate::request::{Request, send_all};
use crate::surface::{Surface, Tenant};
use crate::tenants::bad_credentials;

both_databases! {
    async fn a_foreign_run_looks_like_an_unknown_run(server: TestServer) {
        let (own, foreign) = (Party::new(&server, "own").await, Party::new(&server, "foreign").await);
        let second = Agent::begin(&server, &own.solver, &own.reference, false).await;
        let other_solver = solver(&server, &own.author, "other").await;
        let before = (own.seen().await, foreign.seen().await);
        let mut pairs = 0;
        for (caller, target, only) in [
            (&own.agent.caller, &foreign.agent, 404),
            (&own.solver, &foreign.agent, 0),
            // Also within one organization: another run's token, and another solver's key.
            (&second.caller, &own.agent, 404),
            (&other_solver, &own.agent, 0),
            (&own.author, &foreign.agent, 403),
            (&own.author, &own.agent, 403),
        ] {
            pairs += compare(caller, target, only).await;
        }
        eprintln!("{pairs} pairs below /v1");
        assert!(pairs >= 4_000, "only {pairs} pairs");
        assert_eq!(before, (own.seen().await, foreign.seen().await), "nothing was changed on the way");
    }

    async fn v1_requires_a_valid_credential(server: TestServer) {
        let party = Party::new(&server, "own").await;
        let tenant = Tenant::create(&server, "Tenant", "Private").await;
        let mut requests = Vec::new();
        for credential in bad_credentials(&tenant).await {
            let (agent, create) = (&party.agent, Request::post("/v1/benchmark-runs", &json!({})));
            for request in v1_requests(&agent.run, &agent.task_runs[1]).into_iter().chain([create]) {
                requests.push(match &credential {
                    Some(text) => request.header("authorization", text),
                    None => request,
                });
            }
        }
        eprintln!("{} requests without a good credential are refused", requests.len());
        send_all(&server.anonymous(), requests, |response| {
            assert_eq!(response.status, 401, "{}: {}", response.request, response.text());
            assert!(response.header("www-authenticate").unwrap_or_default().starts_with("Bearer"), "{}", response.request);
        })
        .await;
    }

    async fn solver_keys_and_run_tokens_cannot_use_internal_operations(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        let solver = solver(&server, &own.caller, "agent-2").await;
        let agent = Agent::begin(&server, &solver, &own.reference, false).await;
        let started = agent.start(0).await.expect(200).json;
        let sandbox = format!("/sandboxes/{}/fhir/Patient/p1", started["sandboxes"][0]["id"].as_str().unwrap());
        for caller in [&agent.caller, &solver] {
            for operation in surface.internal() {
                let path = operation.path_of(&own);
                let response = caller.send(operation.method.clone(), &path, &[], Some(json!({}))).await;
                response.expect_error(403, "FORBIDDEN");
            }
            assert_eq!(caller.get(&sandbox).await.expect(403)["resourceType"], "OperationOutcome");
        }
    }

    async fn an_expired_token_is_reported_by_every_endpoint(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let party = Party::new(&server, "own").await;
        let tenant = Tenant::create(&server, "Tenant", "Private").await;
        let surface = Surface::load();
        let expires = party.agent.created["bearer_token_expires_at"].as_str().unwrap().to_owned();
        server.clock.advance(24 * 60 * 60 * 1000 - 1);
        party.agent.caller.get(&format!("/v1/benchmark-runs/{}", party.agent.run)).await.expect(200);
        server.clock.advance(1);
        assert_eq!(server.clock.now().to_string(), expires);
        let mut requests = v1_requests(&party.agent.run, &party.agent.task_runs[1]);
        requests.extend(
            surface
                .internal()
                .map(|operation| Request::new(operation.method.clone(), operation.path_of(&tenant)).json(&json!({}))),
        );
        send_all(&party.agent.caller, requests, |response| {
            assert_eq!(response.status, 401, "{}", response.request);
            let code = if is_fhir(response) { &response["issue"][0]["code"] } else { &response["error"]["code"] };
            assert_eq!(code, if is_fhir(response) { "expired" } else { "TOKEN_EXPIRED" }, "{}", response.request);
        })
        .await;
        party.solver.get(&format!("/v1/benchmark-runs/{}", party.agent.run)).await.expect(200);
    }

    async fn the_token_of_a_cancelled_run_is_expired(server: TestServer) {
        let party = Party::new(&server, "own").await;
        let cancel = format!("/benchmark-runs/{}/cancel", party.agent.run);
        party.author.send(Method::POST, &cancel, &[], None).await.expect(200);
        send_all(&party.agent.caller, v1_requests(&party.agent.run, &party.agent.task_runs[1]), |response| {
            assert_eq!(response.status, 401, "{}", response.request);
        })
        .await;
        let refused = party.agent.caller.get(&format!("/v1/task-runs/{}", party.agent.task_runs[0])).await;
        assert!(refused.expect_error(401, "UNAUTHORIZED").message().contains("cancelled"));
        let seen = party.solver.get(&format!("/v1/benchmark-runs/{}", party.agent.run)).await.expect(200);
        assert_eq!(seen["status"], "cancelled");
    }

    async fn a_private_benchmark_can_be_neither_run_nor_looked_up_by_strangers(server: TestServer) {
        let (own, foreign) = (Party::new(&server, "own").await, Party::new(&server, "foreign").await);
        let run = async |caller: &Caller, path: &str, benchmark: &str| {
            comparable(&caller.post(path, json!({"benchmark": benchmark})).await, &[])
        };
        let slug = foreign.reference.split('@').next().unwrap().to_owned();
        for (caller, path) in [(&own.solver, "/v1/benchmark-runs"), (&own.author, "/benchmark-runs")] {
            for (theirs, nothing) in [(foreign.reference.as_str(), "no-such-thing@1"), (slug.as_str(), "no-such-thing")]
            {
                let response = run(caller, path, theirs).await;
                assert!(response.starts_with("404"), "{response}");
                assert_eq!(response, run(caller, path, nothing).await);
            }
        }
        for caller in [&own.author, &own.solver, &own.agent.caller, &server.anonymous()] {
            let board =
                async |reference: &str| comparable(&caller.get(&format!("/v1/leaderboards/{reference}")).await, &[]);
            assert!(board(&foreign.reference).await.starts_with("404"));
            assert_eq!(board(&foreign.reference).await, board("no-such-thing@1").await);
        }
        let stats =
            async |reference: &str| comparable(&own.author.get(&format!("/benchmarks/{reference}/stats")).await, &[]);
        assert!(stats(&foreign.reference).await.starts_with("404"));
        assert_eq!(stats(&foreign.reference).await, stats("no-such-thing@1").await);
    }

    async fn foreign_ids_in_comparisons_and_rescores_look_like_unknown_ids(server: TestServer) {
        let (own, foreign) =
            (Tenant::create(&server, "Own", "Private").await, Tenant::create(&server, "Foreign", "Private").await);
        let compare = async |ids: &str| own.caller.get(&format!("/benchmark-runs/compare?ids={ids}")).await;
        let mixed = |id: &str| format!("{},{id}", own.made.run);
        for ids in [|id: &str| id.to_owned(), |id: &str| format!("{id},{id}")] {
            let (theirs, nothing) =
                (compare(&ids(&foreign.made.run)).await, compare(&ids(&unknown_id(&foreign.made.run))).await);
            assert_eq!(comparable(&theirs.expect(404), &[]), comparable(&nothing, &[]));
        }
        let (theirs, nothing) =
            (compare(&mixed(&foreign.made.run)).await, compare(&mixed(&unknown_id(&foreign.made.run))).await);
        assert_eq!(comparable(&theirs.expect(404), &[]), comparable(&nothing, &[]));
        let rescore = async |criterion: &str| {
            let body = json!({"criteria": [{"criterion_id": criterion, "assertion": {}}]});
            own.caller.post(&format!("/benchmark-runs/{}/rescore", own.made.run), body).await
        };
        let criterion = &foreign.made.criterion;
        let (theirs, nothing) = (rescore(criterion).await, rescore(&unknown_id(criterion)).await);
        assert_eq!(comparable(&theirs.expect(400), &[criterion]), comparable(&nothing, &[criterion]));
    }
}

/// An organization with a run that has one completed and one started task.
struct Party {
    author: Caller,
    solver: Caller,
    reference: String,
    agent: Agent,
}

impl Party {
    async fn new(server: &TestServer, name: &str) -> Self {
        let author = server.organization(name).await;
        let fields = json!({"slug": format!("{name}-orders")});
        let bench = Bench::new(&author, fields).await;
        for task in ["First", "Second", "Third"] {
            bench.task(task, &[wants_code("a")]).await;
        }
        let reference = bench.publish().await;
        let solver = solver(server, &author, "agent-1").await;
        let agent = Agent::begin(server, &solver, &reference, false).await;
        agent.do_task(0, &["a"]).await;
        agent.start(1).await.expect(200);
        agent.write(basic("a")).await.expect(201);
        Self { author, solver, reference, agent }
    }

    /// Everything the organization sees of the run.
    async fn seen(&self) -> Vec<Value> {
        let run = self.author.get(&format!("/benchmark-runs/{}", self.agent.run)).await.expect(200).json;
        let playground = run["task_runs"][1]["playground_id"].as_str().unwrap();
        let sandboxes = self.author.get(&format!("/playgrounds/{playground}")).await.expect(200).json;
        let sandbox = sandboxes["sandboxes"][0]["id"].as_str().unwrap();
        let events = self.author.get(&format!("/sandboxes/{sandbox}/events")).await.expect(200).json;
        vec![run, events]
    }
}

fn is_fhir(response: &TestResponse) -> bool {
    response["resourceType"] == "OperationOutcome"
}

/// All requests for a run below `/v1`.
fn v1_requests(run: &str, task_run: &str) -> Vec<Request> {
    let mut requests = vec![
        Request::get(format!("/v1/benchmark-runs/{run}")),
        Request::get(format!("/v1/task-runs/{task_run}")),
        Request::post(format!("/v1/task-runs/{task_run}/start"), &json!({})),
        Request::post(format!("/v1/task-runs/{task_run}/complete"), &json!({})),
        Request::post(format!("/v1/task-runs/{task_run}/complete"), &json!({})).header("idempotency-key", "k"),
    ];
    for base in [format!("/v1/benchmark-runs/{run}/fhir"), format!("/v1/task-runs/{task_run}/sandbox/fhir")] {
        for path in
            ["", "/", "/metadata", "/.well-known/smart-configuration", "/Patient", "/Patient/p1", "/Patient?_id=p1"]
        {
            requests.push(Request::get(format!("{base}{path}")));
        }
        let patient = json!({"resourceType": "Patient", "id": "p1"}).to_string();
        let bundle = json!({"resourceType": "Bundle", "type": "batch", "entry": []}).to_string();
        for (method, path, body) in [
            (Method::POST, "", &bundle),
            (Method::POST, "/Patient", &patient),
            (Method::PUT, "/Patient/p1", &patient),
            (Method::PATCH, "/Patient/p1", &patient),
            (Method::DELETE, "/Patient/p1", &patient),
        ] {
            requests.push(Request::new(method, format!("{base}{path}")).content("application/fhir+json", body.clone()));
        }
    }
    requests
}

/// Compares requests for the target's run in every spelling with requests for an unknown run. `only` is the only allowed
/// status, or 0 for a solver, which may read runs and nothing else.
async fn compare(caller: &Caller, target: &Agent, only: u16) -> usize {
    let (run, task_run) = (&target.run, &target.task_runs[1]);
    let ids = [run.as_str(), task_run.as_str()];
    let mut pairs = 0;
    for spell in SPELLINGS {
        let theirs = v1_requests(&spell(run), &spell(task_run));
        let nothing = v1_requests(&spell(&unknown_id(run)), &spell(&unknown_id(task_run)));
        for (theirs, nothing) in theirs.into_iter().zip(nothing) {
            let (theirs, nothing) = (theirs.send(caller).await, nothing.send(caller).await);
            assert_eq!(comparable(&theirs, &ids), comparable(&nothing, &ids), "{}", theirs.request);
            let statuses: &[u16] = if only == 0 { &[403, 404] } else { &[only] };
            // A spelling that leads to another path may be 404 or 405.
            let leads_here = theirs.request.contains(run) || theirs.request.contains(task_run);
            assert!(
                !leads_here || statuses.contains(&theirs.status) || theirs.status == 400 || theirs.status == 404,
                "{}: {}",
                theirs.request,
                theirs.text()
            );
            assert!((400..500).contains(&theirs.status), "{}: {}", theirs.request, theirs.text());
            pairs += 1;
        }
    }
    pairs
}
