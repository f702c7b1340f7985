//! The step `fhir`.

use std::sync::Arc;

use model::simulator::SimulatorType;
use serde_json::{Value, json};

use super::playground::{Playground, START, sandbox_id};

fn step(kind: &str, entries: &Value) -> Value {
    json!({"do": "fhir", "bundle": {"resourceType": "Bundle", "type": kind, "entry": entries}})
}

fn put(id: &str, active: bool) -> Value {
    json!({"resource": {"resourceType": "Patient", "id": id, "active": active},
        "request": {"method": "PUT", "url": format!("Patient/{id}")}})
}

fn patient(id: &str) -> Value {
    json!({"resourceType": "Patient", "id": id, "active": false})
}

#[test]
fn resources_are_written_as_a_client_writes_them() {
    let playground = Playground::new(&[patient("p1")]).begin(&json!([step("transaction", &json!([put("p1", true)]))]));
    assert_eq!(playground.written(), ["update Patient/p1 2"]);
    let written = playground.row(SimulatorType::Fhir, "Patient", "p1").unwrap();
    assert_eq!(written["meta"], json!({"versionId": "2", "lastUpdated": START.to_string()}));
    let payload = playground.events[0].1.payload.json();
    assert_eq!((&payload["bundle"], &payload["written"]), (&json!("transaction"), &json!(["Patient/p1"])));
}

#[test]
fn several_writes_to_a_resource_are_one_version() {
    let steps = json!([
        step("transaction", &json!([put("p1", true)])),
        step("batch", &json!([put("p1", false), put("p1", true), put("p2", true)])),
        step("transaction", &json!([{"request": {"method": "DELETE", "url": "Patient/p2"}}])),
    ]);
    let playground = Playground::new(&[patient("p1")]).begin(&steps);
    assert_eq!(playground.written(), ["update Patient/p1 2"], "Patient/p2 came and went");
    let written = playground.row(SimulatorType::Fhir, "Patient", "p1").unwrap();
    assert_eq!((&written["meta"]["versionId"], &written["active"]), (&json!("2"), &json!(true)));
}

#[test]
fn a_collection_keeps_its_ids_and_its_references() {
    let entries = json!([
        {"fullUrl": "urn:uuid:7e0a1d3c-0000-4000-8000-000000000001", "resource": {"resourceType": "Patient"}},
        {"resource": {"resourceType": "Observation", "id": "o1", "status": "final", "code": {"text": "K"},
            "subject": {"reference": "urn:uuid:7e0a1d3c-0000-4000-8000-000000000001"},
            "valueQuantity": {"value": "{{entity.low}}"}}},
        {"resource": {"resourceType": "Patient", "id": "p1", "active": true}},
    ]);
    let playground = Playground::new(&[patient("p1")]).begin(&json!([step("collection", &entries)]));
    let observation = playground.row(SimulatorType::Fhir, "Observation", "o1").unwrap();
    let subject = observation["subject"]["reference"].as_str().unwrap();
    let (kind, id) = subject.split_once('/').unwrap();
    assert!(playground.row(SimulatorType::Fhir, kind, id).is_some(), "{subject}");
    assert_eq!(observation["valueQuantity"]["value"].to_string(), "6.1");
    let written = playground.row(SimulatorType::Fhir, "Patient", "p1").unwrap();
    assert_eq!(written["meta"]["versionId"], "2");
    let empty = Playground::new(&[])
        .begin(&json!([{"do": "fhir", "bundle": {"resourceType": "Bundle", "type": "collection"}}]));
    assert_eq!((empty.event_names().len(), empty.written().len()), (1, 0));
}

#[test]
fn a_server_error_is_reported_with_its_text() {
    let bad = json!({"resource": {"resourceType": "Patient", "id": "p1", "gender": 5},
        "request": {"method": "PUT", "url": "Patient/p1"}});
    let first = json!({"do": "drop_file_inbox", "path": "a", "content": ""});
    let mut playground = Playground::new(&[patient("p1")]);
    for (step, expected) in [
        (step("transaction", &json!([put("p2", true), bad])), "steps.1.bundle: Bundle.entry[1].resource.gender: "),
        (step("batch", &json!([put("p2", true), bad])), "steps.1.bundle: Bundle.entry[1] Patient.gender: "),
        (step("collection", &json!([bad])), "steps.1.bundle: Bundle.entry[0].resource.gender: "),
        (step("collection", &json!([put("a b", true)])), "steps.1.bundle: "),
        (
            step("collection", &json!([put("x", true), put("x", true)])),
            "steps.1.bundle: Bundle.entry[1]: another entry",
        ),
    ] {
        let error = playground.begin_error(&json!([first, step]));
        assert!(error.starts_with(expected), "{error}");
        assert!(playground.changes.is_empty() && playground.events.is_empty());
    }
}

#[test]
fn a_deferred_bundle_that_conflicts_is_dropped() {
    let mut guarded = put("p1", true);
    guarded["request"]["ifMatch"] = json!("W/\"1\"");
    let mut later = step("transaction", &json!([put("p9", true), guarded]));
    later["after_seconds"] = json!(10);
    let mut playground =
        Playground::new(&[patient("p1")]).begin(&json!([later, step("batch", &json!([put("p1", true)]))]));
    assert_eq!(playground.catch_up_after(10), 1);
    assert_eq!(playground.event_names().last().unwrap(), "fhir dropped");
    let reason = playground.events.last().unwrap().1.payload.json();
    let reason = reason["reason"].as_str().unwrap();
    assert!(reason.starts_with("bundle: Bundle.entry[1]"), "{reason}");
    assert!(playground.row(SimulatorType::Fhir, "Patient", "p9").is_none());
    assert_eq!(playground.next_due(), None);
}

#[test]
fn values_cannot_change_search_criteria() {
    let mut playground = Playground::new(&[]);
    playground.entity = json!({"ref": "Patient/p1", "data": {"mrn": "1&active=true,2"}});
    let entry = json!({"resource": {"resourceType": "Patient", "identifier": [{"value": "{{entity.mrn}}"}]},
        "request": {"method": "POST", "url": "Patient", "ifNoneExist": "identifier={{entity.mrn}}"}});
    let twice = json!([step("transaction", &json!([entry])), step("transaction", &json!([entry]))]);
    let playground = playground.begin(&twice);
    assert_eq!(playground.written().len(), 1, "the second finds the first: {:?}", playground.written());
    let update = json!({"resource": {"resourceType": "Patient", "identifier": [{"value": "{{entity.mrn}}"}], "active": true},
        "request": {"method": "PUT", "url": "Patient?identifier={{entity.mrn}}"}});
    let playground = playground.begin(&json!([step("transaction", &json!([update]))]));
    assert!(playground.written()[1].starts_with("update Patient/"), "{:?}", playground.written());
}

#[test]
fn a_remote_server_is_not_written_to() {
    let mut playground = Playground::new(&[]);
    let sandbox = playground.world.sandboxes.get_mut(&sandbox_id(SimulatorType::Fhir)).unwrap();
    sandbox.config = Arc::new(json!({"remote": {"base_url": "https://fhir.example.org"}}));
    let error = playground.begin_error(&json!([step("batch", &json!([put("p1", true)]))]));
    assert!(error.starts_with("steps.0.sandbox: passes everything on"), "{error}");
}

#[test]
fn authored_search_parameters_are_accepted() {
    let put = |id: &str| {
        json!({"request": {"method": "PUT", "url": format!("SearchParameter/{id}")},
            "resource": {"resourceType": "SearchParameter", "id": id, "url": "urn:x", "name": "X", "status": "active",
                "description": "X", "code": "x", "base": ["Patient"], "type": "string", "expression": "Patient.nonsense"}})
    };
    for kind in ["batch", "transaction", "collection"] {
        let playground = Playground::new(&[]).begin(&json!([step(kind, &json!([put("a"), put("b")]))]));
        assert_eq!(playground.written(), ["create SearchParameter/a 1", "create SearchParameter/b 1"], "{kind}");
    }
}
