//! The agent as a CDS service without its own server: hooks wait for its response, and its cards are checked.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver};
use testkit::{Caller, TestServer, both_databases, world};

/// A benchmark over an EHR whose agent plays a triage service; `scenario` is that of its one task.
async fn published(
    server: &TestServer,
    config: Value,
    scenario: Value,
    criteria: &[Value],
) -> (Caller, Caller, String) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({"name": "Triage"})).await;
    let simulator = json!({"type": "CdsHooks", "name": "CDS", "config": config});
    let simulator = author.post("/simulators", simulator).await.expect(201).id();
    let path = format!("/environments/{}/simulators/{simulator}", bench.environment);
    author.send(Method::POST, &path, &[], None).await.expect(200);
    bench.task_with(json!({"name": "Triage", "scenario": scenario}), criteria).await;
    let reference = bench.publish().await;
    let solver = solver(server, &author, "agent-1").await;
    (author, solver, reference)
}

fn triage() -> Value {
    let mut service = world::cds_service("triage");
    service["prefetch"]["others"] = json!("Patient?active=true&_count=2");
    service["prefetch"]["allergies"] = json!("AllergyIntolerance?patient={{context.patientId}}");
    service["prefetch"]["user"] = json!("Practitioner/{{userPractitionerId}}");
    service["prefetch"]["role"] = json!("PractitionerRole/{{userPractitionerRoleId}}");
    json!({"agent_services": [service]})
}

fn fires(patient: &str, after_seconds: u64) -> Value {
    json!({"do": "cds_hook", "hook": "patient-view", "after_seconds": after_seconds,
        "context": {"userId": "Practitioner/d1", "patientId": patient}})
}

fn card(summary: &str, indicator: &str) -> Value {
    json!({"summary": summary, "indicator": indicator, "source": {"label": "Triage desk"}})
}

/// A card with one suggestion that has these actions.
fn suggesting(actions: &Value) -> Value {
    let mut card = card("Order it", "info");
    card["selectionBehavior"] = json!("at-most-one");
    card["suggestions"] = json!([{"label": "Order", "actions": actions}, {"label": "Not now"}]);
    card
}

struct CdsAgent {
    agent: Agent,
    /// `/v1/…/cds`
    path: String,
}

impl CdsAgent {
    async fn begin(server: &TestServer, solver: &Caller, reference: &str) -> Self {
        let agent = Agent::begin(server, solver, reference, false).await;
        let started = agent.start(0).await.expect(200);
        let path = started["endpoints"]["cds"].as_str().unwrap().to_owned();
        let sandbox = started["sandboxes"].as_array().unwrap().iter().find(|sandbox| sandbox["type"] == "CdsHooks");
        let credentials = &sandbox.unwrap()["credentials"];
        assert!(credentials["services_url"].as_str().unwrap().ends_with("/cds/services"));
        assert!(credentials["hooks_url"].as_str().unwrap().ends_with("/cds/hooks"));
        Self { agent, path }
    }

    async fn pending(&self) -> Vec<Value> {
        let path = format!("{}/hooks?status=pending", self.path);
        self.agent.caller.get(&path).await.expect(200).data().to_vec()
    }

    async fn respond(&self, invocation: &Value, cards: Value) -> testkit::TestResponse {
        let path = format!("{}/invocations/{}/response", self.path, invocation["id"].as_str().unwrap());
        self.agent.caller.post(&path, json!({"cards": cards})).await
    }

    async fn accept(&self, invocation: &Value, suggestion: &Value) -> testkit::TestResponse {
        let path = format!("{}/invocations/{}/accept", self.path, invocation["id"].as_str().unwrap());
        self.agent.caller.post(&path, json!({"suggestion": suggestion})).await
    }
}

fn wants(specification: Value) -> Value {
    let mut assertion = specification;
    assertion["assert"] = json!("cds-response");
    json!({"label": assertion.to_string().chars().take(60).collect::<String>(), "assertion": assertion})
}

both_databases! {
    async fn pending_hooks_are_answered_and_scored(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let of = |patient: &str, indicator: &str| json!({"hook": "patient-view", "fields": [
            {"path": "context.patientId", "expected": patient}, {"path": "fired_by", "expected": "scenario"},
            {"path": "cards.*.indicator", "op": "one_of", "expected": [indicator]}]});
        let criteria = [
            wants(of("p1", "critical")),
            wants(of("p2", "info")),
            wants(json!({"hook": "patient-view", "count": 2})),
            json!({"label": "nothing else", "assertion": {"assert": "no-side-effects", "allow": ["cds/patient-view"]}}),
            json!({"label": "budget", "assertion": {"assert": "interaction-budget", "max": {"cds_invoke": 4}}}),
        ];
        let scenario = json!({"steps": [fires("p1", 0), fires("p2", 60)]});
        let (author, solver, reference) = published(&server, triage(), scenario, &criteria).await;
        let desk = CdsAgent::begin(&server, &solver, &reference).await;
        let waiting = desk.pending().await;
        let [first] = waiting.as_slice() else { panic!("{waiting:?}") };
        let request = &first["request"];
        assert_eq!((&request["hook"], &request["context"]["patientId"]), (&json!("patient-view"), &json!("p1")));
        assert_eq!(request["hookInstance"].as_str().unwrap().len(), 36);
        // Available prefetch data is included, searches without results are null, and invalid queries are left out.
        let prefetch = &request["prefetch"];
        assert_eq!((&prefetch["patient"]["id"], &prefetch["others"]["entry"].as_array().unwrap().len()), (&json!("p1"), &2));
        assert!(prefetch["others"]["link"].as_array().unwrap().iter().all(|link| link["relation"] != "next"));
        assert_eq!(prefetch.as_object().unwrap().keys().collect::<Vec<_>>(), ["allergies", "others", "patient", "user"]);
        assert!(prefetch["allergies"].is_null() && prefetch["user"].is_null());
        // A response that breaks a rule is rejected, and the hook stays pending.
        let refused = desk.respond(first, json!([{"summary": "x".repeat(140), "indicator": "hard-stop", "source": {}}])).await;
        let refused = refused.expect_error(400, "VALIDATION_ERROR");
        assert_eq!(refused.invalid_fields(), ["cards.0.indicator", "cards.0.source.label", "cards.0.summary"]);
        assert_eq!(desk.pending().await.len(), 1);
        let answered = desk.respond(first, json!([card("Call today", "critical")])).await.expect(200);
        assert_eq!((&answered["status"], answered["cards"][0]["uuid"].as_str().unwrap().len()), (&json!("answered"), 36));
        // Repeating the response is accepted; a different one is too late.
        assert_eq!(desk.respond(first, json!([card("Call today", "critical")])).await.expect(200).json, answered.json);
        desk.respond(first, json!([])).await.expect_error(409, "CONFLICT");
        assert!(desk.pending().await.is_empty());
        server.clock.advance(60_000);
        let second = desk.pending().await.remove(0);
        desk.respond(&second, json!([card("Nothing to do", "info")])).await.expect(200);
        let result = desk.agent.complete(0).await.expect(200);
        assert_eq!(result["score"], json!(1.0), "{}", result.text());
        let evidence = &result["checks"][0]["evidence"]["fieldResults"];
        assert_eq!(evidence[0], json!({"path": "context.patientId", "expected": "p1", "actual": "p1", "passed": true}));
        desk.respond(&second, json!([])).await.expect_error(409, "CONFLICT");
        let events = author.get("/sandboxes").await.expect(200);
        let sandbox = events.data().iter().find(|sandbox| sandbox["type"] == "CdsHooks").unwrap()["id"].clone();
        let path = format!("/sandboxes/{}/events?type=cds_invoke", sandbox.as_str().unwrap());
        let events = author.get(&path).await.expect(200);
        let told: Vec<&Value> = events.data().iter().map(|event| &event["payload"]["status"]).collect();
        assert_eq!(told, ["pending", "refused", "answered", "refused", "pending", "answered"]);
    }

    async fn a_wrong_or_missing_answer_scores_nothing(server: TestServer) {
        let criteria = [wants(json!({"hook": "patient-view", "fields": [{"path": "cards.0.indicator", "expected": "critical"}]}))];
        let scenario = json!({"steps": [fires("p1", 0)]});
        let (_, solver, reference) = published(&server, triage(), scenario, &criteria).await;
        let silent = CdsAgent::begin(&server, &solver, &reference).await;
        assert_eq!(silent.agent.complete(0).await.expect(200)["score"], json!(0.0));
        let wrong = CdsAgent::begin(&server, &solver, &reference).await;
        let first = wrong.pending().await.remove(0);
        wrong.respond(&first, json!([card("All is well", "info")])).await.expect(200);
        let result = wrong.agent.complete(0).await.expect(200);
        assert_eq!(result["score"], json!(0.0));
        let evidence = &result["checks"][0]["evidence"]["fieldResults"][0];
        assert_eq!((&evidence["passed"], &evidence["actual"]), (&json!(false), &json!("info")));
    }

    async fn accepting_a_suggestion_writes_to_the_record_once(server: TestServer) {
        let order = json!({"resourceType": "ServiceRequest", "status": "active", "intent": "order", "subject": {"reference": "Patient/p1"}});
        let made = json!({"assert": "fhir-resource-state", "resource_type": "ServiceRequest", "count": 1, "fields": [{"path": "status", "expected": "active"}]});
        let gone = json!({"assert": "fhir-resource-state", "resource_type": "Patient", "count": 2, "match": "any", "fields": []});
        let criteria = [
            json!({"label": "ordered", "assertion": made}),
            json!({"label": "one is gone", "assertion": gone}),
            wants(json!({"hook": "patient-view", "fields": [{"path": "outcome", "expected": "accepted"}, {"path": "applied.*.type", "expected": "create", "quantifier": "any"}]})),
        ];
        let (_, solver, reference) = published(&server, triage(), json!({"steps": [fires("p1", 0)]}), &criteria).await;
        let desk = CdsAgent::begin(&server, &solver, &reference).await;
        let first = desk.pending().await.remove(0);
        let actions = json!([
            {"type": "create", "description": "Order", "resource": order},
            {"type": "update", "description": "Note it", "resource": {"resourceType": "Patient", "id": "p1", "active": false}},
            {"type": "delete", "description": "Drop", "resourceId": "Patient/p3"},
        ]);
        // The FHIR server rejects one of the actions of the second card, so none of them is applied.
        let broken = json!([{"type": "create", "description": "Order", "resource": order},
            {"type": "create", "description": "Odd", "resource": {"resourceType": "ServiceRequest", "status": 7}}]);
        let answered = desk.respond(&first, json!([suggesting(&actions), suggesting(&broken)])).await.expect(200);
        let suggestion = |card: usize, number: usize| answered["cards"][card]["suggestions"][number]["uuid"].clone();
        let refused = desk.accept(&first, &suggestion(1, 0)).await.expect_error(409, "CONFLICT");
        assert!(refused.message().contains("status"), "{}", refused.message());
        desk.accept(&first, &json!("nobody's")).await.expect_error(404, "NOT_FOUND");
        let path = format!("{}/invocations/{}/accept", desk.path, first["id"].as_str().unwrap());
        let once = [("idempotency-key", "accept-1")];
        let body = json!({"suggestion": suggestion(0, 0)});
        let accepted = desk.agent.caller.send(Method::POST, &path, &once, Some(body.clone())).await.expect(201);
        let again = desk.agent.caller.send(Method::POST, &path, &once, Some(body)).await.expect(201);
        assert_eq!(accepted.json, again.json);
        let types: Vec<&Value> = accepted["applied"].as_array().unwrap().iter().map(|one| &one["type"]).collect();
        assert_eq!(types.len(), 3, "{types:?}");
        assert_eq!(accepted["delivery"]["status"], "none");
        desk.accept(&first, &suggestion(0, 0)).await.expect_error(409, "CONFLICT");
        desk.accept(&first, &suggestion(0, 1)).await.expect_error(409, "CONFLICT");
        assert_eq!(desk.agent.fhir(Method::GET, "Patient/p1", None).await.expect(200)["active"], json!(false));
        desk.agent.fhir(Method::GET, "Patient/p3", None).await.expect(410);
        let result = desk.agent.complete(0).await.expect(200);
        assert_eq!(result["score"], json!(1.0), "{}", result.text());
    }

    async fn invalid_requests_are_rejected_and_change_nothing(server: TestServer) {
        let (author, solver, reference) = published(&server, triage(), json!({"steps": [fires("p1", 0)]}), &[]).await;
        let desk = CdsAgent::begin(&server, &solver, &reference).await;
        let caller = &desk.agent.caller;
        let context = |patient: &str| json!({"userId": "Practitioner/d1", "patientId": patient});
        for (hook, body, fields) in [
            ("patient-view", json!({}), vec!["context"]),
            ("patient-view", json!({"context": 7}), vec!["context"]),
            ("patient-view", json!({"context": {}}), vec!["context.patientId", "context.userId"]),
            ("patient-view", json!({"context": context("nobody")}), vec!["context.patientId"]),
            ("patient-view", json!({"context": {"userId": "{{entity.ref}}", "patientId": "p1"}}), vec!["context.userId"]),
            ("patient-view", json!({"context": context("p1"), "cards": []}), vec!["cards"]),
            ("order-sign", json!({"context": context("p1")}), vec!["context.draftOrders"]),
            ("no%20hook", json!({"context": {}}), vec!["hook"]),
        ] {
            let refused = caller.post(&format!("{}/hooks/{hook}", desk.path), body.clone()).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), fields, "{hook} {body}");
        }
        caller.post(&format!("{}/hooks/order-select-x", desk.path), json!({"context": {}})).await.expect_error(409, "CONFLICT");
        for body in [json!({}), json!({"base_url": "http://a.example", "service": {}}), json!({"service": {"hook": "patient-view"}}),
            json!({"base_url": "file:///etc/passwd"}), json!({"base_url": "http://a.example", "timeout_seconds": 61})] {
            caller.post(&format!("{}/services", desk.path), body).await.expect_error(400, "VALIDATION_ERROR");
        }
        caller.post(&format!("{}/services", desk.path), json!({"service": world::cds_service("triage")})).await.expect_error(409, "CONFLICT");
        let services = caller.get(&format!("{}/services", desk.path)).await.expect(200);
        let id = services.data()[0]["id"].as_str().unwrap();
        assert_eq!((services.data().len(), &services.data()[0]["registered_by"]), (1, &json!("config")));
        caller.delete(&format!("{}/services/{id}", desk.path)).await.expect_error(409, "CONFLICT");
        caller.delete(&format!("{}/services/svc_0", desk.path)).await.expect_error(404, "NOT_FOUND");
        let first = desk.pending().await.remove(0);
        let with_reasons = json!({"uuid": world::CARD, "summary": "Take care", "indicator": "info", "source": {"label": "CdsAgent"},
            "overrideReasons": [{"code": "refused", "system": "http://example.org", "display": "Patient refused"}]});
        desk.respond(&first, json!([with_reasons])).await.expect(200);
        let feedback = format!("{}/feedback", desk.path);
        for (entry, fields) in [
            (json!({"card": "x", "outcome": "overridden"}), vec!["feedback.0.card"]),
            (json!({"card": world::CARD, "outcome": "dismissed"}), vec!["feedback.0.outcome"]),
            (json!({"card": world::CARD, "outcome": "ignored", "overrideReason": {}}), vec!["feedback.0.overrideReason"]),
            (json!({"card": world::CARD, "outcome": "accepted", "acceptedSuggestions": [{"id": "x"}]}), vec!["feedback.0.acceptedSuggestions.0.id"]),
            (json!({"card": world::CARD, "outcome": "overridden", "overrideReason": {}}), vec!["feedback.0.overrideReason"]),
            (json!({"card": world::CARD, "outcome": "overridden", "overrideReason": {"reason": {}}}), vec!["feedback.0.overrideReason.reason.code"]),
            (json!({"card": world::CARD, "outcome": "overridden", "outcomeTimestamp": "yesterday"}), vec!["feedback.0.outcomeTimestamp"]),
        ] {
            let refused = caller.post(&feedback, json!({"feedback": [entry.clone()]})).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), fields, "{entry}");
        }
        assert!(caller.get(&feedback).await.expect(200).data().is_empty());
        let reason = json!({"reason": {"code": "refused", "system": "http://example.org"}, "userComment": "She said no"});
        let kept = caller.post(&feedback, json!({"feedback": [{"card": world::CARD, "outcome": "overridden", "overrideReason": reason}]})).await;
        assert_eq!(kept.expect(201)["feedback"][0]["overrideReason"]["userComment"], "She said no");
        for query in ["?status=open", "?limit=0", "?patient=1"] {
            caller.get(&format!("{}/hooks{query}", desk.path)).await.expect_error(400, "VALIDATION_ERROR");
        }
        // The organization sees the same at its own address; others do not.
        let sandboxes = author.get("/sandboxes").await.expect(200);
        let id = |kind: &str| sandboxes.data().iter().find(|sandbox| sandbox["type"] == kind).unwrap()["id"].as_str().unwrap().to_owned();
        let direct = format!("/sandboxes/{}/cds/hooks", id("CdsHooks"));
        assert_eq!(author.get(&direct).await.expect(200).data().len(), 1);
        assert_eq!(author.get(&direct.replace("sandboxes", "services")).await.expect(200).data().len(), 1);
        author.get(&format!("/sandboxes/{}/cds/hooks", id("Fhir"))).await.expect_error(404, "NOT_FOUND");
        server.organization("Other").await.get(&direct).await.expect_error(404, "NOT_FOUND");
        caller.get(&direct).await.expect_error(403, "FORBIDDEN");
    }
}
