//! The scenario step `fhir`: writes resources to the FHIR server, at the start of a task or later.

use fhir::ResourceType;
use model::FieldErrors;
use model::reading::described;
use model::template::is_template;
use serde::Deserialize;
use serde_json::{Value, json};

use super::bundle::MAX_ENTRIES;
use super::load;
use crate::authored::Authored;
use crate::registry::StepInfo;
use crate::scenario::step::{ScenarioStep, StepContext, StepOutput};

pub(crate) const LOAD_BUNDLE: StepInfo = StepInfo::of::<LoadBundle>(
    "fhir",
    "Applies a Bundle of type transaction, batch or collection to the FHIR server",
    || {
        json!({"do": "fhir", "after_seconds": 60, "bundle": {
            "resourceType": "Bundle",
            "type": "transaction",
            "entry": [{
                "resource": {
                    "resourceType": "Observation",
                    "status": "final",
                    "code": {"text": "Potassium"},
                    "subject": {"reference": "{{entity.ref}}"},
                    "valueQuantity": {"value": 6.1, "unit": "mmol/L"},
                },
                "request": {"method": "POST", "url": "Observation"},
            }],
        }})
    },
);

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadBundle {
    pub bundle: Value,
}

impl Authored for LoadBundle {
    fn validate(&self, errors: &mut FieldErrors) {
        errors.inside("bundle", |errors| check_bundle(&self.bundle, errors));
    }
}

impl ScenarioStep for LoadBundle {
    fn execute(&self, context: &StepContext<'_>) -> Result<StepOutput, FieldErrors> {
        load::load(context, &self.bundle)
    }
}

fn check_bundle(bundle: &Value, errors: &mut FieldErrors) {
    if !bundle.is_object() {
        return errors.add("", format!("must be an object, is {}", described(bundle)));
    }
    if bundle["resourceType"] != "Bundle" {
        errors.add("resourceType", "must be `Bundle`");
    }
    let with_requests = match bundle["type"].as_str() {
        Some("transaction" | "batch") => true,
        Some("collection") => false,
        _ => return errors.add("type", "must be `transaction`, `batch` or `collection`"),
    };
    match bundle.get("entry") {
        None => {}
        Some(Value::Array(entries)) => errors.each("entry", entries, MAX_ENTRIES, |entry, errors| {
            check_entry(entry, with_requests, errors);
        }),
        Some(other) => errors.add("entry", format!("must be a list, is {}", described(other))),
    }
}

fn check_entry(entry: &Value, with_requests: bool, errors: &mut FieldErrors) {
    if !entry.is_object() {
        return errors.add("", format!("must be an object, is {}", described(entry)));
    }
    let needs_resource = !with_requests || check_request(&entry["request"], errors);
    match entry.get("resource") {
        Some(resource) => match resource["resourceType"].as_str() {
            Some(kind) if is_template(kind) || kind.parse::<ResourceType>().is_ok() => {}
            _ => errors.add("resource.resourceType", "must be a resource type of FHIR R4"),
        },
        None if needs_resource => errors.add("resource", "is required"),
        None => {}
    }
}

/// Whether the request needs a resource.
fn check_request(request: &Value, errors: &mut FieldErrors) -> bool {
    if request["url"].as_str().is_none_or(|url| url.is_empty()) {
        errors.add("request.url", "must be a relative address such as `Patient`");
    }
    match request["method"].as_str() {
        Some("POST" | "PUT" | "PATCH") => true,
        Some("DELETE" | "GET" | "HEAD") => false,
        _ => {
            errors.add("request.method", "must be one of GET, HEAD, POST, PUT, DELETE, PATCH");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authored;

    #[test]
    fn bundles_are_validated() {
        let patient = json!({"resourceType": "Patient"});
        for (bundle, field) in [
            (json!({"resourceType": "Bundle", "type": "collection"}), ""),
            (json!({"resourceType": "Bundle", "type": "collection", "entry": [{"resource": patient}]}), ""),
            (
                json!({"resourceType": "Bundle", "type": "batch", "entry": [
                    {"request": {"method": "DELETE", "url": "Patient/1"}}]}),
                "",
            ),
            (json!([]), "bundle"),
            (json!("{{entity.bundle}}"), "bundle"),
            (json!({"resourceType": "Patient", "type": "batch"}), "bundle.resourceType"),
            (json!({"resourceType": "Bundle", "type": "history"}), "bundle.type"),
            (json!({"resourceType": "Bundle"}), "bundle.type"),
            (json!({"resourceType": "Bundle", "type": "batch", "entry": {}}), "bundle.entry"),
            (json!({"resourceType": "Bundle", "type": "batch", "entry": vec![1; 10_001]}), "bundle.entry"),
            (json!({"resourceType": "Bundle", "type": "batch", "entry": [1]}), "bundle.entry.0"),
            (json!({"resourceType": "Bundle", "type": "collection", "entry": [{}]}), "bundle.entry.0.resource"),
            (
                json!({"resourceType": "Bundle", "type": "collection", "entry": [{"resource": []}]}),
                "bundle.entry.0.resource.resourceType",
            ),
            (
                json!({"resourceType": "Bundle", "type": "transaction", "entry": [{"resource": patient}]}),
                "bundle.entry.0.request.method",
            ),
            (
                json!({"resourceType": "Bundle", "type": "transaction", "entry": [
                    {"request": {"method": "PUT", "url": "Patient/1"}}]}),
                "bundle.entry.0.resource",
            ),
        ] {
            let errors = authored::check::<LoadBundle>(&json!({ "bundle": bundle })).err().unwrap_or_default();
            assert_eq!(errors.iter().next().map_or("", |(name, _)| name), field, "{errors}");
        }
    }

    #[test]
    fn decimals_keep_their_digits() {
        let step: Value = serde_json::from_str(
            r#"{"bundle": {"resourceType": "Bundle", "type": "collection",
                "entry": [{"resource": {"resourceType": "Observation", "value": 6.10}}]}}"#,
        )
        .unwrap();
        let typed = authored::read::<LoadBundle>(&step).unwrap();
        assert_eq!(typed.bundle["entry"][0]["resource"]["value"].to_string(), "6.10");
    }
}
