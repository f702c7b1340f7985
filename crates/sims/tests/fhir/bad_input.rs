//! Invalid requests.

use serde_json::{Value, json};

use crate::harness::{JSON, Server, patient};

#[test]
fn invalid_paths_get_a_helpful_error() {
    let mut server = Server::with_dataset(&[patient("a", "Ada")]);
    for (method, address, status, hint) in [
        ("GET", "Pateint/a", 404, "did you mean \"Patient\""),
        ("GET", "Patient/b", 404, "there is no Patient/b"),
        ("GET", "Patient/a_b", 400, "letters, digits"),
        ("GET", "Patient/a%2Fb", 400, "letters, digits"),
        ("GET", "Patient/a%00", 400, "letters, digits"),
        ("GET", "Patient//", 200, ""),
        ("GET", "Patient/a/b/c/d", 404, "unknown path"),
        ("GET", "Patient/a/Medication", 404, "does not belong to the Patient compartment"),
        ("GET", "Group/a/Observation", 404, "has no compartment"),
        ("GET", "Patient/a/$fly", 404, "$everything"),
        ("GET", "$export", 404, "$everything"),
        ("PUT", "", 405, "POST"),
        ("POST", "Patient/a", 405, "GET, PUT, PATCH, DELETE"),
        ("DELETE", "Patient/a/_history", 405, "GET"),
        ("PUT", "Patient/_search", 405, "POST"),
        ("BREW", "Patient", 405, "allowed"),
        ("GET", "Parameters", 404, "cannot be stored"),
        ("GET", "../../etc/passwd", 404, "unknown resource type"),
    ] {
        let answer = server.request(method, address, &[], b"");
        assert_eq!(answer.status, status, "{method} {address}: {}", answer.text);
        assert!(answer.issue().contains(hint), "{method} {address}: {}", answer.text);
        assert_eq!(answer.status == 405, !answer.header("allow").is_empty());
    }
    let long = format!("Patient/{}", "x".repeat(65));
    server.get(&long).expect(400);
}

#[test]
fn outcomes_escape_control_characters() {
    let mut server = Server::with_dataset(&[patient("a", "Ada")]);
    for address in ["Patient/a/$everything?_count=1%00", "Patient?_count=%07", "Pat%01ient", "Patient?na%1bme=a"] {
        let answer = server.get_with(address, &[("prefer", "handling=strict")]);
        assert!(answer.status >= 400, "{}", answer.text);
        fhir::validate(&answer.body).unwrap();
    }
    let odd = json!({"resourceType": "Patient", "a\u{0}b": 1, "name": [{"family": "\u{1}"}]});
    server.post("Patient", &odd).expect(422);
}

#[test]
fn formats_other_than_json_are_rejected() {
    let mut server = Server::with_dataset(&[patient("a", "Ada")]);
    server.get("Patient/a?_format=xml").expect(406);
    server.get_with("Patient/a", &[("accept", "application/fhir+xml")]).expect(406);
    server.get("Patient/a?_format=application/fhir+json").expect(200);
    server.request("POST", "Patient", &[("content-type", "application/fhir+xml")], b"<Patient/>").expect(415);
    server.request("POST", "Patient", &[("content-type", "application/x-www-form-urlencoded")], b"{}").expect(415);
}

#[test]
fn bodies_that_are_not_resources_are_rejected() {
    let mut server = Server::new();
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let nested = format!(r#"{{"resourceType":"Patient","extension":{deep}}}"#);
    for body in
        ["", "{", "nonsense", "{\"resourceType\":\"Patient\"", &deep, &nested, "\u{feff}", "null", "1", "\"a\"", "[]"]
    {
        server.request("POST", "Patient", &[JSON], body.as_bytes()).expect(400);
    }
    server.request("POST", "Patient", &[JSON], b"{\"resourceType\":\"Patient\",\"id\":\"\xff\"}").expect(400);
    server.request("POST", "Patient", &[JSON], br#"{"resourceType":"Patient","language":"\ud800"}"#).expect(400);
}

#[test]
fn all_errors_of_a_resource_are_reported() {
    let mut server = Server::new();
    let bad = json!({"resourceType": "Observation", "status": "finished", "spaceship": 1, "code": {"coding": {}}});
    let answer = server.post("Observation", &bad).expect(422);
    let places: Vec<&str> =
        answer.body["issue"].as_array().unwrap().iter().filter_map(|issue| issue["expression"][0].as_str()).collect();
    assert_eq!(places, ["Observation.status", "Observation.spaceship", "Observation.code.coding"]);
    let long = json!({"resourceType": "Patient", "name": [{"family": "x".repeat(10 << 20)}]});
    assert_eq!(server.post("Patient", &long).expect(422).body["issue"][0]["code"], "too-long");
}

#[test]
fn bodies_are_logged_even_for_unknown_paths() {
    let mut server = Server::new();
    server.post("Pateint", &patient("a", "Ada")).expect(404);
    assert_eq!(server.last_payload()["request"]["body"], patient("a", "Ada"));
}

#[test]
fn an_unknown_sandbox_is_not_found() {
    let mut server = Server::new();
    server.sandbox = "sbx_01J00000000000000000000009".parse().unwrap();
    server.get("Patient").expect(404);
    server.post("Patient", &Value::Null).expect(404);
}
