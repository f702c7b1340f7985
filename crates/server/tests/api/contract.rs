//! The contract of every simulator: ownership, teardown, events, reset, config validation,
//! and that text written by an agent is only data.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver};
use testkit::{Caller, TestResponse, both_databases};

use crate::contract_types::{Call, SIMULATORS, SimulatorEntry};

/// A sandbox of a type in its own playground, reached with the organization's key.
struct Sandbox {
    caller: Caller,
    id: String,
    playground: String,
    kind: &'static SimulatorEntry,
}

impl Sandbox {
    async fn open(caller: &Caller, kind: &'static SimulatorEntry) -> Self {
        let simulator = simulator(caller, kind).await;
        let sandbox = caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201);
        let playground = sandbox["own_playground_id"].as_str().unwrap().to_owned();
        Self { caller: caller.clone(), id: sandbox.id(), playground, kind }
    }

    fn door(&self) -> String {
        format!("/sandboxes/{}", self.id)
    }

    async fn write(&self, words: &str) -> TestResponse {
        write(&self.caller, &self.door(), self.kind, words).await
    }

    /// The content of its lists, its state and its differences from the baseline.
    async fn everything(&self) -> Vec<String> {
        let mut found = Vec::new();
        for path in ["state?limit=100", "diff?limit=100"].iter().chain(self.kind.reads) {
            let response = self.caller.get(&format!("{}/{path}", self.door())).await.expect(200);
            found.push(format!("{path}: {}", without_times(&response)));
        }
        found
    }

    async fn events(&self) -> Vec<Value> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.caller.get(&format!("{}/events?limit=7{cursor}", self.door())).await.expect(200);
            all.extend_from_slice(page.data());
            match page.json["_meta"]["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return all,
            }
        }
    }
}

async fn simulator(caller: &Caller, kind: &SimulatorEntry) -> String {
    let simulator = json!({"type": kind.name, "name": kind.name, "config": (kind.config)()});
    caller.post("/simulators", simulator).await.expect(201).id()
}

async fn write(caller: &Caller, door: &str, kind: &SimulatorEntry, words: &str) -> TestResponse {
    let begun = (kind.write)(words);
    let (status, response) = (begun.status, send(caller, door, begun).await);
    match kind.follow {
        Some(follow) if response.status == status => send(caller, door, follow(&response.json, words)).await,
        _ => response,
    }
}

async fn send(caller: &Caller, door: &str, call: Call) -> TestResponse {
    let path = format!("{door}/{}", call.path);
    caller.send_bytes(call.method, &path, &[], Some((call.content_type, call.body))).await
}

/// Removes the timestamps of FHIR responses.
fn without_times(response: &TestResponse) -> String {
    let mut json = response.json.clone();
    if let Some(response) = json.as_object_mut().filter(|response| response.contains_key("resourceType")) {
        response.retain(|name, _| !["meta", "id", "date"].contains(&name.as_str()));
    }
    json.to_string()
}

/// All strings of a JSON value.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.values().for_each(|member| texts(member, found)),
        _ => {}
    }
}

/// Text of a hostile agent that must not be executed, opened, rendered or matched.
const HOSTILE: [&str; 12] = [
    "{{entity.name}} {{task.id}} ${jndi:ldap://127.0.0.1/a} <%= 7*7 %> #{7*7}",
    "../../../../etc/passwd",
    "..\\..\\windows\\system32 file:///etc/passwd",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "<!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>&a;",
    "(a+)+$ .* [a-z]{1,99999} (?=x)",
    "'; drop table events; -- \" or 1=1",
    "$(touch /tmp/verial) `id` | cat ; & whoami",
    "%00 %2e%2e%2f \\u0000 \\x00",
    "a\r\nSet-Cookie: x=1\r\n\r\nHTTP/1.1 200 OK",
    "\u{202e}gnp.exe\u{200b} \u{feff}é\u{301} 𝕏 \u{7}\u{1b}[31m",
    "=cmd|' /C calc'!A0 +1 -1 @SUM(1)",
];

both_databases! {
    async fn only_its_owner_reaches_a_sandbox(server: TestServer) {
        let (owner, other) = (server.organization("Owner").await, server.organization("Other").await);
        let agents = solver(&server, &owner, "agent-1").await;
        for kind in SIMULATORS {
            let (mine, theirs) = (Sandbox::open(&owner, kind).await, Sandbox::open(&other, kind).await);
            mine.write("first").await.expect((kind.write)("first").status);
            let before = mine.everything().await;
            for (who, caller, status) in [("nobody", server.anonymous(), 401), ("another organization", other.clone(), 404), ("a solver", agents.clone(), 403)] {
                assert_eq!(write(&caller, &mine.door(), kind, "x").await.status, status, "{} {who}", kind.name);
                for path in kind.reads.iter().filter(|path| !path.ends_with("metadata")) {
                    assert_eq!(caller.get(&format!("{}/{path}", mine.door())).await.status, status, "{} {who} {path}", kind.name);
                }
            }
            // The login of one sandbox is not valid for another.
            let credentials = other.get(&theirs.door()).await.expect(200)["credentials"].clone();
            for (name, password) in [("client_id", "client_secret"), ("username", "password")] {
                let (Some(name), Some(password)) = (credentials[name].as_str(), credentials[password].as_str()) else { continue };
                let login = format!("Basic {}", base64_of(&format!("{name}:{password}")));
                let call = (kind.write)("x");
                let body = Some((call.content_type, call.body));
                let path = format!("{}/{}", mine.door(), call.path);
                let response = server.anonymous().send_bytes(call.method, &path, &[("authorization", &login)], body).await;
                assert_eq!(response.status, 401, "{} {}", kind.name, response.text());
            }
            assert_eq!(mine.everything().await, before, "{}", kind.name);
        }
    }

    async fn a_teardown_ends_traffic(server: TestServer) {
        let owner = server.organization("Owner").await;
        for kind in SIMULATORS {
            let sandbox = Sandbox::open(&owner, kind).await;
            sandbox.write("first").await.expect((kind.write)("first").status);
            let (state, events) = (owner.get(&format!("{}/state", sandbox.door())).await.expect(200).json, sandbox.events().await);
            owner.post(&format!("{}/teardown", sandbox.door()), json!({})).await.expect(200);
            assert_eq!(sandbox.write("second").await.status, 409, "{}", kind.name);
            for path in kind.reads {
                assert_eq!(owner.get(&format!("{}/{path}", sandbox.door())).await.status, 409, "{} {path}", kind.name);
            }
            assert_eq!(owner.get(&sandbox.door()).await.expect(200)["credentials"], json!({}), "{}", kind.name);
            // Events stay readable.
            assert_eq!(owner.get(&format!("{}/state", sandbox.door())).await.expect(200).json, state, "{}", kind.name);
            assert_eq!(sandbox.events().await, events, "{}", kind.name);
        }
    }

    async fn every_interaction_is_an_event_in_order(server: TestServer) {
        let owner = server.organization("Owner").await;
        for kind in SIMULATORS {
            let sandbox = Sandbox::open(&owner, kind).await;
            let rounds = 4;
            let mut asked = 0;
            for round in 0..rounds {
                // Concurrently, as agents do.
                let words: Vec<String> = (0..3).map(|number| format!("words {round} {number}")).collect();
                let (first, second, third) = tokio::join!(sandbox.write(&words[0]), sandbox.write(&words[1]), sandbox.write(&words[2]));
                for written in [first, second, third] {
                    written.expect((kind.write)("x").status);
                }
                for path in kind.reads {
                    owner.get(&format!("{}/{path}", sandbox.door())).await.expect(200);
                    asked += 1;
                }
            }
            let events = sandbox.events().await;
            let places: Vec<i64> = events.iter().map(|event| event["seq"].as_i64().unwrap()).collect();
            let last = i64::try_from(places.len()).unwrap();
            assert_eq!(places, (1..=last).collect::<Vec<_>>(), "{}: contiguous", kind.name);
            let times: Vec<&str> = events.iter().map(|event| event["at"].as_str().unwrap()).collect();
            assert!(times.is_sorted(), "{}", kind.name);
            let written = events.iter().filter(|event| event["type"] == kind.event).count();
            assert!(written >= rounds * 3, "{}: {written}", kind.name);
            assert!(events.len() >= rounds * 3 + asked, "{}: {} events", kind.name, events.len());
            let mut found = Vec::new();
            events.iter().for_each(|event| texts(&event["payload"], &mut found));
            texts(&owner.get(&format!("{}/state?limit=100", sandbox.door())).await.expect(200).json, &mut found);
            for number in 0..3 {
                let words = (kind.kept)(&format!("words 2 {number}"));
                assert!(found.iter().any(|text| text.contains(&words)), "{}: {words} is nowhere", kind.name);
            }
            assert!(events.iter().all(|event| event["sandbox_id"] == json!(sandbox.id)), "{}", kind.name);
        }
    }

    async fn a_reset_returns_to_the_baseline(server: TestServer) {
        let owner = server.organization("Owner").await;
        for kind in SIMULATORS {
            let sandbox = Sandbox::open(&owner, kind).await;
            let before = sandbox.everything().await;
            for words in ["first", "second"] {
                sandbox.write(words).await.expect((kind.write)(words).status);
            }
            assert_ne!(sandbox.everything().await, before, "{}", kind.name);
            owner.post(&format!("/playgrounds/{}/reset", sandbox.playground), json!({})).await.expect(200);
            assert_eq!(sandbox.everything().await, before, "{}", kind.name);
            // The same write has the same effect again.
            sandbox.write("first").await.expect((kind.write)("first").status);
        }
    }

    async fn an_unknown_config_is_rejected(server: TestServer) {
        let owner = server.organization("Owner").await;
        for kind in SIMULATORS {
            let id = simulator(&owner, kind).await;
            for config in [json!({"no_such_key": 1}), json!({"fax number": "x"}), json!([]), json!("{}"), json!({"": {}})] {
                let new = json!({"type": kind.name, "name": "x", "config": config});
                owner.post("/simulators", new).await.expect_error(400, "VALIDATION_ERROR");
                owner.patch(&format!("/simulators/{id}"), json!({"config": config})).await.expect_error(400, "VALIDATION_ERROR");
            }
            let config = (kind.config)();
            let shown = if config == json!({}) { Value::Null } else { config };
            assert_eq!(owner.get(&format!("/simulators/{id}")).await.expect(200)["config"], shown, "{}", kind.name);
        }
    }

    async fn text_written_by_an_agent_is_only_data(server: TestServer) {
        let owner = server.organization("Owner").await;
        let mut refused = Vec::new();
        for kind in SIMULATORS {
            let sandbox = Sandbox::open(&owner, kind).await;
            for words in HOSTILE {
                let response = sandbox.write(words).await;
                if matches!(response.status, 400 | 422) {
                    refused.push(format!("{} {words:?}", kind.name));
                    continue;
                }
                assert_eq!(response.status, (kind.write)(words).status, "{} {words:?} {}", kind.name, response.text());
                assert!(response.headers.get("set-cookie").is_none_or(|cookie| cookie != "x=1"), "{}", kind.name);
                let mut found = Vec::new();
                sandbox.events().await.iter().for_each(|event| texts(&event["payload"], &mut found));
                let state = owner.get(&format!("{}/state?limit=100", sandbox.door())).await.expect(200);
                texts(&state.json, &mut found);
                let kept = (kind.kept)(words);
                assert!(found.iter().any(|text| text.contains(&kept)), "{}: {words:?} did not come back as {kept:?}", kind.name);
                for path in kind.reads {
                    owner.get(&format!("{}/{path}", sandbox.door())).await.expect(200);
                }
            }
        }
        // A protocol may reject control characters that it cannot carry, but hardly anything else.
        assert!(refused.len() <= SIMULATORS.len() * 2, "{refused:?}");
        eprintln!("{} of {} refused: {refused:?}", refused.len(), SIMULATORS.len() * HOSTILE.len());
    }

    async fn effects_and_budgets_are_checked_on_every_channel(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({"name": "All channels"})).await;
        for kind in SIMULATORS.iter().filter(|kind| kind.name != "Fhir") {
            let simulator = simulator(&author, kind).await;
            let path = format!("/environments/{}/simulators/{simulator}", bench.environment);
            author.send(Method::POST, &path, &[], None).await.expect(200);
        }
        for kind in SIMULATORS {
            let judged = |label: &str, assertion: Value| json!({"label": label, "assertion": assertion});
            let others: Vec<&str> = SIMULATORS.iter().filter(|other| other.name != kind.name).map(|other| other.effect).collect();
            bench.task_with(json!({"name": kind.name, "scenario": {"steps": [member()]}}), &[
                judged("allowed", json!({"assert": "no-side-effects", "allow": [kind.effect]})),
                judged("not allowed", json!({"assert": "no-side-effects", "allow": others})),
                judged("one", json!({"assert": "interaction-budget", "max": {kind.event: kind.events}})),
                judged("none", json!({"assert": "interaction-budget", "max": {kind.event: 0}})),
                judged("nothing at all", json!({"assert": "interaction-budget", "max": 0})),
            ]).await;
        }
        let reference = bench.publish().await;
        let solver = solver(&server, &author, "agent-1").await;
        let (agent, stranger) = (Agent::begin(&server, &solver, &reference, false).await, Agent::begin(&server, &solver, &reference, false).await);
        for (task, kind) in SIMULATORS.iter().enumerate() {
            let started = agent.start(task).await.expect(200).json;
            let (run_door, task_door) = (format!("/v1/benchmark-runs/{}", agent.run), format!("/v1/task-runs/{}/sandbox", agent.task_runs[task]));
            let sandbox = started["sandboxes"].as_array().unwrap().iter().find(|one| one["type"] == kind.name).unwrap();
            let direct = format!("/sandboxes/{}", sandbox["id"].as_str().unwrap());
            // Another run's token is rejected, and so is this token at another address.
            for (who, caller, door, expected) in [("stranger", &stranger.caller, &run_door, 404), ("stranger", &stranger.caller, &task_door, 404), ("agent", &agent.caller, &direct, 403)] {
                assert_eq!(write(caller, door, kind, "x").await.status, expected, "{} {who} {door}", kind.name);
            }
            write(&agent.caller, &run_door, kind, "the one effect").await.expect((kind.write)("x").status);
            let result = agent.complete(task).await.expect(200);
            let results: Vec<&Value> = result["checks"].as_array().unwrap().iter().map(|check| &check["result"]).collect();
            assert_eq!(results, ["pass", "fail", "pass", "fail", "fail"], "{}: {}", kind.name, result.text());
            assert_eq!(result["checks"][1]["evidence"]["unexpected"].as_array().unwrap().len(), 1, "{}", result.text());
            let count = result["checks"][3]["evidence"]["counts"][kind.event].as_u64();
            assert!(count.is_some_and(|count| (1..=kind.events).contains(&count)), "{}", result.text());
            assert_eq!(write(&agent.caller, &task_door, kind, "too late").await.status, 409, "{}", kind.name);
        }
    }
}

/// A member of the payer's plan, for channels that only accept members.
fn member() -> Value {
    let patient = json!({"resourceType": "Patient", "id": "zz", "identifier": [{"value": "M100"}]});
    let entry = json!({"resource": patient, "request": {"method": "PUT", "url": "Patient/zz"}});
    json!({"do": "fhir", "bundle": {"resourceType": "Bundle", "type": "transaction", "entry": [entry]}})
}

/// Every type with an HTTP interface is covered by the contract. FHIR describes itself in its CapabilityStatement.
#[test]
fn every_simulator_is_covered_by_the_contract() {
    let document = testkit::Contract::load();
    let mounted = |path: &str| document.operations().iter().any(|(_, pattern)| pattern.starts_with(path));
    for (name, path) in [
        ("Hl7", "hl7"),
        ("Clearinghouse", "x12"),
        ("Files", "files"),
        ("Payer", "portal"),
        ("Voice", "voice"),
        ("Fax", "fax"),
        ("Message", "messages"),
        ("CdsHooks", "cds"),
    ] {
        let is_mounted = mounted(&format!("/v1/benchmark-runs/{{benchmark_run_id}}/{path}"));
        assert_eq!(
            SIMULATORS.iter().any(|kind| kind.name == name),
            is_mounted,
            "{name}: give it an entry in `SIMULATORS`"
        );
    }
}

fn base64_of(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}
