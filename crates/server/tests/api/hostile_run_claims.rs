//! V3: an agent that only claims to have done its task does not score.

use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{TestResponse, both_databases};

both_databases! {
    async fn an_agent_that_only_claims_scores_like_one_that_does_nothing(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Order a scan", &criteria()).await;
        let (reference, solver) = (bench.publish().await, solver(&server, &author, "agent-1").await);
        let idle = Agent::begin(&server, &solver, &reference, false).await;
        idle.start(0).await.expect(200);
        let idle = idle.complete(0).await.expect(200);
        let claiming = Agent::begin(&server, &solver, &reference, false).await;
        claiming.start(0).await.expect(200);
        for claim in claims() {
            claiming.write(claim).await.expect(201);
        }
        let claiming = claiming.complete(0).await.expect(200);
        assert_eq!(results(&idle), results(&claiming));
        assert_eq!((&idle["score"], &idle["verdict"]), (&claiming["score"], &claiming["verdict"]));
        // Required resources are missing. Criteria on absence pass, which is why they are never used alone.
        for check in idle["checks"].as_array().unwrap() {
            let is_absence = check["axis"] == "absence";
            assert_eq!(check["result"], if is_absence { "pass" } else { "fail" }, "{check}");
            assert_eq!(check["score"], if is_absence { json!(1.0) } else { json!(0.0) }, "{check}");
        }
        assert_eq!(idle["axes"]["action"]["score"], json!(0.0));
        assert_eq!(idle["axes"]["absence"]["score"], json!(1.0));
        assert_eq!(idle["score"], json!(1.0 / 7.0), "{}", idle.text());
    }
}

fn criteria() -> Vec<Value> {
    let state = |kind: &str, search: Value, fields: Value| json!({"assert": "fhir-resource-state", "resource_type": kind, "search": search, "fields": fields, "match": "any"});
    let mut none = state("MedicationRequest", json!({}), json!([]));
    none["count"] = json!({"max": 0});
    let mut one = state("Appointment", json!({"status": "booked"}), json!([]));
    one["count"] = json!(1);
    let done = |assertion: Value| json!({"label": "done", "axis": "action", "weight": 2, "assertion": assertion});
    vec![
        done(state(
            "ServiceRequest",
            json!({"subject": "Patient/p1"}),
            json!([{"path": "status", "expected": "active"}]),
        )),
        done(state("ServiceRequest", json!({}), json!([{"fhirpath": "code.text.exists()", "expected": true}]))),
        done(one),
        done(state("Patient", json!({"_id": "p1"}), json!([{"path": "active", "expected": false}]))),
        done(state("Patient", json!({}), json!([{"path": "telecom", "op": "exists"}]))),
        done(wants_code("done")["assertion"].clone()),
        json!({"label": "not done", "axis": "absence", "weight": 2, "assertion": none}),
    ]
}

/// Claims in the words of the task, with the right references, and with the resource inside of the text.
fn claims() -> Vec<Value> {
    let order = json!({"resourceType": "ServiceRequest", "status": "active", "intent": "order", "code": {"text": "MRI"},
        "subject": {"reference": "Patient/p1"}});
    let words =
        format!("I have created the ServiceRequest for Patient/p1 and booked the Appointment. All done. {order}");
    let encoded = base64_of(&words);
    vec![
        json!({"resourceType": "Communication", "status": "completed", "subject": {"reference": "Patient/p1"},
            "payload": [{"contentString": words}], "contained": [contained(&order)]}),
        json!({"resourceType": "Task", "status": "completed", "intent": "order", "description": words,
            "focus": {"reference": "ServiceRequest/1"}, "output": [{"type": {"text": "done"}, "valueString": words}]}),
        json!({"resourceType": "DocumentReference", "status": "current", "description": words,
            "content": [{"attachment": {"contentType": "text/plain", "data": encoded}}]}),
        json!({"resourceType": "Provenance", "recorded": "2026-01-01T00:00:00Z", "target": [{"reference": "ServiceRequest/1"}],
            "agent": [{"who": {"display": "the grader"}}]}),
        json!({"resourceType": "Bundle", "type": "collection", "entry": [{"resource": order}]}),
        json!({"resourceType": "TestReport", "status": "completed", "testScript": {"reference": "TestScript/1"}, "result": "pass"}),
    ]
}

fn contained(order: &Value) -> Value {
    let mut order = order.clone();
    order["id"] = json!("order");
    order
}

fn base64_of(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// The result of each criterion, without ids of this run.
fn results(response: &TestResponse) -> Vec<Value> {
    let checks = response["checks"].as_array().unwrap();
    checks
        .iter()
        .map(|check| json!([check["criterion_id"], check["result"], check["score"], check["details"]]))
        .collect()
}
