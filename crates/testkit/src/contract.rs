//! The OpenAPI document as a judge: an answer that it does not describe fails the test that got it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use jsonschema::Validator;
use reqwest::Method;
use serde_json::{Value, json};

use crate::Answer;

pub struct Contract {
    document: Value,
    /// By schema: compiling one takes longer than the request that it judges.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Contract {
    pub fn load() -> Self {
        let document = serde_json::to_value(server::openapi_document()).unwrap();
        Self { document, validators: Mutex::default() }
    }

    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Every method and path pattern of the API.
    pub fn operations(&self) -> Vec<(Method, String)> {
        let mut operations = Vec::new();
        for (path, item) in self.document["paths"].as_object().unwrap() {
            for method in item.as_object().unwrap().keys() {
                let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
                operations.push((method, path.clone()));
            }
        }
        operations
    }

    /// Fails unless the document lists the status for this operation and the body has the shape that it promises.
    pub fn check(&self, method: &Method, path: &str, answer: &Answer) {
        let Some(operation) = self.operation(method, path) else { return };
        if [404, 405, 304].contains(&answer.status) {
            return;
        }
        let described = &operation["responses"][answer.status.to_string()];
        assert!(described.is_object(), "{method} {path}: status {} is not described: {}", answer.status, answer.text());
        let media = answer.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default();
        let Some(content) = described["content"].as_object() else {
            assert!(answer.body.is_empty(), "{method} {path}: a body where none is described");
            return;
        };
        let any_bytes = content.contains_key("*/*");
        let is_packed = answer.header("content-encoding").is_some();
        if any_bytes || is_packed || !media.ends_with("json") || media.contains("ndjson") {
            return;
        }
        let schema =
            &content.get(media).unwrap_or_else(|| panic!("{method} {path}: {media} is not described"))["schema"];
        let faults: Vec<String> = self
            .validator(schema)
            .iter_errors(&answer.json)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{method} {path}: {faults:?} in {}", answer.text());
    }

    /// Whether a value has the shape of a schema of the document.
    pub fn accepts(&self, schema: &Value, value: &Value) -> bool {
        self.validator(schema).is_valid(value)
    }

    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap();
        let compile = || {
            let mut rooted = schema.clone();
            rooted["components"] = json!({"schemas": self.document["components"]["schemas"]});
            Arc::new(jsonschema::validator_for(&rooted).expect("a valid schema"))
        };
        Arc::clone(validators.entry(schema.to_string()).or_insert_with(compile))
    }

    fn operation(&self, method: &Method, path: &str) -> Option<&Value> {
        let path = path.split('?').next()?;
        let paths = self.document["paths"].as_object()?;
        // A pattern without variables is closer than one with them.
        let mut fitting: Vec<&String> = paths.keys().filter(|pattern| fits(pattern, path)).collect();
        fitting.sort_by_key(|pattern| pattern.matches('{').count());
        let operation = &paths[*fitting.first()?][method.as_str().to_lowercase()];
        operation.is_object().then_some(operation)
    }
}

fn fits(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some("{path}"), Some(_)) => return true,
            (Some(want), Some(have)) if want == have || (want.starts_with('{') && !have.is_empty()) => {}
            _ => return false,
        }
    }
}
