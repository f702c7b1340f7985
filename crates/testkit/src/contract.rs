//! Validates responses against the OpenAPI document: an undocumented response fails the test.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use jsonschema::Validator;
use reqwest::Method;
use serde_json::{Value, json};

use crate::TestResponse;

pub struct Contract {
    document: Value,
    /// Compiled validators by schema: compiling one takes longer than the request that it validates.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Contract {
    pub fn load() -> Self {
        Self { document: server::openapi_document(), validators: Mutex::default() }
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

    /// Panics unless the document lists the status for this operation and the body matches its schema.
    pub fn check(&self, method: &Method, path: &str, response: &TestResponse) {
        let Some(operation) = self.operation(method, path) else { return };
        if [404, 405, 304].contains(&response.status) {
            return;
        }
        let documented = &operation["responses"][response.status.to_string()];
        assert!(
            documented.is_object(),
            "{method} {path}: status {} is not documented: {}",
            response.status,
            response.text()
        );
        let media = response.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default();
        let Some(content) = documented["content"].as_object() else {
            assert!(response.body.is_empty(), "{method} {path}: a body where none is documented");
            return;
        };
        let any_bytes = content.contains_key("*/*");
        let is_compressed = response.header("content-encoding").is_some();
        if any_bytes || is_compressed || !media.ends_with("json") || media.contains("ndjson") {
            return;
        }
        let schema =
            &content.get(media).unwrap_or_else(|| panic!("{method} {path}: {media} is not documented"))["schema"];
        let errors: Vec<String> = self
            .validator(schema)
            .iter_errors(&response.json)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{method} {path}: {errors:?} in {}", response.text());
    }

    /// Whether a value is valid against a schema of the document.
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
        // The pattern with the fewest variables wins.
        let mut matching: Vec<&String> = paths.keys().filter(|pattern| matches_pattern(pattern, path)).collect();
        matching.sort_by_key(|pattern| pattern.matches('{').count());
        let operation = &paths[*matching.first()?][method.as_str().to_lowercase()];
        operation.is_object().then_some(operation)
    }
}

fn matches_pattern(pattern: &str, path: &str) -> bool {
    let (mut pattern_segments, mut path_segments) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern_segments.next(), path_segments.next()) {
            (None, None) => return true,
            (Some("{path}"), Some(_)) => return true,
            (Some(expected), Some(actual))
                if expected == actual || (expected.starts_with('{') && !actual.is_empty()) => {}
            _ => return false,
        }
    }
}
