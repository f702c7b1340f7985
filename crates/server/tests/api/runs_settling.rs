//! Completing a task settles the pending consequences of the agent's actions before scoring: a fax counts when it is
//! delivered, and a determination when it is made.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench};
use testkit::world::pdf;
use testkit::{Caller, TestServer, both_databases};

use crate::fax::form;
use crate::portal_kit::{people, request};

const CLINIC: &str = "+15550100177";

both_databases! {
    async fn a_queued_fax_is_scored_by_its_final_status(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let criteria = [
            faxed(json!({"to_number": CLINIC, "contains": ["referral"]})),
            faxed(json!({"to_number": "+15550100198", "contains": ["referral"]})),
            faxed(json!({"to_number": "+15550100199", "contains": ["referral"]})),
            faxed(json!({"to_number": "+15550100199", "count": 0})),
            faxed(json!({"count": 0, "at": "completion"})),
            json!({"label": "budget", "assertion": {"assert": "interaction-budget", "max": {"fax_outbound": 3, "fax_status": 0}}}),
        ];
        let config = json!({"default_outcome": {"status": "sent", "delay_seconds": 10},
            "retries": {"count": 1, "after_seconds": 60},
            "outcomes": [{"number": "+15550100199", "status": "failed", "reason": "busy", "delay_seconds": 30},
                {"number": "+15550100198", "status": "sent", "failing_attempts": 1, "delay_seconds": 5}]});
        let (author, agent, started) = begun(&server, &[("Fax", config)], json!([]), &criteria).await;
        for to in [CLINIC, "+15550100198", "+15550100199"] {
            assert_eq!(fax(&agent, to).await["status"], "queued");
        }
        let completed_at = server.clock.now();
        let result = agent.complete(0).await.expect(200).json;
        assert_eq!(results(&result), ["pass", "pass", "fail", "pass", "pass", "pass"], "{result:#}");
        let told = events(&author, &started, "Fax", "fax_status").await;
        let said: Vec<(&str, &str)> = told
            .iter()
            .map(|event| {
                assert_eq!((&event["actor"], &event["payload"]["system"]), (&json!("system"), &json!({"settled": true})));
                assert_eq!(event["at"], completed_at.to_string(), "when it was settled; its own time is in the payload");
                let text = |name: &str| event["payload"][name].as_str().unwrap();
                (text("to_number"), text("status"))
            })
            .collect();
        let (slow, busy) = ("+15550100198", "+15550100199");
        assert_eq!(said, [(slow, "queued"), (CLINIC, "sent"), (busy, "queued"), (slow, "sent"), (busy, "failed")]);
        assert_eq!(told[4]["payload"]["at"], completed_at.plus_milliseconds(120_000).to_string());
        identical_everywhere(&server, &author, &agent).await;
    }

    async fn a_fax_that_is_sent_at_once_still_counts(server: TestServer) {
        let criteria = [faxed(json!({"contains": ["referral"]})), faxed(json!({"contains": ["referral"], "at": "completion"}))];
        let (author, agent, started) = begun(&server, &[("Fax", json!({}))], json!([]), &criteria).await;
        assert_eq!(fax(&agent, CLINIC).await["status"], "sent");
        assert_eq!(agent.complete(0).await.expect(200)["score"], json!(1.0));
        let told = events(&author, &started, "Fax", "fax_status").await;
        assert!(told.iter().all(|event| event["payload"].get("system").is_none()), "it was part of the agent's own act");
        let task_run = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
        assert_eq!(task_run["sealed"]["completed_seq"], task_run["sealed"]["seq"], "nothing was settled");
        identical_everywhere(&server, &author, &agent).await;
    }

    async fn delayed_determinations_are_settled_and_endless_ones_stay_pending(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let is = |procedure: &str, status: &str, at: &str| json!({"label": format!("{procedure} {status} {at}"), "assertion": {
            "assert": "portal-state-match", "at": at, "assertions": [{"path": "determination.status", "expected": status}],
            "correlate_by": {"resource": "prior_auth_requests", "key": "procedure_code", "value": procedure}}});
        let criteria = [
            is("70551", "approved", "settled"),
            is("70551", "pending", "completion"),
            is("70552", "pending", "settled"),
            is("70553", "pending", "settled"),
        ];
        let decided = |procedure: &str, determination: Value| json!({"match": {"procedure_code": procedure}, "determination": determination});
        let config = json!({"determinations": [
            decided("70551", json!({"status": "approved", "delay_seconds": 86400})),
            decided("70552", json!({"status": "pending", "delay_seconds": 60})),
        ]});
        let (author, agent, started) = begun(&server, &[("Payer", config)], json!([]), &criteria).await;
        for procedure in ["70551", "70552", "70553"] {
            let path = format!("{}/prior-auths", started["endpoints"]["portal"].as_str().unwrap());
            agent.caller.post(&path, request(json!({"procedure_code": procedure}))).await.expect(201);
        }
        let due_at = server.clock.now().plus_milliseconds(86_400_000).to_string();
        let result = agent.complete(0).await.expect(200).json;
        assert_eq!(results(&result), ["pass"; 4], "{result:#}");
        let told = events(&author, &started, "Payer", "portal_determination").await;
        assert!(told.iter().all(|event| event["actor"] == "system"), "{told:?}");
        assert_eq!(told.last().unwrap()["payload"]["row"]["determination"]["decided_at"], due_at);
        identical_everywhere(&server, &author, &agent).await;
    }

    async fn changes_that_become_due_do_not_count_as_the_agents(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let config = json!({"default_determination": {"status": "approved", "delay_seconds": 60}});
        let (author, agent, started) = begun(&server, &[("Payer", config)], json!([]), &[]).await;
        let path = format!("{}/prior-auths", started["endpoints"]["portal"].as_str().unwrap());
        agent.caller.post(&path, request(json!({}))).await.expect(201);
        server.clock.advance(60_000);
        agent.caller.get(&path).await.expect(200);
        let told = events(&author, &started, "Payer", "portal_determination").await;
        assert_eq!((&told[0]["actor"], &told[0]["payload"]["system"]), (&json!("system"), &json!({"settled": false})));
    }

    async fn replies_and_delayed_steps_are_not_settled_at_completion(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let criteria = [json!({"label": "no reply", "assertion": {"assert": "message-transcript", "direction": "inbound", "count": 0}})];
        let config = json!({"personas": [{"name": "Ada", "default_reply": "Who is this?",
            "replies": [{"phrases": ["tuesday"], "reply": "Tuesday works.", "delay_seconds": 45}]}]});
        let steps = json!([{"do": "message_inbound", "channel": "sms", "from": "+15550100100", "body": "Later", "after_seconds": 60}]);
        let (author, agent, started) = begun(&server, &[("Message", config)], steps, &criteria).await;
        let path = started["endpoints"]["messages"].as_str().unwrap();
        agent.caller.post(path, json!({"channel": "sms", "to": "+15550100100", "body": "Tuesday?"})).await.expect(201);
        let result = agent.complete(0).await.expect(200).json;
        assert_eq!(results(&result), ["pass"], "{result:#}");
        assert_eq!(events(&author, &started, "Message", "message_inbound").await.len(), 0);
    }

    async fn an_agent_cannot_disguise_its_changes_as_system_events(server: TestServer) {
        let criteria = [json!({"label": "nothing", "assertion": {"assert": "no-side-effects", "allow": ["fhir/Basic"]}})];
        let (author, agent, started) = begun(&server, &[], json!([]), &criteria).await;
        let forged = json!({"resourceType": "Flag", "status": "active", "code": {"text": "x"}, "subject": {"reference": "Patient/p1"},
            "extension": [{"url": "urn:system", "valueString": "{\"settled\":true}"}]});
        let path = format!("/v1/benchmark-runs/{}/fhir/Flag", agent.run);
        let headers = [("x-actor", "system"), ("x-system", "{\"settled\":true}")];
        agent.caller.send(Method::POST, &path, &headers, Some(forged)).await.expect(201);
        assert_eq!(results(&agent.complete(0).await.expect(200).json), ["fail"]);
        for event in events(&author, &started, "Fhir", "fhir_request").await {
            assert!(event["actor"] == agent.run.as_str() && event["payload"].get("system").is_none(), "{event}");
        }
    }
}

fn faxed(mut assertion: Value) -> Value {
    assertion["assert"] = json!("fax-document");
    json!({"label": assertion.to_string().chars().take(80).collect::<String>(), "assertion": assertion})
}

/// An EHR with people, the simulators, and one started task.
async fn begun(
    server: &TestServer,
    simulators: &[(&str, Value)],
    steps: Value,
    criteria: &[Value],
) -> (Caller, Agent, Value) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    let upload = format!("/datasets/{}/data", bench.dataset);
    author.put_bytes(&upload, "application/fhir+ndjson", people()).await.expect(200);
    for (kind, config) in simulators {
        let simulator = json!({"type": kind, "name": kind, "config": config});
        let simulator = author.post("/simulators", simulator).await.expect(201).id();
        let path = format!("/environments/{}/simulators/{simulator}", bench.environment);
        author.send(Method::POST, &path, &[], None).await.expect(200);
    }
    let anything = json!({"label": "reads", "assertion": {"assert": "interaction-budget", "max": 1000}});
    let criteria = if criteria.is_empty() { std::slice::from_ref(&anything) } else { criteria };
    bench.task_with(json!({"name": "Work", "scenario": {"steps": steps}}), criteria).await;
    let agent = bench.begin(server).await;
    let started = agent.start(0).await.expect(200).json;
    (author, agent, started)
}

async fn fax(agent: &Agent, to: &str) -> Value {
    let (kind, body) = form(&[("to_number", to)], &[("a.pdf", &pdf("A referral"))]);
    let path = format!("/v1/task-runs/{}/sandbox/fax/faxes", agent.task_runs[0]);
    agent.caller.send_bytes(Method::POST, &path, &[], Some((&kind, body))).await.expect(201).json
}

async fn events(author: &Caller, started: &Value, kind: &str, r#type: &str) -> Vec<Value> {
    let sandbox = started["sandboxes"].as_array().unwrap().iter().find(|one| one["type"] == kind).unwrap();
    let path = format!("/sandboxes/{}/events?type={type}&limit=100", sandbox["id"].as_str().unwrap());
    author.get(&path).await.expect(200).data().to_vec()
}

fn results(result: &Value) -> Vec<&str> {
    result["checks"].as_array().unwrap().iter().map(|check| check["result"].as_str().unwrap()).collect()
}

/// Checks that rescoring gives the same bytes, here and on another node that rebuilds its state from the log.
async fn identical_everywhere(server: &TestServer, author: &Caller, agent: &Agent) {
    let path = format!("/benchmark-runs/{}/rescore", agent.run);
    let here = author.post(&path, json!({})).await.expect(200);
    assert_eq!(here["identical"], true, "{}", here.text());
    let node = server.another_node().await;
    assert_eq!(node.caller(author.key()).post(&path, json!({})).await.expect(200).body, here.body);
}
