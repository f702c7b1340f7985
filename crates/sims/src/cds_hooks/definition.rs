//! The definition of a service (CDS Hooks 2.0, "Discovery").

use std::collections::BTreeMap;

use model::FieldErrors;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::authored::{self, Authored};

/// The standard members of a service definition. Other members are dropped.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ServiceDefinition {
    pub hook: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub description: String,
    /// The last segment of the service's URL.
    pub id: String,
    /// FHIR queries by prefetch key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prefetch: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_requirements: Option<String>,
}

const KNOWN: [&str; 6] = ["hook", "title", "description", "id", "prefetch", "usageRequirements"];
const MAX_PREFETCH: usize = 50;
const MAX_SERVICES: usize = 100;

impl Authored for ServiceDefinition {
    fn validate(&self, errors: &mut FieldErrors) {
        check_hook(errors, "hook", &self.hook);
        if let Some(title) = &self.title {
            errors.name("title", title);
        }
        authored::text(errors, "description", &self.description, 5000);
        authored::optional_text(errors, "usageRequirements", self.usage_requirements.as_ref(), 5000);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        let is_relative = self.id == "." || self.id == "..";
        if !(1..=200).contains(&self.id.len()) || !self.id.chars().all(is_plain) || is_relative {
            errors.add("id", "must be 1 to 200 letters, digits, `-`, `.`, `_` or `~`: it is part of a URL");
        }
        errors.size("prefetch", self.prefetch.len(), MAX_PREFETCH);
        for (key, template) in self.prefetch.iter().take(MAX_PREFETCH) {
            errors.name("prefetch", key);
            errors.length(&format!("prefetch.{}", model::reading::shortened(key, 80)), template, 1..=2000);
        }
    }
}

/// Checks the name of a hook. Custom hooks are allowed.
pub(super) fn check_hook(errors: &mut FieldErrors, field: &str, name: &str) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if !(1..=100).contains(&name.len()) || !name.chars().all(is_plain) {
        errors.add(field, "must be the name of a hook, such as `patient-view`");
    }
}

/// Reads the response of a discovery endpoint: `{"services": […]}`.
pub(super) fn read_discovery(answer: &Value) -> Result<Vec<ServiceDefinition>, FieldErrors> {
    let Some(services) = answer.get("services").and_then(Value::as_array) else {
        return Err(FieldErrors::one("services", "must be a list of services"));
    };
    let mut errors = FieldErrors::new();
    errors.size("services", services.len(), MAX_SERVICES);
    let mut definitions = Vec::new();
    for (index, service) in services.iter().take(MAX_SERVICES).enumerate() {
        match authored::read::<ServiceDefinition>(&known_members(service)) {
            Ok(definition) => definitions.push(definition),
            Err(service_errors) => errors.nest(&format!("services.{index}"), service_errors),
        }
    }
    let ids = definitions.iter().map(|definition| &definition.id);
    if errors.is_empty() {
        authored::check_unique(&mut errors, "services", "id", ids);
    }
    errors.into_result().map(|()| definitions)
}

/// The known members that are not null.
fn known_members(service: &Value) -> Value {
    let Some(members) = service.as_object() else { return service.clone() };
    let known = members.iter().filter(|(name, value)| KNOWN.contains(&name.as_str()) && !value.is_null());
    Value::Object(known.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn discovery_responses_are_validated() {
        let valid =
            json!({"hook": "patient-view", "id": "a", "description": "Looks", "extension": {"x": 1}, "title": null});
        let definitions = read_discovery(&json!({"services": [valid]})).unwrap();
        assert_eq!(
            serde_json::to_value(&definitions[0]).unwrap(),
            json!({"hook": "patient-view", "description": "Looks", "id": "a"})
        );
        let error_field = |service: Value, member: &str| {
            let mut other = json!({"hook": "patient-view", "id": "a", "description": "Looks"});
            other[member] = service;
            let errors = read_discovery(&json!({"services": [other]})).unwrap_err();
            errors.iter().next().map(|(field, _)| field.to_owned()).unwrap()
        };
        for (value, member) in [
            (json!("patient view"), "hook"),
            (json!(1), "hook"),
            (json!("../admin"), "id"),
            (json!(".."), "id"),
            (json!(""), "id"),
            (json!(" "), "description"),
            (json!({"a": 1}), "prefetch.a"),
            (json!({"a": ""}), "prefetch.a"),
        ] {
            assert!(error_field(value.clone(), member.split('.').next().unwrap()).contains(member), "{value} {member}");
        }
        for bad in [
            json!([]),
            json!({}),
            json!({"services": {}}),
            json!({"services": [1]}),
            json!({"services": vec![json!({}); 101]}),
        ] {
            assert!(read_discovery(&bad).is_err(), "{bad}");
        }
        let twice = json!({"hook": "patient-view", "id": "a", "description": "Looks"});
        assert!(read_discovery(&json!({"services": [twice, twice]})).is_err());
    }
}
