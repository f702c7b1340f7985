//! batch and transaction.

use base64::Engine as _;
use serde_json::{Value, json};

use crate::harness::{Server, entry, observation, patient};

fn statuses(answer: &crate::harness::ResponseRecord) -> Vec<String> {
    let entries = answer.body["entry"].as_array().cloned().unwrap_or_default();
    entries.iter().map(|entry| entry["response"]["status"].as_str().unwrap_or_default().to_owned()).collect()
}

fn named(full_url: &str, entry: Value) -> Value {
    let mut entry = entry;
    entry["fullUrl"] = json!(full_url);
    entry
}

#[test]
fn a_transaction_is_processed_in_the_order_of_the_standard() {
    let mut server = Server::with_dataset(&[patient("old", "Old"), patient("a", "Ada")]);
    let patch = base64::engine::general_purpose::STANDARD.encode(r#"[{"op":"add","path":"/active","value":true}]"#);
    let binary = json!({"resourceType": "Binary", "contentType": "application/json-patch+json", "data": patch});
    let response = server
        .transaction(&[
            entry("GET", "Patient?_sort=_id", None),
            entry("PATCH", "Patient/a", Some(binary)),
            entry("PUT", "Patient/p", Some(patient("p", "Put"))),
            named("urn:uuid:1", entry("POST", "Patient", Some(json!({"resourceType": "Patient"})))),
            entry("DELETE", "Patient/old", None),
            entry("GET", "Patient/a", None),
        ])
        .expect(200);
    assert_eq!(response.body["type"], "transaction-response");
    assert_eq!(statuses(&response), ["200 OK", "200 OK", "201 Created", "201 Created", "204 No Content", "200 OK"]);
    assert_eq!(response.body["entry"][0]["resource"]["total"], 3);
    assert_eq!(response.body["entry"][5]["resource"]["active"], true);
    assert_eq!(response.body["entry"][3]["response"]["location"], "Patient/new-1/_history/1");
    assert_eq!(response.body["entry"][3]["response"]["etag"], "W/\"1\"");
    assert!(response.body["entry"][3].get("resource").is_none());
    assert_eq!(response.changes, 4);
    fhir::validate(&response.body).unwrap();
}

#[test]
fn references_between_entries_are_resolved() {
    let mut server = Server::with_dataset(&[json!({"resourceType": "Organization", "id": "org",
        "identifier": [{"system": "http://npi", "value": "7"}]})]);
    let mut observed = observation("x", "y", "1");
    observed["subject"] = json!({"reference": "urn:uuid:p"});
    observed["performer"] = json!([{"reference": "Organization?identifier=http://npi|7"},
                                   {"reference": "Practitioner?identifier=doc"}]);
    observed["encounter"] = json!({"reference": "Encounter/e"});
    let encounter = json!({"resourceType": "Encounter", "id": "e", "status": "finished", "class": {"code": "AMB"}});
    let practitioner = json!({"resourceType": "Practitioner", "identifier": [{"value": "doc"}]});
    let response = server
        .transaction(&[
            named("http://x.org/fhir/Observation/o", entry("POST", "Observation", Some(observed))),
            named("urn:uuid:p", entry("POST", "Patient", Some(json!({"resourceType": "Patient"})))),
            named("http://x.org/fhir/Encounter/e", entry("POST", "Encounter", Some(encounter))),
            entry("POST", "Practitioner", Some(practitioner)),
        ])
        .expect(200);
    let location = |at: usize| {
        let text = response.body["entry"][at]["response"]["location"].as_str().unwrap();
        text.split("/_history").next().unwrap().to_owned()
    };
    let kept = server.get(&location(0)).expect(200).body;
    assert_eq!(kept["subject"]["reference"], location(1));
    assert_eq!(kept["encounter"]["reference"], location(2));
    assert_eq!(kept["performer"], json!([{"reference": "Organization/org"}, {"reference": location(3)}]));
}

#[test]
fn one_error_rolls_back_a_transaction() {
    let mut server = Server::with_dataset(&[patient("a", "Ada"), patient("b", "Ada")]);
    let good = entry("POST", "Patient", Some(json!({"resourceType": "Patient"})));
    let of = |reference: &str| {
        let mut resource = observation("x", "y", "1");
        resource["subject"] = json!({"reference": reference});
        entry("POST", "Observation", Some(resource))
    };
    let with = |mut entry: Value, name: &str, value: &str| {
        entry["request"][name] = json!(value);
        entry
    };
    for (bad, status, place) in [
        (
            entry("POST", "Patient", Some(json!({"resourceType": "Patient", "active": 1}))),
            422,
            "Bundle.entry[1].resource.active",
        ),
        (entry("PUT", "Patient/a", Some(patient("b", "B"))), 400, "Bundle.entry[1].resource.id"),
        (entry("POST", "Patient", None), 400, "Bundle.entry[1]"),
        (entry("GET", "Patient/never", None), 404, "Bundle.entry[1]"),
        (entry("GET", "Spaceship", None), 404, "Bundle.entry[1]"),
        (
            entry("POST", "", Some(json!({"resourceType": "Bundle", "type": "batch"}))),
            422,
            "Bundle.entry[1].request.url",
        ),
        (of("urn:uuid:nobody"), 400, "Bundle.entry[1].resource"),
        (of("Patient?name=nobody"), 412, "Bundle.entry[1].resource"),
        (of("Patient?name=ada"), 412, "Bundle.entry[1].resource"),
        (with(entry("DELETE", "Patient/a", None), "ifMatch", "W/\"9\""), 412, "Bundle.entry[1]"),
        (with(good.clone(), "ifNoneExist", "name=ada"), 412, "Bundle.entry[1]"),
        (entry("DELETE", "Patient", None), 412, "Bundle.entry[1]"),
        (entry("GET", "http://elsewhere.org/Patient/a", None), 400, "Bundle.entry[1]"),
    ] {
        let answer = server.transaction(&[good.clone(), bad]).expect(status);
        assert_eq!(answer.expression(), place, "{}", answer.text);
    }
    assert_eq!(server.get("Patient").body["total"], 2);
}

#[test]
fn a_transaction_writes_each_resource_once() {
    let mut server = Server::new();
    let put = entry("PUT", "Patient/a", Some(patient("a", "A")));
    let twice = server.transaction(&[put.clone(), put.clone()]).expect(400);
    assert_eq!(twice.expression(), "Bundle.entry[1]");
    server.transaction(&[put, entry("DELETE", "Patient/a", None)]).expect(400);
    let create = named("urn:uuid:1", entry("POST", "Patient", Some(json!({"resourceType": "Patient"}))));
    server.transaction(&[create.clone(), create.clone()]).expect(400);
    let mut once = create;
    once["request"]["ifNoneExist"] = json!("identifier=1");
    let mut other = once.clone();
    other["fullUrl"] = json!("urn:uuid:2");
    server.transaction(&[once, other]).expect(400);
}

#[test]
fn conditional_entries_match_existing_resources() {
    let identified = |value: &str| json!({"resourceType": "Patient", "identifier": [{"value": value}]});
    let mut there = identified("1");
    there["id"] = json!("a");
    let mut server = Server::with_dataset(&[there]);
    let mut create = named("urn:uuid:p", entry("POST", "Patient", Some(identified("1"))));
    create["request"]["ifNoneExist"] = json!("identifier=1");
    let mut observed = observation("x", "y", "1");
    observed["subject"] = json!({"reference": "urn:uuid:p"});
    let response = server.transaction(&[
        create,
        entry("POST", "Observation", Some(observed)),
        entry("PUT", "Patient?identifier=2", Some(identified("2"))),
        entry("DELETE", "Patient?identifier=3", None),
    ]);
    let response = response.expect(200);
    assert_eq!(statuses(&response), ["200 OK", "201 Created", "201 Created", "204 No Content"]);
    assert_eq!(server.get("Observation?subject=Patient/a").body["total"], 1);
}

#[test]
fn entries_of_a_batch_are_independent() {
    let mut server = Server::new();
    let batch = json!({"resourceType": "Bundle", "type": "batch", "entry": [
        entry("PUT", "Patient/a", Some(patient("a", "A"))),
        entry("PUT", "Patient/b", Some(json!({"resourceType": "Patient", "id": "b", "active": 1}))),
        entry("GET", "Patient/a", None),
        entry("GET", "Patient/b", None),
        entry("POST", "/Patient", Some(json!({"resourceType": "Patient"}))),
        entry("POST", "Spaceship", Some(json!({"resourceType": "Spaceship"}))),
    ]});
    let response = server.post("", &batch).expect(200);
    assert_eq!(
        statuses(&response),
        ["201 Created", "422 Unprocessable Content", "200 OK", "404 Not Found", "201 Created", "404 Not Found"]
    );
    assert_eq!(response.body["entry"][1]["response"]["outcome"]["issue"][0]["expression"][0], "Patient.active");
    assert_eq!(response.changes, 2);
    let response = server.with("POST", "", &[("prefer", "return=representation")], &batch).expect(200);
    assert_eq!(response.body["entry"][0]["resource"]["id"], "a");
}

#[test]
fn other_bundles_are_rejected() {
    let mut server = Server::new();
    server.post("", &json!({"resourceType": "Patient"})).expect(400);
    server.post("", &json!({"resourceType": "Bundle", "type": "collection"})).expect(400);
    server.post("", &json!({"resourceType": "Bundle"})).expect(422);
    server.post("", &json!({"resourceType": "Bundle", "type": "transaction", "entry": {}})).expect(422);
    server.post("", &json!({"resourceType": "Bundle", "type": "batch", "entry": [1]})).expect(422);
    server.transaction(&vec![entry("GET", "Patient", None); 10_001]).expect(413);
    assert!(server.transaction(&[]).status < 500);
    server.post("", &json!({"resourceType": "Bundle", "type": "transaction"})).expect(200);
    server.post("Bundle", &json!({"resourceType": "Bundle", "type": "collection"})).expect(201);
}
