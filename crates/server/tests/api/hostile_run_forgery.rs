//! An agent's input is data: no id, reference, header or name in it reaches another task, another run or the score.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, solver, wants_code};
use testkit::{Caller, TestResponse, both_databases};

use crate::fhir_client::{entry, transaction};
use crate::raw;
use crate::request::Request;

const SECRET: &str = "hidden-4711";

both_databases! {
    async fn two_tasks_of_a_run_do_not_see_each_other(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({"concurrency": 2})).await;
        bench.task("First", &[wants_code("first")]).await;
        bench.task("Second", &[wants_code("first")]).await;
        let agent = bench.begin(&server).await;
        let (first, second) = (FhirBase::of(&agent, 0).await, FhirBase::of(&agent, 1).await);
        first.put(&resource("first", SECRET)).await.expect(201);
        let looked = look_across(&second, &first).await;
        // With two started tasks, the path must name one.
        agent.fhir(Method::GET, "Patient", None).await.expect(409);
        assert_eq!(agent.complete(0).await.expect(200)["score"], json!(1.0));
        assert_eq!(agent.complete(1).await.expect(200)["score"], json!(0.0));
        eprintln!("{looked} ways from one task to another");
    }

    async fn two_runs_of_a_task_do_not_see_each_other(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Only", &[wants_code("first")]).await;
        let (reference, solver) = (bench.publish().await, solver(&server, &author, "agent-1").await);
        let (theirs, own) =
            (Agent::begin(&server, &solver, &reference, true).await, Agent::begin(&server, &solver, &reference, true).await);
        let (there, here) = (FhirBase::of(&theirs, 0).await, FhirBase::of(&own, 0).await);
        there.put(&resource("first", SECRET)).await.expect(201);
        let looked = look_across(&here, &there).await;
        assert_eq!(own.complete(0).await.expect(200)["score"], json!(0.0));
        assert_eq!(theirs.complete(0).await.expect(200)["score"], json!(1.0));
        eprintln!("{looked} ways from one run to another");
    }

    async fn forged_names_and_headers_change_neither_the_log_nor_the_score(server: TestServer) {
        let author = server.organization("Acme").await;
        let criteria = [
            json!({"label": "budget", "assertion": {"assert": "interaction-budget", "max": 0}}),
            json!({"label": "untouched", "assertion": {"assert": "no-side-effects", "allow": ["fhir/Appointment"]}}),
            wants_code("never written"),
        ];
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Only", &criteria).await;
        let solver = solver(&server, &author, "agent-1").await;
        let agent = Agent::begin(&server, &solver, &bench.publish().await, true).await;
        let place = FhirBase::of(&agent, 0).await;
        let mut sent = 0;
        for forged in forgeries(&agent) {
            for headers in header_tricks(&agent) {
                let request = Request::new(Method::POST, format!("{}/Basic", place.base));
                let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
                let response = request.content("application/fhir+json", forged.to_string()).send(&agent.caller).await;
                assert!(response.status < 500, "{}", response.text());
                sent += 1;
            }
        }
        let scheduled = json!({"resourceType": "scheduled", "id": "000000", "due_at": "2000-01-01T00:00:00.000Z", "index": 0,
            "step": {"do": "fhir", "bundle": transaction(vec![entry("POST", "Basic", Some(basic("never written")))])}});
        for path in ["scheduled", "scheduled/000000", ""] {
            for method in [Method::POST, Method::PUT] {
                let response = Request::new(method, format!("{}/{path}", place.base))
                    .content("application/fhir+json", scheduled.to_string()).send(&agent.caller).await;
                assert!((400..500).contains(&response.status), "{} {}", response.request, response.status);
                sent += 1;
            }
        }
        let result = agent.complete(0).await.expect(200);
        assert_eq!(result["score"], json!(0.0), "{}", result.text());
        let events = events(&author, &place.sandbox).await;
        assert_eq!(events.len(), sent);
        assert!(events.iter().all(|event| event["type"] == "fhir_request" && event["actor"] == agent.run.as_str()));
    }

    async fn server_managed_fields_written_by_an_agent_are_replaced(server: TestServer) {
        let author = server.organization("Acme").await;
        let newest = json!({"assert": "fhir-resource-state", "resource_type": "Basic",
            "fields": [{"path": "code.text", "expected": "second"}, {"path": "meta.versionId", "expected": "1"}]});
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Only", &[json!({"label": "The newest", "assertion": newest})]).await;
        let agent = bench.begin(&server).await;
        agent.start(0).await.expect(200);
        for (code, updated) in [("first", "2999-01-01T00:00:00Z"), ("second", "1999-01-01T00:00:00Z")] {
            let mut written = basic(code);
            written["meta"] = json!({"versionId": "77", "lastUpdated": updated, "source": "#scenario"});
            let made = agent.write(written).await.expect(201);
            assert_eq!(made["meta"]["versionId"], "1");
            assert_ne!(made["meta"]["lastUpdated"], updated);
            assert!(made.header("location").unwrap().ends_with("/_history/1"), "{:?}", made.header("location"));
        }
        let result = agent.complete(0).await.expect(200);
        assert_eq!(result["verdict"], "pass", "{}", result.text());
    }

    async fn a_forged_host_header_only_affects_the_agents_own_response(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Only", &[wants_code("a")]).await;
        let agent = bench.begin(&server).await;
        agent.start(0).await.expect(200);
        let path = format!("/v1/benchmark-runs/{}/fhir/Patient?_count=1", agent.run);
        for (host, shown) in [
            ("evil.example", "http://evil.example/"),
            ("evil.example:1/x?", "http://localhost/"),
            ("\"><script>", "http://localhost/"),
            ("a@b", "http://localhost/"),
        ] {
            let head = format!(
                "GET {path} HTTP/1.1\r\nhost: {host}\r\nx-forwarded-host: worse.example\r\nx-forwarded-proto: gopher\r\n\
                 forwarded: host=worse.example\r\nx-original-url: /benchmarks\r\nx-rewrite-url: /benchmarks\r\n\
                 authorization: Bearer {}\r\nconnection: close\r\n\r\n",
                agent.caller.key()
            );
            let response = raw::exchange(&server, head.as_bytes()).await;
            assert!(response.contains(shown) || response.starts_with("HTTP/1.1 400"), "{host}: {response}");
            assert!(!response.contains("worse.example") && !response.contains("gopher") && !response.contains("script"), "{response}");
        }
        // The next request gets its own host.
        let page = agent.fhir(Method::GET, "Patient?_count=1", None).await.expect(200).text();
        assert!(page.contains(&server.base_url) && !page.contains("evil.example"), "{page}");
    }

    async fn an_id_in_another_spelling_is_the_same_id_or_unknown(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Only", &[wants_code("a")]).await;
        let agent = bench.begin(&server).await;
        agent.start(0).await.expect(200);
        let plain = agent.fhir(Method::GET, "Patient/p1", None).await.expect(200);
        let encoded = |id: &str| id.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        for id in [encoded(&agent.run), agent.run.replace('_', "%5f"), agent.run.to_lowercase(), agent.run.to_uppercase()] {
            let path = format!("/v1/benchmark-runs/{id}/fhir/Patient/p1");
            let (status, body) = raw::request(&server, agent.caller.key(), "GET", &path, b"").await;
            assert!(status == 404 || body == plain.text(), "{path}: {status} {body}");
        }
    }
}

/// A FHIR base URL of an agent, with its sandbox.
struct FhirBase {
    caller: Caller,
    base: String,
    sandbox: String,
}

impl FhirBase {
    async fn of(agent: &Agent, task: usize) -> Self {
        let started = agent.start(task).await.expect(200);
        let base = format!("/v1/task-runs/{}/sandbox/fhir", agent.task_runs[task]);
        let sandbox = started["sandboxes"][0]["id"].as_str().unwrap().to_owned();
        Self { caller: agent.caller.clone(), base, sandbox }
    }

    async fn get(&self, address: &str) -> TestResponse {
        self.caller.get(&format!("{}/{address}", self.base)).await
    }

    async fn put(&self, resource: &Value) -> TestResponse {
        let path = format!("{}/Basic/{}", self.base, resource["id"].as_str().unwrap());
        self.send(Method::PUT, &path, resource).await
    }

    async fn post(&self, resource: &Value) -> TestResponse {
        self.send(Method::POST, &self.base, resource).await
    }

    async fn send(&self, method: Method, path: &str, resource: &Value) -> TestResponse {
        Request::new(method, path).content("application/fhir+json", resource.to_string()).send(&self.caller).await
    }
}

fn resource(code: &str, id: &str) -> Value {
    let mut made = basic(code);
    made["id"] = json!(id);
    made["identifier"] = json!([{"system": "urn:x", "value": id}]);
    made
}

/// Tries to read and change resources of `there` from `here`, with every reference that could reach them.
async fn look_across(here: &FhirBase, there: &FhirBase) -> usize {
    let before = there.get("_history?_count=1000").await.expect(200)["entry"].clone();
    let page = there.get("Patient?_count=1").await.expect(200);
    let links = page["link"].as_array().unwrap().iter().map(|link| link["url"].as_str().unwrap().to_owned());
    let mut addresses: Vec<String> = links.map(|url| url.split("/fhir/").last().unwrap().to_owned()).collect();
    let direct = format!("/sandboxes/{}/fhir", there.sandbox);
    for base in
        ["".to_owned(), format!("{}/", there.base), format!("{direct}/"), format!("http://127.0.0.1{}/", there.base)]
    {
        let mut pointing = resource("points", "points");
        pointing["subject"] = json!({"reference": format!("{base}Basic/{SECRET}")});
        here.put(&pointing).await;
        for address in [
            "Basic?_include=*".to_owned(),
            "Basic?_id=points&_include=Basic:subject&_include:iterate=*".into(),
            format!("Basic?subject={base}Basic/{SECRET}"),
            format!("Basic?subject:Basic.identifier=urn:x|{SECRET}"),
            format!("Basic?identifier=urn:x|{SECRET}"),
            format!("Basic?_id={SECRET}&_revinclude=*"),
            format!("Basic/{SECRET}"),
            format!("Basic/{SECRET}/_history"),
            "_history?_count=1000".into(),
        ] {
            addresses.push(address);
        }
        for bundle in [
            transaction(vec![entry("GET", &format!("{base}Basic/{SECRET}"), None)]),
            transaction(vec![entry("DELETE", &format!("{base}Basic/{SECRET}"), None)]),
            transaction(vec![entry("PUT", &format!("{base}Basic/{SECRET}"), Some(resource("stolen", SECRET)))]),
            transaction(vec![entry("DELETE", &format!("Basic?identifier=urn:x|{SECRET}"), None)]),
        ] {
            let response = here.post(&bundle).await;
            assert!(!response.text().contains("\"first\""), "{}", response.text());
        }
    }
    // A resource written here with the same id is here and not there.
    here.caller.delete(&format!("{}/Basic/{SECRET}", here.base)).await;
    for address in &addresses {
        let response = here.get(address).await;
        assert!(!response.text().contains("\"text\":\"first\""), "{address}: {}", response.text());
    }
    for (method, path) in [(Method::GET, "Patient"), (Method::GET, "_history"), (Method::DELETE, "Basic/hidden-4711")] {
        // The sandbox itself, with a token of another sandbox.
        let response = here.caller.send(method, &format!("{direct}/{path}"), &[], None).await;
        assert_eq!(response.status, 403, "{}", response.request);
    }
    assert_eq!(before, there.get("_history?_count=1000").await.expect(200)["entry"]);
    addresses.len() + 16
}

/// Resources that claim to be something else.
fn forgeries(agent: &Agent) -> Vec<Value> {
    let with = |member: &str, value: Value| {
        let mut forged = basic("forged");
        forged[member] = value;
        forged
    };
    vec![
        with("meta", json!({"source": "scenario", "tag": [{"code": "scenario_step"}]})),
        with("extension", json!([{"url": "urn:scenario_step", "valueInteger": 1}])),
        with("actor", json!("scenario")),
        with("scenario_step", json!(1)),
        with("type", json!("scenario_step")),
        with("author", json!({"reference": "Device/scenario", "display": "scenario"})),
        with("identifier", json!([{"system": "urn:task-run", "value": agent.task_runs[0]}])),
        with("id", json!(agent.run)),
        json!({"resourceType": "Basic", "payload": {"scenario_step": 0}, "actor": "scenario", "seq": 0}),
        json!({"resourceType": "AuditEvent", "agent": [{"name": "scenario"}]}),
    ]
}

/// Headers that a careless server would trust.
fn header_tricks(agent: &Agent) -> Vec<Vec<(&'static str, String)>> {
    vec![
        Vec::new(),
        vec![("x-actor", "scenario".into()), ("x-scenario-step", "1".into())],
        vec![("x-benchmark-run-id", "br_01K9Z3T5Q8W7N4M2R6V0XBHCDE".into()), ("x-organization", "org_1".into())],
        vec![("x-forwarded-user", "scenario".into()), ("x-http-method-override", "DELETE".into())],
        vec![("x-request-id", agent.task_runs[0].clone()), ("idempotency-key", "scenario".into())],
        vec![("prefer", "return=representation; scenario_step=1".into()), ("if-none-exist", "code=never".into())],
    ]
}

async fn events(author: &Caller, sandbox: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = author.get(&format!("/sandboxes/{sandbox}/events?limit=100{cursor}")).await.expect(200);
        found.extend_from_slice(page.data());
        match page["_meta"]["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}
