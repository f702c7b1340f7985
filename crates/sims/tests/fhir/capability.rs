//! `/metadata` and the SMART configuration.

use serde_json::{Value, json};

use crate::harness::{BASE, Server};

#[test]
fn the_capability_statement_is_valid_and_accurate() {
    let mut server = Server::new();
    let statement = server.get("metadata").expect(200).body;
    fhir::validate(&statement).unwrap();
    let resources = statement["rest"][0]["resource"].as_array().unwrap();
    assert_eq!(resources.len(), 145);
    for resource in resources {
        let name = resource["type"].as_str().unwrap();
        for parameter in resource["searchParam"].as_array().unwrap() {
            let code = parameter["name"].as_str().unwrap();
            let address = format!("{name}?{code}:missing=true");
            let known = server.get_with(&address, &[("prefer", "handling=strict")]);
            assert_eq!(known.status, 200, "{address}: {}", known.text);
        }
    }
    let patient = resources.iter().find(|resource| resource["type"] == "Patient").unwrap();
    let has = |name: &str, value: &str| patient[name].as_array().unwrap().contains(&Value::from(value));
    assert!(has("searchInclude", "Patient:organization") && has("searchRevInclude", "Observation:subject"));
    assert_eq!(patient["operation"][1]["name"], "everything");
    server.get("metadata?mode=terminology").expect(404);
    server.get("metadata?mode=full&_format=json").expect(200);
    server.post("metadata", &json!({})).expect(405);
}

#[test]
fn the_token_endpoint_is_published() {
    let mut server = Server::new();
    let answer = server.get(".well-known/smart-configuration").expect(200);
    assert_eq!(answer.body["token_endpoint"], format!("{BASE}/auth/token"));
    assert_eq!(answer.header("content-type"), "application/json");
}
