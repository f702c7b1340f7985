//! read, vread, create, update and delete of single resources.

use serde_json::json;

use crate::harness::{BASE, JSON, Server, patient};

#[test]
fn the_lifecycle_of_a_resource() {
    let mut server = Server::new();
    let created = server.post("Patient", &json!({"resourceType": "Patient", "name": [{"family": "Ada"}]})).expect(201);
    assert_eq!(created.header("location"), format!("{BASE}/Patient/new-1/_history/1"));
    assert_eq!(created.header("etag"), "W/\"1\"");
    assert_eq!(created.header("last-modified"), "Thu, 23 Apr 2026 12:00:01 GMT");
    assert_eq!(created.header("content-type"), "application/fhir+json; charset=utf-8");
    assert_eq!(
        created.text,
        r#"{"resourceType":"Patient","id":"new-1","meta":{"versionId":"1","lastUpdated":"2026-04-23T12:00:01.000Z"},"name":[{"family":"Ada"}]}"#
    );
    assert_eq!(server.get("Patient/new-1").expect(200).text, created.text);

    let updated = server.put("Patient/new-1", &patient("new-1", "Byron")).expect(200);
    assert_eq!((updated.header("etag"), updated.header("location")), ("W/\"2\"", ""));
    assert_eq!(server.get("Patient/new-1/_history/1").expect(200).text, created.text);
    assert_eq!(server.get("Patient/new-1/_history/2").expect(200).body["name"][0]["family"], "Byron");
    server.get("Patient/new-1/_history/3").expect(404);
    server.get("Patient/new-1/_history/x").expect(404);

    assert_eq!(server.delete("Patient/new-1").expect(204).text, "");
    let gone = server.get("Patient/new-1").expect(410);
    assert_eq!(gone.body["issue"][0]["code"], "deleted");
    server.get("Patient/new-1/_history/3").expect(410);
    assert_eq!(server.delete("Patient/new-1").expect(204).changes, 0);
    server.delete("Patient/never").expect(204);

    let again = server.put("Patient/new-1", &patient("new-1", "Ada")).expect(201);
    assert_eq!(again.body["meta"]["versionId"], "4");
    server.get("Patient/new-1").expect(200);
}

#[test]
fn resources_are_stored_unchanged() {
    let mut server = Server::new();
    let text = r#"{"valueQuantity":{"value":6.10,"unit":"mmol/L"},"status":"final","resourceType":"Observation","code":{"text":"K"},"extension":[{"url":"http://x.org/y","valueDecimal":1.000000000000000000001}],"meta":{"tag":[{"code":"t"}],"versionId":"77"},"id":"o"}"#;
    let kept = server.request("PUT", "Observation/o", &[JSON], text.as_bytes()).expect(201);
    let stamped = text.replace(r#""versionId":"77""#, r#""lastUpdated":"2026-04-23T12:00:01.000Z","versionId":"1""#);
    assert_eq!(kept.text, stamped);
    assert_eq!(server.get("Observation/o").text, kept.text);
}

#[test]
fn the_id_of_an_update_must_match_the_url() {
    let mut server = Server::new();
    server.put("Patient/a", &patient("a", "Ada")).expect(201);
    assert_eq!(server.put("Patient/a", &patient("b", "Ada")).expect(400).expression(), "Patient.id");
    server.put("Patient/a", &json!({"resourceType": "Patient"})).expect(400);
    server.put("Patient/a", &json!({"resourceType": "Person", "id": "a"})).expect(400);
    server.put("Patient/a", &json!({"id": "a"})).expect(400);
    server.put("Patient/a", &json!([])).expect(400);
}

#[test]
fn prefer_controls_the_response() {
    let mut server = Server::new();
    let minimal = server.with("PUT", "Patient/a", &[("prefer", "return=minimal")], &patient("a", "Ada")).expect(201);
    assert_eq!((minimal.text.as_str(), minimal.header("etag")), ("", "W/\"1\""));
    let outcome = server.with("PUT", "Patient/a", &[("prefer", "return=OperationOutcome")], &patient("a", "Ada"));
    assert_eq!(outcome.expect(200).body["resourceType"], "OperationOutcome");
    let outcome = server.request("DELETE", "Patient/a", &[("prefer", "return=OperationOutcome")], b"").expect(200);
    assert_eq!(outcome.body["issue"][0]["severity"], "information");
}

#[test]
fn if_match_prevents_lost_updates() {
    let mut server = Server::with_dataset(&[patient("a", "Ada")]);
    server.with("PUT", "Patient/a", &[("if-match", "W/\"2\"")], &patient("a", "B")).expect(412);
    server.with("PUT", "Patient/a", &[("if-match", "W/\"1\"")], &patient("a", "B")).expect(200);
    server.with("PUT", "Patient/a", &[("if-match", "\"1\", \"2\"")], &patient("a", "C")).expect(200);
    server.with("PUT", "Patient/a", &[("if-none-match", "*")], &patient("a", "C")).expect(412);
    server.with("PUT", "Patient/b", &[("if-match", "*")], &patient("b", "C")).expect(412);
    server.with("PUT", "Patient/b", &[("if-none-match", "*")], &patient("b", "C")).expect(201);
    server.request("DELETE", "Patient/a", &[("if-match", "W/\"1\"")], b"").expect(412);
    server.request("DELETE", "Patient/a", &[("if-match", "W/\"3\"")], b"").expect(204);
}

#[test]
fn conditional_reads_return_304() {
    let mut server = Server::with_dataset(&[patient("a", "Ada")]);
    let read = server.get("Patient/a").expect(200);
    let (etag, modified) = (read.header("etag").to_owned(), read.header("last-modified").to_owned());
    let same = server.get_with("Patient/a", &[("if-none-match", &etag)]).expect(304);
    assert_eq!((same.text.as_str(), same.header("etag")), ("", etag.as_str()));
    server.get_with("Patient/a", &[("if-modified-since", &modified)]).expect(304);
    server.get_with("Patient/a", &[("if-none-match", "W/\"9\""), ("if-modified-since", &modified)]).expect(200);
    server.get_with("Patient/a", &[("if-modified-since", "Thu, 01 Jan 1970 00:00:00 GMT")]).expect(200);
    let head = server.request("HEAD", "Patient/a", &[], b"").expect(200);
    assert_eq!((head.text.as_str(), head.header("etag")), ("", etag.as_str()));
}

#[test]
fn subsets_are_tagged() {
    let mut server = Server::with_dataset(&[json!({
        "resourceType": "Patient", "id": "a", "active": true, "name": [{"family": "Ada"}],
        "text": {"status": "generated", "div": "<div xmlns=\"http://www.w3.org/1999/xhtml\">a</div>"},
        "maritalStatus": {"text": "M"}, "contact": [{"name": {"text": "C"}}],
    })]);
    let keys = |server: &mut Server, address: &str| {
        let answer = server.get(address).expect(200);
        assert_eq!(answer.body["meta"]["tag"][0]["code"], "SUBSETTED");
        let mut keys: Vec<String> = answer.body.as_object().unwrap().keys().cloned().collect();
        keys.retain(|key| !matches!(key.as_str(), "resourceType" | "id" | "meta"));
        keys.sort();
        keys.join(" ")
    };
    assert_eq!(keys(&mut server, "Patient/a?_summary=true"), "active name");
    assert_eq!(keys(&mut server, "Patient/a?_summary=text"), "text");
    assert_eq!(keys(&mut server, "Patient/a?_summary=data"), "active contact maritalStatus name");
    assert_eq!(keys(&mut server, "Patient/a?_elements=maritalStatus"), "active maritalStatus");
    assert!(server.get("Patient/a?_pretty=true").expect(200).text.contains("\n  \"id\": \"a\""));
    server.get("Patient/a?_summary=maybe").expect(400);
}
