//! Patient `$everything` and `$validate`.

use serde_json::json;

use crate::harness::{Server, observation, patient};

#[test]
fn everything_contains_referring_and_supporting_resources() {
    let mut with_performer = observation("o1", "a", "1");
    with_performer["performer"] = json!([{"reference": "PractitionerRole/r"}]);
    let role = json!({"resourceType": "PractitionerRole", "id": "r", "practitioner": {"reference": "Practitioner/p"},
                      "organization": {"reference": "Organization/gone"}});
    let practitioner = json!({"resourceType": "Practitioner", "id": "p"});
    let group = json!({"resourceType": "Group", "id": "g", "type": "person", "actual": true,
                       "member": [{"entity": {"reference": "Patient/a"}}, {"entity": {"reference": "Patient/b"}}]});
    let mut server = Server::with_dataset(&[
        patient("a", "Ada"),
        patient("b", "Byron"),
        with_performer,
        observation("o2", "b", "1"),
        role,
        practitioner,
        group,
    ]);
    server.put("Observation/o3", &observation("o3", "a", "1")).expect(201);
    let all = server.get("Patient/a/$everything").expect(200);
    assert_eq!(
        all.entries(),
        [
            "Patient/a",
            "Group/g",
            "Observation/o1",
            "Observation/o3",
            "include Practitioner/p",
            "include PractitionerRole/r"
        ]
    );
    let some = server.get("Patient/a/%24everything?_type=Observation,Patient&_count=2").expect(200);
    assert_eq!((some.entries(), &some.body["total"]), (vec!["Patient/a".into(), "Observation/o1".into()], &json!(3)));
    server.delete("Observation/o3").expect(204);
    assert_eq!(server.get(&some.link("next").unwrap()).expect(200).entries(), ["Observation/o3"]);
    let since = server.get("Patient/a/$everything?_since=2026-04-23T12:00:01Z").expect(200);
    assert!(since.entries().is_empty());
    server.get("Patient/never/$everything").expect(404);
    server.get("Observation/o1/$everything").expect(404);
    server.get("Patient/a/$everything?_type=Spaceship").expect(400);
    server.with_scopes("system/Patient.rs system/Observation.rs");
    assert_eq!(server.get("Patient/a/$everything").expect(200).entries(), ["Patient/a", "Observation/o1"]);
    server.with_scopes("system/Observation.rs");
    server.get("Patient/a/$everything").expect(403);
}

#[test]
fn validate_reports_errors_and_changes_nothing() {
    let mut server = Server::with_dataset(&[patient("a", "Ada")]);
    let good = server.post("Patient/$validate", &patient("x", "X")).expect(200);
    assert_eq!((&good.body["issue"][0]["severity"], good.changes), (&json!("information"), 0));
    let bad = server.post("Patient/$validate", &json!({"resourceType": "Patient", "active": "yes"})).expect(200);
    assert_eq!((bad.expression(), &bad.body["issue"][0]["severity"]), ("Patient.active", &json!("error")));
    let parameters = json!({"resourceType": "Parameters", "parameter": [
        {"name": "resource", "resource": {"resourceType": "Person"}}]});
    assert_eq!(server.post("Patient/$validate", &parameters).expect(200).body["issue"][0]["severity"], "error");
    server.post("Patient/$validate", &json!({"resourceType": "Parameters"})).expect(400);
    assert_eq!(server.post("Patient/a/$validate", &patient("b", "X")).expect(200).expression(), "Patient.id");
    assert_eq!(server.get("Patient/a/$validate").expect(200).body["issue"][0]["severity"], "information");
}

#[test]
fn everything_is_limited_by_dates_of_care() {
    let dated = |id: &str, day: &str| {
        let mut resource = observation(id, "a", "1");
        resource["effectiveDateTime"] = json!(day);
        resource
    };
    let condition = json!({"resourceType": "Condition", "id": "c", "subject": {"reference": "Patient/a"},
        "onsetPeriod": {"start": "2024-05-01"}, "asserter": {"reference": "Practitioner/p"}});
    let practitioner = json!({"resourceType": "Practitioner", "id": "p"});
    let coverage = json!({"resourceType": "Coverage", "id": "i", "status": "active",
        "beneficiary": {"reference": "Patient/a"}, "payor": [{"reference": "Patient/a"}]});
    let mut server = Server::with_dataset(&[
        patient("a", "Ada"),
        dated("o1", "2023-01-01"),
        dated("o2", "2024-06-01T10:00:00Z"),
        dated("o3", "2025"),
        condition,
        practitioner,
        coverage,
    ]);
    let found = server.get("Patient/a/$everything?start=2024-02-01&end=2024-06").expect(200);
    let expected = ["Patient/a", "Condition/c", "Coverage/i", "Observation/o2", "include Practitioner/p"];
    assert_eq!(found.entries(), expected);
    let open = server.get("Patient/a/$everything?start=2025-06-01&_type=Observation").expect(200);
    assert_eq!(open.entries(), ["Observation/o3"]);
    let parameters = json!({"resourceType": "Parameters", "parameter": [
        {"name": "end", "valueDate": "2023-12-31"}, {"name": "_type", "valueCode": "Observation"},
        {"name": "_count", "valueInteger": 1}, {"name": "shoe-size", "valueInteger": 9}]});
    let posted = server.post("Patient/a/$everything", &parameters).expect(200);
    assert_eq!(posted.entries()[0], "Observation/o1");
    let response = &posted.body["entry"][1];
    assert_eq!(response["search"]["mode"], "outcome");
    assert!(response["resource"]["issue"][0]["diagnostics"].as_str().unwrap().contains("shoe-size"), "{response}");
    server.get("Patient/a/$everything?start=soon").expect(400);
    server.get_with("Patient/a/$everything?shoe-size=9", &[("prefer", "handling=strict")]).expect(400);
    let read = server.get("Patient/a?shoe-size=9").expect(200);
    assert!(read.header("warning").contains("shoe-size"), "{:?}", read.headers);
    let created = server.post("Patient?identifier=1", &json!({"resourceType": "Patient"})).expect(201);
    assert!(created.header("warning").contains("identifier"), "{:?}", created.headers);
}

#[test]
fn validate_checks_all_types_and_known_profiles() {
    let mut server = Server::with_dataset(&[patient("a", "Ada")]);
    let severities = |answer: &crate::harness::ResponseRecord| {
        let issues = answer.body["issue"].as_array().unwrap().iter();
        issues.map(|issue| issue["severity"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let fine = server.post("$validate", &patient("x", "X")).expect(200);
    assert_eq!(severities(&fine), ["information"]);
    let parameters = json!({"resourceType": "Parameters", "parameter": [{"name": "a", "valueString": "b"}]});
    for address in ["$validate", "Parameters/$validate"] {
        assert_eq!(severities(&server.post(address, &parameters).expect(200)), ["information"], "{address}");
    }
    let contact = json!({"resourceType": "Patient", "contact": [{"gender": "male"}]});
    let found = server.post("Patient/$validate", &contact).expect(200);
    assert_eq!((found.expression(), &found.body["issue"][0]["code"]), ("Patient.contact[0]", &json!("invariant")));
    let us_core = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-patient";
    let bare = json!({"resourceType": "Patient", "name": [{"family": "Shaw"}]});
    for (address, body) in [
        (format!("Patient/$validate?profile={us_core}"), bare.clone()),
        (
            "$validate".to_owned(),
            json!({"resourceType": "Parameters", "parameter": [
                {"name": "resource", "resource": bare}, {"name": "profile", "valueUri": us_core}]}),
        ),
        (
            "Patient/$validate".to_owned(),
            json!({"resourceType": "Patient", "meta": {"profile": [us_core]}, "name": [{"family": "Shaw"}]}),
        ),
    ] {
        let found = server.post(&address, &body).expect(200);
        assert!(found.text.contains("Patient.identifier") && found.text.contains("Patient.gender"), "{}", found.text);
    }
    let unknown = server.post("Patient/$validate?profile=http://example.org/mine", &bare).expect(200);
    assert_eq!(
        (severities(&unknown), &unknown.body["issue"][0]["code"]),
        (vec!["error".to_owned()], &json!("not-found"))
    );
    let claimed = json!({"resourceType": "Patient", "meta": {"profile": ["http://example.org/mine"]}});
    assert_eq!(severities(&server.post("$validate", &claimed).expect(200)), ["warning"]);
    let base = "Patient/$validate?profile=http://hl7.org/fhir/StructureDefinition/Patient";
    assert_eq!(severities(&server.post(base, &bare).expect(200)), ["information"]);
    server.post("Patient/$validate?mode=guess", &bare).expect(400);
    server.post("Patient/$validate?mode=update", &bare).expect(200);
}
