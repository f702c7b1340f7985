//! Each request is logged as one event, with the names of read resources and the content of written ones.

use model::event::EventType;
use serde_json::json;
use verial_sims::fhir::handle::is_read_only;

use crate::harness::{JSON, Server, observation, patient, request};

#[test]
fn events_name_reads_and_contain_writes() {
    let mut server = Server::with_dataset(&[patient("a", "Ada"), observation("o", "a", "1")]);
    server.get("Patient/a");
    let event = server.last_event();
    assert_eq!(
        (event.r#type, event.actor.as_str(), event.summary.as_str()),
        (EventType::FhirRequest, "agent", "GET Patient/a → 200")
    );
    let payload = event.payload.json();
    assert_eq!(payload["request"], json!({"method": "GET", "path": "Patient/a", "headers": {}}));
    assert_eq!(payload["response"]["resource"], "Patient/a/_history/1");
    assert!(payload["response"].get("body").is_none());

    server.get("Observation?subject=Patient/a&_include=Observation:subject");
    let response = &server.last_payload()["response"];
    assert_eq!(
        (&response["total"], &response["entries"]),
        (&json!(1), &json!(["Observation/o/_history/1", "Patient/a/_history/1"]))
    );
    assert_eq!(server.last_payload()["request"]["query"], "subject=Patient/a&_include=Observation:subject");

    let body = r#"{"resourceType":"Observation","id":"x","status":"final","code":{"text":"K"},"valueQuantity":{"value":6.10}}"#;
    let written = server.request("PUT", "Observation/x", &[JSON, ("if-none-match", "*")], body.as_bytes());
    let payload = server.last_payload();
    assert_eq!(payload["request"]["body"].to_string(), body);
    assert_eq!(payload["request"]["headers"]["if-none-match"], "*");
    assert_eq!(payload["response"]["body"].to_string(), written.text);
    assert_eq!(payload["response"]["headers"]["etag"], "W/\"1\"");

    server.get("Patient/never");
    assert_eq!(server.last_payload()["response"]["body"]["issue"][0]["code"], "not-found");
    server.request("POST", "Patient", &[JSON], b"{\xff");
    assert_eq!(server.last_payload()["request"]["body"], "{\u{fffd}");
    assert_eq!(server.last_event().summary, "POST Patient → 400");
    server.request("POST", "Patient", &[JSON], &vec![b'x'; 1 << 20]);
    assert_eq!(server.last_payload()["request"]["body"].as_str().unwrap().len(), 64 << 10);
    server.get("metadata");
    assert!(server.last_payload().to_string().len() < 500);
}

#[test]
fn secrets_are_masked_in_the_log() {
    let secret = format!("vk_{}", "a1B2".repeat(10));
    let mut server = Server::new();
    server.get(&format!("Patient/{secret}?name={secret}"));
    server.get_with("Patient", &[("user-agent", &format!("x {secret}"))]);
    server.post("Patient", &json!({"resourceType": "Patient", "name": [{"family": secret}], &secret: 1}));
    server.post("Patient", &json!({"resourceType": "Patient", "name": [{"family": secret}]})).expect(201);
    server.request("POST", "Patient", &[JSON], secret.as_bytes());
    for event in &server.events {
        assert!(!event.payload.text().contains(&secret), "{}", event.payload.text());
        assert!(!event.summary.contains(&secret));
    }
}

#[test]
fn read_only_requests_are_recognized() {
    for (method, path, read_only) in [
        ("GET", "Patient/1", true),
        ("HEAD", "Patient/1", true),
        ("POST", "Patient/_search", true),
        ("POST", "Patient/$validate", true),
        ("POST", "Patient/1/$everything", true),
        ("POST", "Patient", false),
        ("POST", "", false),
        ("PUT", "Patient/1", false),
        ("PATCH", "Patient/1", false),
        ("DELETE", "Patient/1", false),
    ] {
        assert_eq!(is_read_only(&request(method, path, &[], b"")), read_only, "{method} {path}");
    }
}
