//! The actions of a suggestion (CDS Hooks 2.0, "Action"), and the FHIR transaction that applies them.

use fhir::ResourceType;
use model::FieldErrors;
use serde_json::{Value, json};

use super::json_object::{JsonObject, UnknownMembers};

const ACTION: [&str; 5] = ["type", "description", "resource", "resourceId", "extension"];

/// `is_shown` is false for system actions, which need no description.
pub(super) fn check_action(errors: &mut FieldErrors, action: &Value, is_shown: bool, unknown: UnknownMembers) {
    let Some(action) = JsonObject::of(errors, action, &ACTION, unknown) else { return };
    action.one_of(errors, "type", &["create", "update", "delete"], true);
    if let Some(text) = action.text(errors, "description", is_shown) {
        errors.length("description", text, 1..=10_000);
    }
    match action.get("type").and_then(Value::as_str) {
        Some("create") => check_resource(errors, &action, false),
        Some("update") => check_resource(errors, &action, true),
        Some("delete") => check_target(errors, &action),
        _ => {}
    }
}

/// Checks the type and id. The FHIR server validates the resource when the suggestion is accepted.
fn check_resource(errors: &mut FieldErrors, action: &JsonObject<'_>, has_id: bool) {
    let Some(resource) = action.get("resource") else {
        return errors.add("resource", "is required and must be a FHIR resource");
    };
    if resource["resourceType"].as_str().and_then(ResourceType::named).is_none() {
        errors.add("resource", "must be a FHIR R4 resource, with its `resourceType`");
    } else if has_id && !resource["id"].as_str().is_some_and(fhir::is_id) {
        errors.add("resource", "must have the `id` of the resource that is updated");
    }
}

fn check_target(errors: &mut FieldErrors, action: &JsonObject<'_>) {
    if target(action.get("resourceId"), action.get("resource")).is_none() {
        errors.add("resourceId", "must be a relative reference to the resource, such as `ServiceRequest/1`");
    }
}

/// The reference of a deletion. Older services send it in `resource`.
fn target(resource_id: Option<&Value>, resource: Option<&Value>) -> Option<String> {
    let text = resource_id.or(resource)?.as_str()?;
    let (kind, id) = text.split_once('/')?;
    (ResourceType::named(kind).is_some() && fhir::is_id(id)).then(|| text.to_owned())
}

/// The actions as one FHIR transaction: the standard requires that all or none are applied.
pub(super) fn transaction(actions: &[Value]) -> Value {
    let entry = |action: &Value| {
        let resource = &action["resource"];
        let kind = resource["resourceType"].as_str().unwrap_or_default();
        match action["type"].as_str() {
            Some("create") => json!({"resource": resource, "request": {"method": "POST", "url": kind}}),
            Some("update") => {
                let url = format!("{kind}/{}", resource["id"].as_str().unwrap_or_default());
                json!({"resource": resource, "request": {"method": "PUT", "url": url}})
            }
            _ => {
                let url = target(action.get("resourceId"), action.get("resource")).unwrap_or_default();
                json!({"request": {"method": "DELETE", "url": url}})
            }
        }
    };
    json!({"resourceType": "Bundle", "type": "transaction", "entry": actions.iter().map(entry).collect::<Vec<_>>()})
}
