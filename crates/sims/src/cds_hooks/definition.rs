//! What a service says of itself (CDS Hooks 2.0, "Discovery").

use std::collections::BTreeMap;

use model::FieldErrors;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::authored::{self, Authored};

/// The members that the standard knows; what else a service says of itself is not kept.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Definition {
    pub hook: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub description: String,
    /// The part of the address that is this service's own.
    pub id: String,
    /// FHIR queries by the names under which their results are sent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prefetch: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_requirements: Option<String>,
}

const KNOWN: [&str; 6] = ["hook", "title", "description", "id", "prefetch", "usageRequirements"];
const MOST_PREFETCH: usize = 50;
const MOST_SERVICES: usize = 100;

impl Authored for Definition {
    fn validate(&self, errors: &mut FieldErrors) {
        check_hook(errors, "hook", &self.hook);
        if let Some(title) = &self.title {
            errors.name("title", title);
        }
        authored::text(errors, "description", &self.description, 5000);
        authored::optional_text(errors, "usageRequirements", self.usage_requirements.as_ref(), 5000);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        let leads_out = self.id == "." || self.id == "..";
        if !(1..=200).contains(&self.id.len()) || !self.id.chars().all(is_plain) || leads_out {
            errors.add("id", "must be 1 to 200 letters, digits, `-`, `.`, `_` or `~`: it is part of an address");
        }
        errors.size("prefetch", self.prefetch.len(), MOST_PREFETCH);
        for (key, template) in self.prefetch.iter().take(MOST_PREFETCH) {
            errors.name("prefetch", key);
            errors.length(&format!("prefetch.{}", model::reading::shortened(key, 80)), template, 1..=2000);
        }
    }
}

/// The name of a hook; anyone may define more than the standard does.
pub(super) fn check_hook(errors: &mut FieldErrors, field: &str, name: &str) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if !(1..=100).contains(&name.len()) || !name.chars().all(is_plain) {
        errors.add(field, "must be the name of a hook, such as `patient-view`");
    }
}

/// The services of the answer to a discovery: `{"services": […]}`.
pub(super) fn discovered(answer: &Value) -> Result<Vec<Definition>, FieldErrors> {
    let Some(services) = answer.get("services").and_then(Value::as_array) else {
        return Err(FieldErrors::one("services", "must be a list of services"));
    };
    let mut errors = FieldErrors::new();
    errors.size("services", services.len(), MOST_SERVICES);
    let mut found = Vec::new();
    for (index, service) in services.iter().take(MOST_SERVICES).enumerate() {
        match authored::read::<Definition>(&known_members(service)) {
            Ok(definition) => found.push(definition),
            Err(faults) => errors.nest(&format!("services.{index}"), faults),
        }
    }
    let ids = found.iter().map(|definition| &definition.id);
    if errors.is_empty() {
        authored::check_unique(&mut errors, "services", "id", ids);
    }
    errors.into_result().map(|()| found)
}

/// A null is a member that is not there.
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
    fn discoveries_are_read_and_faults_are_named() {
        let sound =
            json!({"hook": "patient-view", "id": "a", "description": "Looks", "extension": {"x": 1}, "title": null});
        let found = discovered(&json!({"services": [sound]})).unwrap();
        assert_eq!(
            serde_json::to_value(&found[0]).unwrap(),
            json!({"hook": "patient-view", "description": "Looks", "id": "a"})
        );
        let place = |service: Value, member: &str| {
            let mut other = json!({"hook": "patient-view", "id": "a", "description": "Looks"});
            other[member] = service;
            let faults = discovered(&json!({"services": [other]})).unwrap_err();
            faults.iter().next().map(|(place, _)| place.to_owned()).unwrap()
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
            assert!(place(value.clone(), member.split('.').next().unwrap()).contains(member), "{value} {member}");
        }
        for bad in [
            json!([]),
            json!({}),
            json!({"services": {}}),
            json!({"services": [1]}),
            json!({"services": vec![json!({}); 101]}),
        ] {
            assert!(discovered(&bad).is_err(), "{bad}");
        }
        let twice = json!({"hook": "patient-view", "id": "a", "description": "Looks"});
        assert!(discovered(&json!({"services": [twice, twice]})).is_err());
    }
}
