//! patch with JSON Patch or FHIRPath Patch (<https://hl7.org/fhir/R4/http.html#patch>). All operations succeed or none.

use fhir::ResourceType;
use serde_json::Value;

use super::fhirpath_patch::PatchError;
use super::interaction_context::InteractionContext;
use super::outcome::FhirError;
use super::read::live;
use super::reply::{Reply, ReplyContent};
use super::scopes::Permission;
use super::{depth, fhirpath_patch, json_patch, preconditions, write};

pub(crate) fn patch(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    id: &str,
    body: &Value,
) -> Result<Reply, FhirError> {
    let current = context.records.get(resource_type.as_str(), id);
    preconditions::check_write(&context.conditions, &current)?;
    let record = live(resource_type, id, current)?;
    let mut resource = Value::clone(&record.json());
    if body["resourceType"] == "Parameters" {
        fhirpath_patch::apply(&mut resource, body, context.now()).map_err(|error| match error {
            PatchError::Malformed(reason) => FhirError::bad("invalid", reason),
            PatchError::Inapplicable(reason) => FhirError::new(422, "processing", reason),
        })?;
    } else {
        let operations = json_patch::parse(body).map_err(|reason| FhirError::bad("invalid", reason))?;
        json_patch::apply(&mut resource, &operations).map_err(|reason| FhirError::new(422, "processing", reason))?;
    }
    depth::check(&resource)?;
    prune(&mut resource);
    for (name, unchanged) in [("resourceType", resource_type.as_str()), ("id", id)] {
        if resource.get(name).and_then(Value::as_str) != Some(unchanged) {
            let message = format!("a patch cannot change the {name} of a resource");
            return Err(FhirError::new(422, "business-rule", message).at(&format!("{resource_type}.{name}")));
        }
    }
    let resource = write::prepared(context, resource_type, &resource)?;
    let mut reply = write::put(context, resource_type, id, resource);
    if !context.may(Permission::Read, resource_type) && matches!(reply.content, ReplyContent::Written { .. }) {
        // The response to a patch must not reveal the resource to clients without read access.
        reply.content = ReplyContent::None;
    }
    Ok(reply)
}

/// Removes empty arrays and objects, which FHIR does not allow.
fn prune(value: &mut Value) {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    match value {
        Value::Array(items) => {
            items.iter_mut().for_each(prune);
            items.retain(|item| !is_empty(item));
        }
        Value::Object(fields) => {
            fields.values_mut().for_each(prune);
            fields.retain(|_, value| !is_empty(value));
        }
        _ => {}
    }
}
