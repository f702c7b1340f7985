//! Stored search parameters: limits, and the CapabilityStatement.

use serde_json::{Value, json};

use crate::harness::{Server, entry};

fn parameter(id: &str, base: &str, kind: &str, expression: &str) -> Value {
    json!({"resourceType": "SearchParameter", "id": id, "url": format!("urn:{id}"), "name": "Own", "status": "active",
        "description": "Own", "code": id, "base": [base], "type": kind, "expression": expression})
}

/// Patients with this total size in bytes.
fn patients(bytes: usize) -> Vec<Value> {
    let patient = |id: &str, of: &str| {
        json!({"resourceType": "Patient", "id": id, "name": [{"family": "x".repeat(bytes / 2)}],
            "extension": [{"url": "urn:of", "valueReference": {"reference": format!("Patient/{of}")}}]})
    };
    vec![patient("a", "b"), patient("b", "a")]
}

fn linked() -> Value {
    let mut linked = parameter("linked", "Patient", "reference", "Patient.extension('urn:of').value");
    linked["target"] = json!(["Patient"]);
    linked
}

#[test]
fn the_searches_of_a_batch_share_one_budget() {
    let mut server = Server::with_dataset(&patients(300_000));
    let conditions = vec!["use = 'a'"; 250].join(" or ");
    let costly = parameter("costly", "Patient", "string", &format!("Patient.name.where({conditions}).family"));
    server.put("SearchParameter/costly", &costly).expect(201);
    server.get("Patient?costly=x").expect(200);
    server.get("Patient?costly=x&costly:missing=true&_sort=costly").expect(200);
    let rejected = server.get("Patient?costly=x&costly=y&costly=z&_sort=costly").expect(400);
    assert_eq!(rejected.body["issue"][0]["code"], "too-costly");
    let search = entry("GET", "Patient?costly=x", None);
    let mut create = entry("POST", "Patient", Some(json!({"resourceType": "Patient"})));
    create["request"]["ifNoneExist"] = json!("costly=x");
    let entries = [search.clone(), search.clone(), search.clone(), search, create, entry("GET", "Patient/a", None)];
    let batch = json!({"resourceType": "Bundle", "type": "batch", "entry": entries});
    let answer = server.post("", &batch).expect(200);
    let statuses: Vec<_> = (0..6).map(|at| answer.body["entry"][at]["response"]["status"].clone()).collect();
    let expected = ["200 OK", "200 OK", "200 OK", "400 Bad Request", "400 Bad Request", "200 OK"];
    assert_eq!(statuses, expected);
}

#[test]
fn includes_are_read_once_for_any_scopes() {
    let mut server = Server::with_dataset(&patients(400_000));
    server.put("SearchParameter/linked", &linked()).expect(201);
    for scopes in ["system/*.cruds", "system/Patient.rs"] {
        server.with_scopes(scopes);
        for include in ["_include", "_revinclude", "_revinclude:iterate"] {
            let found = server.get(&format!("Patient?_id=a&{include}=Patient:linked")).expect(200);
            assert_eq!(found.entries(), ["Patient/a", "include Patient/b"], "{scopes} {include}");
        }
    }
    server.with_scopes("system/*.rs");
    server.get("?_id=a&_type=Patient,Group,Person&_revinclude=Patient:linked").expect(200);
    server.with_scopes("system/Observation.rs");
    server.get("Observation?_include=Patient:linked").expect(200);
}

#[test]
fn the_types_of_all_parameters_are_limited() {
    let mut server = Server::new();
    for id in ["a", "b", "c", "d", "e", "f"] {
        let everywhere = parameter(id, "DomainResource", "token", "DomainResource.language");
        server.put(&format!("SearchParameter/{id}"), &everywhere).expect(201);
    }
    let one_more = parameter("g", "DomainResource", "token", "DomainResource.language");
    assert_eq!(server.put("SearchParameter/g", &one_more).expect(422).expression(), "SearchParameter.base");
    server.put("SearchParameter/g", &parameter("g", "Patient", "token", "Patient.language")).expect(201);
    let deep = format!("extension.value{}", ".extension".repeat(30));
    let deep = parameter("a", "DomainResource", "token", &deep);
    assert_eq!(server.put("SearchParameter/a", &deep).expect(422).expression(), "SearchParameter.expression");
}

#[test]
fn the_capability_statement_lists_stored_includes() {
    let mut server = Server::with_dataset(&[linked()]);
    let statement = server.get("metadata").expect(200).body;
    let resources = statement["rest"][0]["resource"].as_array().unwrap();
    let patient = resources.iter().find(|resource| resource["type"] == "Patient").unwrap();
    for (name, value) in [("searchInclude", "Patient:linked"), ("searchRevInclude", "Patient:linked")] {
        assert!(patient[name].as_array().unwrap().contains(&json!(value)), "{name}");
    }
    let listed =
        patient["searchParam"].as_array().unwrap().iter().find(|parameter| parameter["name"] == "linked").unwrap();
    assert_eq!(listed, &json!({"name": "linked", "definition": "urn:linked", "type": "reference"}));
}
