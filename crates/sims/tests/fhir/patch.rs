//! JSON Patch.

use serde_json::json;

use crate::harness::{Server, patient};

#[test]
fn a_patch_is_atomic() {
    let mut server = Server::with_dataset(&[patient("a", "Ada")]);
    let patched = server
        .patch(
            "Patient/a",
            &json!([
                {"op": "test", "path": "/name/0/family", "value": "Ada"},
                {"op": "replace", "path": "/name/0/family", "value": "Byron"},
                {"op": "add", "path": "/active", "value": true},
                {"op": "add", "path": "/telecom", "value": []},
            ]),
        )
        .expect(200);
    assert_eq!(patched.body["name"][0]["family"], "Byron");
    assert_eq!((&patched.body["active"], patched.body.get("telecom")), (&json!(true), None));
    assert_eq!(patched.header("etag"), "W/\"2\"");
    for (patch, status) in [
        (
            json!([{"op": "replace", "path": "/active", "value": false}, {"op": "test", "path": "/active", "value": 1}]),
            422,
        ),
        (json!([{"op": "remove", "path": "/photo"}]), 422),
        (json!([{"op": "add", "path": "/spaceship", "value": 1}]), 422),
        (json!([{"op": "replace", "path": "/id", "value": "b"}]), 422),
        (json!([{"op": "replace", "path": "/resourceType", "value": "Person"}]), 422),
        (json!([{"op": "replace", "path": "", "value": 1}]), 422),
        (json!([{"op": "explode", "path": "/id"}]), 400),
        (json!({"op": "remove", "path": "/active"}), 400),
    ] {
        server.patch("Patient/a", &patch).expect(status);
    }
    assert_eq!(server.get("Patient/a").body["active"], true);
    server.patch("Patient/b", &json!([])).expect(404);
    server.delete("Patient/a").expect(204);
    server.patch("Patient/a", &json!([])).expect(410);
}

#[test]
fn content_type_and_version_of_a_patch_are_checked() {
    let mut server = Server::with_dataset(&[patient("a", "Ada")]);
    server.with("PATCH", "Patient/a", &[], &json!([])).expect(415);
    let body = json!([{"op": "add", "path": "/active", "value": true}]).to_string();
    let kind = ("content-type", "application/json-patch+json");
    server.request("PATCH", "Patient/a", &[kind, ("if-match", "W/\"2\"")], body.as_bytes()).expect(412);
    server.request("PATCH", "Patient/a", &[kind, ("if-match", "W/\"1\"")], body.as_bytes()).expect(200);
    server.request("PATCH", "Patient/a", &[kind], b"").expect(400);
}
