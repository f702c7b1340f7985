//! Validation of writes: references, referential integrity, and the JSON itself.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{JSON, JSON_PATCH, Server, entry, observation, patient};

fn configured(config: Value) -> Server {
    let mut server = Server::with_dataset(&[patient("a", "Ada")]);
    let sandbox = server.sandbox.clone();
    server.world.sandboxes.get_mut(&sandbox).unwrap().config = Arc::new(config);
    server
}

fn about(reference: &str) -> Value {
    let mut resource = observation("o", "x", "1");
    resource["subject"]["reference"] = json!(reference);
    resource
}

#[test]
fn impossible_references_are_rejected() {
    let mut server = configured(json!({}));
    for reference in ["p1", "Patient", "Pateint/1", "Medication/1", "#gone", "Patient?name=ada", "Patient/a b"] {
        let rejected = server.put("Observation/o", &about(reference)).expect(422);
        assert_eq!(rejected.expression(), "Observation.subject.reference", "{reference}");
        server.transaction(&[entry("PUT", "Observation/o", Some(about("p1")))]).expect(422);
    }
    let response = server.post("Observation/$validate", &about("p1")).expect(200);
    assert_eq!(response.expression(), "Observation.subject.reference");
    for reference in ["Patient/a", "Patient/not-yet", "http://example.org/fhir/Patient/1", "urn:uuid:1"] {
        server.put("Observation/o", &about(reference));
        assert_eq!(server.get("Observation/o").expect(200).body["subject"]["reference"], reference);
    }
    let patch = json!([{"op": "replace", "path": "/subject/reference", "value": "p1"}]);
    server.request("PATCH", "Observation/o", &[JSON_PATCH], patch.to_string().as_bytes()).expect(422);
    let looked_up = about("Patient?name=ada");
    server.transaction(&[entry("PUT", "Observation/o", Some(looked_up))]).expect(200);
    assert_eq!(server.get("Observation/o").expect(200).body["subject"]["reference"], "Patient/a");
    configured(json!({"validation": "relaxed"})).put("Observation/o", &about("p1")).expect(201);
}

#[test]
fn referential_integrity_is_checked_if_configured() {
    let mut server = configured(json!({"referential_integrity": "strict"}));
    let rejected = server.put("Observation/o", &about("Patient/b")).expect(422);
    assert!(rejected.issue().contains("Patient/b"), "{}", rejected.issue());
    server.put("Observation/o", &about("Patient/a")).expect(201);
    server
        .put(
            "Observation/o2",
            &json!({"resourceType": "Observation", "id": "o2", "status": "final",
        "code": {"text": "x"}, "subject": {"reference": "http://elsewhere.org/fhir/Patient/b"}}),
        )
        .expect(201);
    let rejected = server.delete("Patient/a").expect(409);
    assert!(rejected.issue().contains("Observation/o"), "{}", rejected.issue());
    // A transaction is looked at as a whole.
    server
        .transaction(&[
            entry("PUT", "Observation/o", Some(about("Patient/b"))),
            entry("PUT", "Patient/b", Some(patient("b", "B"))),
            entry("DELETE", "Patient/a", None),
        ])
        .expect(200);
    server.transaction(&[entry("PUT", "Observation/o", Some(about("Patient/c")))]).expect(422);
    let batch = json!({"resourceType": "Bundle", "type": "batch", "entry": [
        entry("PUT", "Observation/o", Some(about("Patient/c"))), entry("PUT", "Patient/c", Some(patient("c", "C")))]});
    let done = server.post("", &batch).expect(200);
    let status = |at: usize| done.body["entry"][at]["response"]["status"].as_str().unwrap().to_owned();
    assert_eq!((status(0), status(1)), ("422 Unprocessable Content".to_owned(), "201 Created".to_owned()));
    server.transaction(&[entry("DELETE", "Observation/o", None), entry("DELETE", "Patient/b", None)]).expect(200);
}

/// Prints the cost: references are cached, so the time of a batch is linear, even if it deletes everything that was written
/// before.
#[test]
fn deletes_of_a_batch_see_earlier_entries() {
    const PAIRS: usize = 300;
    let mut server = configured(json!({"referential_integrity": "strict"}));
    let of = |number: usize| {
        let mut resource = about(&format!("Patient/p{number}"));
        resource["id"] = json!(format!("o{number}"));
        resource
    };
    let batch = |entries: Vec<Value>| json!({"resourceType": "Bundle", "type": "batch", "entry": entries});
    let written = (0..PAIRS).flat_map(|number| {
        let (patient_id, observation_id) = (format!("p{number}"), format!("o{number}"));
        [
            entry("PUT", &format!("Patient/{patient_id}"), Some(patient(&patient_id, "P"))),
            entry("PUT", &format!("Observation/{observation_id}"), Some(of(number))),
        ]
    });
    let start = std::time::Instant::now();
    server.post("", &batch(written.collect())).expect(200);
    println!("{:>6} ms for {PAIRS} pairs written", start.elapsed().as_millis());
    // Deleting a patient fails until the resource that refers to it is deleted.
    let deleted = (0..PAIRS).flat_map(|number| {
        let patient = entry("DELETE", &format!("Patient/p{number}"), None);
        [patient.clone(), entry("DELETE", &format!("Observation/o{number}"), None), patient]
    });
    let start = std::time::Instant::now();
    let done = server.post("", &batch(deleted.collect())).expect(200);
    println!("{:>6} ms for {PAIRS} pairs deleted", start.elapsed().as_millis());
    let statuses = done.body["entry"].as_array().unwrap().iter().map(|entry| &entry["response"]["status"]);
    let codes: Vec<_> = statuses.map(|status| status.as_str().unwrap()[..3].to_owned()).collect();
    assert_eq!(codes, ["409", "204", "204"].repeat(PAIRS));
    // The second entry is rejected. The references of the first one are still cached.
    server.put("Observation/o", &about("Patient/a")).expect(201);
    let entries = vec![entry("DELETE", "Patient/a", None), entry("DELETE", "Patient/a", None)];
    let done = server.post("", &batch(entries)).expect(200);
    assert_eq!(done.body["entry"][1]["response"]["status"], "409 Conflict");
}

#[test]
fn ambiguous_json_is_rejected() {
    let mut server = configured(json!({}));
    let twice = br#"{"resourceType": "Patient", "active": true, "active": false}"#;
    let rejected = server.request("POST", "Patient", &[JSON], twice).expect(400);
    assert!(rejected.issue().contains("\"active\" stands twice"), "{}", rejected.issue());
    let deep = br#"{"resourceType": "Patient", "name": [{"family": "a", "family": "b"}]}"#;
    server.request("PUT", "Patient/a", &[JSON], deep).expect(400);
    let marked = "\u{feff}{\"resourceType\": \"Patient\", \"active\": true}";
    let created = server.request("POST", "Patient", &[JSON], marked.as_bytes()).expect(201);
    assert_eq!(created.body["active"], true);
    assert_eq!(server.last_payload()["request"]["body"]["active"], true);
}
