//! Conditional create, update, patch and delete.

use serde_json::{Value, json};

use crate::harness::{BASE, Server};

fn patient(id: Option<&str>, identifier: &str) -> Value {
    let mut resource =
        json!({"resourceType": "Patient", "identifier": [{"system": "http://mrn", "value": identifier}]});
    if let Some(id) = id {
        resource["id"] = json!(id);
    }
    resource
}

fn server() -> Server {
    Server::with_dataset(&[patient(Some("a"), "1"), patient(Some("b"), "2"), patient(Some("c"), "2")])
}

#[test]
fn a_conditional_create_creates_once() {
    let mut server = server();
    let mut create = |identifier: &str, criteria: &str| {
        server.with("POST", "Patient", &[("if-none-exist", criteria)], &patient(None, identifier))
    };
    assert_eq!(create("9", "identifier=http://mrn%7C9").expect(201).changes, 1);
    let again = create("9", "identifier=http://mrn|9").expect(200);
    assert_eq!((again.changes, again.header("location")), (0, format!("{BASE}/Patient/new-1/_history/1").as_str()));
    create("1", "Patient?identifier=1").expect(200);
    create("2", "identifier=2").expect(412);
    create("3", "").expect(412);
    create("3", "shoe-size=3").expect(400);
}

#[test]
fn a_conditional_update_finds_its_resource() {
    let mut server = server();
    let updated = server.put("Patient?identifier=1", &patient(None, "1")).expect(200);
    assert_eq!((updated.body["id"].as_str(), updated.header("etag")), (Some("a"), "W/\"2\""));
    server.put("Patient?identifier=1", &patient(Some("a"), "1")).expect(200);
    server.put("Patient?identifier=1", &patient(Some("b"), "1")).expect(400);
    server.put("Patient?identifier=2", &patient(None, "2")).expect(412);
    server.put("Patient?identifier=7", &patient(Some("c"), "7")).expect(409);
    assert_eq!(server.put("Patient?identifier=7", &patient(Some("d"), "7")).expect(201).body["id"], "d");
    assert_eq!(server.put("Patient?identifier=8", &patient(None, "8")).expect(201).body["id"], "new-1");
    server.put("Patient", &patient(None, "8")).expect(412);
    server.with("PUT", "Patient?identifier=1", &[("if-match", "W/\"1\"")], &patient(None, "1")).expect(412);
}

#[test]
fn a_conditional_patch_needs_one_resource() {
    let mut server = server();
    let patch = json!([{"op": "add", "path": "/active", "value": true}]);
    assert_eq!(server.patch("Patient?identifier=1", &patch).expect(200).body["active"], true);
    server.patch("Patient?identifier=2", &patch).expect(412);
    server.patch("Patient?identifier=3", &patch).expect(404);
}

#[test]
fn a_conditional_delete_deletes_all_matches() {
    let mut server = server();
    assert!(server.delete("Patient?identifier=2").expect(204).changes > 1);
    assert_eq!(server.delete("Patient?identifier=3").expect(204).changes, 0);
    assert_eq!(server.delete("Patient?identifier=1").expect(204).changes, 1);
    server.get("Patient/a").expect(410);
    server.delete("Patient").expect(412);
    server.delete("Patient?shoe-size=1").expect(400);
}
