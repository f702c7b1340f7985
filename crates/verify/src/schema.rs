//! JSON Schemas of assertions, from the catalogue of checks: for editors of benchmark files and for the API's description.

use serde_json::{Map, Value, json};

use crate::checks::CheckInfo;
use crate::manual::Without;

/// The parameters of a check with their descriptions and defaults, and which of them are required.
pub fn parameters(check: &CheckInfo) -> (Map<String, Value>, Vec<&'static str>) {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for member in check.members {
        let mut about = json!({"description": member.about});
        match member.without {
            Without::Fault if member.also.is_empty() => required.push(member.name),
            Without::Value(default) => {
                about["default"] = serde_json::from_str(default).unwrap_or_else(|_| json!(default));
            }
            _ => {}
        }
        for name in member.also.iter().chain([&member.name]) {
            properties.insert((*name).to_owned(), about.clone());
        }
    }
    (properties, required)
}
