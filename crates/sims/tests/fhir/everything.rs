//! Patient `$everything` and `$validate`.

use serde_json::json;

use crate::harness::{Server, observation, patient};

#[test]
fn everything_is_what_points_to_the_patient_and_what_that_needs() {
    let mut with_performer = observation("o1", "a", "1");
    with_performer["performer"] = json!([{"reference": "PractitionerRole/r"}]);
    let role = json!({"resourceType": "PractitionerRole", "id": "r", "practitioner": {"reference": "Practitioner/p"},
                      "organization": {"reference": "Organization/gone"}});
    let practitioner = json!({"resourceType": "Practitioner", "id": "p"});
    let group = json!({"resourceType": "Group", "id": "g", "type": "person", "actual": true,
                       "member": [{"entity": {"reference": "Patient/a"}}, {"entity": {"reference": "Patient/b"}}]});
    let mut server = Server::over(&[
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
fn validate_tells_faults_and_changes_nothing() {
    let mut server = Server::over(&[patient("a", "Ada")]);
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
