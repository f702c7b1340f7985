//! Generates JSON Schemas of assertions from the catalog of checks, for editors and the OpenAPI document.

use serde_json::{Map, Value, json};

use crate::checks::CheckInfo;
use crate::manual::ParameterDefault;

/// The parameters of a check with their descriptions and defaults, and which of them are required.
pub fn parameters(check: &CheckInfo) -> (Map<String, Value>, Vec<&'static str>) {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in check.parameters {
        let mut schema = json!({"description": parameter.description});
        match parameter.default {
            ParameterDefault::Required if parameter.aliases.is_empty() => required.push(parameter.name),
            ParameterDefault::Value(default) => {
                schema["default"] = serde_json::from_str(default).unwrap_or_else(|_| json!(default));
            }
            _ => {}
        }
        for name in parameter.aliases.iter().chain([&parameter.name]) {
            properties.insert((*name).to_owned(), schema.clone());
        }
    }
    (properties, required)
}
