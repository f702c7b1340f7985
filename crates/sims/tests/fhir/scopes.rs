//! Scopes of tokens, in all interactions.

use serde_json::json;

use crate::harness::{Server, entry, observation, patient};

fn server(scopes: &str) -> Server {
    let mut server = Server::with_dataset(&[patient("a", "Ada"), observation("o", "a", "1")]);
    server.with_scopes(scopes);
    server
}

#[test]
fn each_interaction_needs_its_permission() {
    for (letters, method, address) in [
        ("r", "GET", "Patient/a"),
        ("r", "GET", "Patient/a/_history"),
        ("r", "GET", "Patient/a/_history/1"),
        ("s", "GET", "Patient?name=ada"),
        ("s", "GET", "Patient/_history"),
        ("c", "POST", "Patient"),
        ("u", "PUT", "Patient/a"),
        ("u", "PATCH", "Patient/a"),
        ("d", "DELETE", "Patient/a"),
        ("us", "PUT", "Patient?name=ada"),
        ("ds", "DELETE", "Patient?name=ada"),
    ] {
        let send = |server: &mut Server| match method {
            "PATCH" => server.patch(address, &json!([])),
            "GET" | "DELETE" => server.request(method, address, &[], b""),
            _ => server.with(method, address, &[], &patient("a", "Ada")),
        };
        let allowed = send(&mut server(&format!("system/Patient.{letters}")));
        assert!(allowed.status < 300, "{method} {address}: {}", allowed.text);
        for missing in letters.chars() {
            let others: String = "cruds".chars().filter(|letter| *letter != missing).collect();
            let rejected = send(&mut server(&format!("system/Patient.{others} system/Observation.cruds"))).expect(403);
            assert_eq!(rejected.body["issue"][0]["code"], "forbidden");
        }
    }
}

#[test]
fn chains_and_includes_respect_scopes() {
    let mut only_observations = server("system/Observation.rs");
    let found = only_observations.get("Observation?_include=Observation:subject&_include=*").expect(200);
    assert_eq!(found.entries(), ["Observation/o"]);
    only_observations.get("Observation?subject:Patient.name=ada").expect(403);
    only_observations.get("Observation?subject.name=ada").expect(403);
    assert_eq!(only_observations.get("_history").expect(200).body["total"], 1);
    let mut only_patients = server("system/Patient.rs");
    only_patients.get("Patient?_has:Observation:subject:code=1").expect(403);
    assert_eq!(only_patients.get("Patient?_revinclude=Observation:subject").expect(200).entries(), ["Patient/a"]);
    server("").get("_history").expect(403);
    server("").get("metadata").expect(200);
}

#[test]
fn the_response_to_a_patch_needs_read_access() {
    let mut writer = server("system/Patient.u");
    assert_eq!(writer.patch("Patient/a", &json!([])).expect(200).text, "");
}

#[test]
fn bundle_entries_respect_scopes() {
    let mut reader = server("system/Patient.rs");
    let write = entry("PUT", "Patient/a", Some(patient("a", "B")));
    assert_eq!(reader.transaction(std::slice::from_ref(&write)).expect(403).expression(), "Bundle.entry[0]");
    let batch = json!({"resourceType": "Bundle", "type": "batch", "entry": [
        write, entry("GET", "Patient/a", None), entry("GET", "Observation/o", None)]});
    let answer = reader.post("", &batch).expect(200);
    let statuses: Vec<_> =
        answer.body["entry"].as_array().unwrap().iter().map(|it| it["response"]["status"].clone()).collect();
    assert_eq!(statuses, ["403 Forbidden", "200 OK", "403 Forbidden"]);
    let mut creator = server("system/Observation.c");
    let mut conditional = observation("x", "a", "1");
    conditional["subject"] = json!({"reference": "Patient?name=ada"});
    creator.transaction(&[entry("POST", "Observation", Some(conditional))]).expect(403);
}
