//! References to the server's own addresses mean the same as relative ones.

use serde_json::{Value, json};

use crate::harness::{BASE, JSON, Server, entry, observation, patient, request};

/// The base URLs under which clients know the sandbox. The last one is given by the request.
const BASES: [&str; 4] = [
    BASE,
    "http://127.0.0.1:8080/sandboxes/sbx_01J00000000000000000000000/fhir",
    "https://proxy.example.org/verial/services/sbx_01J00000000000000000000000/fhir",
    "http://localhost/v1/task-runs/tr_1/sandbox/fhir",
];

impl Server {
    fn send_to(
        &mut self,
        method: &str,
        address: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> crate::harness::ResponseRecord {
        let headers: Vec<_> = headers.iter().copied().chain([JSON]).collect();
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let mut request = request(method, address, &headers, &body);
        request.other_paths = vec!["/v1/task-runs/tr_1/sandbox/fhir".to_owned()];
        self.send(&request)
    }
}

fn referring(id: &str, reference: &str) -> Value {
    let mut resource = observation(id, "x", "8480-6");
    resource["subject"]["reference"] = json!(reference);
    if id.is_empty() {
        resource.as_object_mut().unwrap().shift_remove("id");
    }
    resource
}

#[test]
fn absolute_references_are_found_like_relative_ones() {
    for base in BASES {
        let mut server = Server::with_dataset(&[patient("a", "Ada"), patient("b", "Byron")]);
        let written =
            server.send_to("PUT", "Observation/o", &[], &referring("o", &format!("{base}/Patient/a"))).expect(201);
        assert_eq!(written.body["subject"]["reference"], "Patient/a");
        for search in [
            "Observation?subject=Patient/a".to_owned(),
            "Observation?patient=a".to_owned(),
            format!("Observation?subject={base}/Patient/a"),
            format!("Observation?subject=Patient/z,{base}/Patient/a/_history/1,{base}/Patient/a"),
            "Observation?subject:Patient.name=ada".to_owned(),
            format!("Observation?subject._has:Observation:subject:subject={base}/Patient/a"),
        ] {
            assert_eq!(
                server.send_to("GET", &search, &[], &Value::Null).expect(200).entries(),
                ["Observation/o"],
                "{search}"
            );
        }
        let reverse =
            format!("Patient?_has:Observation:patient:subject={base}/Patient/a&_revinclude=Observation:subject");
        let found = server.send_to("GET", &reverse, &[], &Value::Null).expect(200);
        assert_eq!(found.entries(), ["Patient/a", "include Observation/o"]);
        let included = server.get("Observation?_include=Observation:subject").expect(200);
        assert_eq!(included.entries(), ["Observation/o", "include Patient/a"]);
        assert_eq!(server.get("Patient/a/$everything").expect(200).entries(), ["Patient/a", "Observation/o"]);
    }
}

#[test]
fn conditions_and_bundles_accept_own_addresses() {
    for base in BASES {
        let mut server =
            Server::with_dataset(&[patient("a", "Ada"), patient("b", "Byron"), observation("o", "a", "8480-6")]);
        let criteria = format!("subject={base}/Patient/a");
        let again = server.send_to("POST", "Observation", &[("if-none-exist", &criteria)], &referring("", "Patient/a"));
        again.expect(200);
        let moved = referring("o", &format!("{base}/Patient/b/_history/1"));
        let moved = server.send_to("PUT", &format!("Observation?{criteria}"), &[], &moved).expect(200);
        assert_eq!(moved.body["subject"]["reference"], "Patient/b/_history/1");
        let conditional = referring("", &format!("{base}/Patient?name=ada"));
        let transaction = json!({"resourceType": "Bundle", "type": "transaction", "entry": [
            entry("POST", &format!("{base}/Observation"), Some(conditional)),
            entry("GET", &format!("{base}/Patient/a"), None),
        ]});
        let done = server.send_to("POST", "", &[], &transaction).expect(200);
        assert_eq!(done.body["entry"][0]["response"]["status"], "201 Created");
        assert_eq!(server.get("Observation?subject=Patient/a").expect(200).entries().len(), 1);
        let patch = json!([{"op": "replace", "path": "/subject/reference", "value": format!("{base}/Patient/a")}]);
        let mut sent = request("PATCH", "Observation/o", &[crate::harness::JSON_PATCH], patch.to_string().as_bytes());
        sent.other_paths = vec!["/v1/task-runs/tr_1/sandbox/fhir".to_owned()];
        assert_eq!(server.send(&sent).expect(200).body["subject"]["reference"], "Patient/a");
    }
}

#[test]
fn other_references_are_unchanged() {
    let mut server = Server::new();
    let elsewhere = "https://other.example.org/fhir/Patient/a";
    let kept = server.put("Observation/o", &referring("o", elsewhere)).expect(201);
    assert_eq!(kept.body["subject"]["reference"], elsewhere);
    assert_eq!(server.get(&format!("Observation?subject={elsewhere}")).expect(200).entries(), ["Observation/o"]);
    assert!(server.get("Observation?subject=Patient/a").expect(200).entries().is_empty());
    let address = format!("{BASE}/Patient/a");
    let mut with_identifier = patient("p", "P");
    with_identifier["identifier"] = json!([{"system": format!("{BASE}/NamingSystem/1"), "value": address}]);
    let written = server.put("Patient/p", &with_identifier).expect(201);
    assert_eq!(written.body["identifier"], with_identifier["identifier"]);
    let document = json!({"resourceType": "Bundle", "id": "d", "type": "collection", "entry": [
        {"fullUrl": format!("{BASE}/Observation/1"), "resource": referring("1", &address)}]});
    let written = server.put("Bundle/d", &document).expect(201);
    assert_eq!(written.body["entry"][0]["resource"]["subject"]["reference"], address);
}
