//! patch with JSON Patch or FHIRPath Patch (<https://hl7.org/fhir/R4/http.html#patch>): all of it or nothing.

use fhir::ResourceType;
use serde_json::Value;

use super::call::Call;
use super::fhirpath_patch::PatchError;
use super::outcome::Refusal;
use super::read::live;
use super::reply::{Content, Reply};
use super::scopes::Permission;
use super::{depth, fhirpath_patch, json_patch, preconditions, write};

pub(crate) fn patch(call: &Call<'_>, resource_type: ResourceType, id: &str, body: &Value) -> Result<Reply, Refusal> {
    let current = call.records.get(resource_type.as_str(), id);
    preconditions::check_write(&call.conditions, &current)?;
    let record = live(resource_type, id, current)?;
    let mut resource = Value::clone(&record.json());
    if body["resourceType"] == "Parameters" {
        fhirpath_patch::apply(&mut resource, body, call.now()).map_err(|error| match error {
            PatchError::Malformed(reason) => Refusal::bad("invalid", reason),
            PatchError::Inapplicable(reason) => Refusal::new(422, "processing", reason),
        })?;
    } else {
        let operations = json_patch::parse(body).map_err(|reason| Refusal::bad("invalid", reason))?;
        json_patch::apply(&mut resource, &operations).map_err(|reason| Refusal::new(422, "processing", reason))?;
    }
    depth::check(&resource)?;
    prune(&mut resource);
    for (name, kept) in [("resourceType", resource_type.as_str()), ("id", id)] {
        if resource.get(name).and_then(Value::as_str) != Some(kept) {
            let message = format!("a patch cannot change the {name} of a resource");
            return Err(Refusal::new(422, "business-rule", message).at(&format!("{resource_type}.{name}")));
        }
    }
    let resource = write::prepared(call, resource_type, &resource)?;
    let mut reply = write::put(call, resource_type, id, resource);
    if !call.may(Permission::Read, resource_type) && matches!(reply.content, Content::Written { .. }) {
        // Who may only write must not read by patching.
        reply.content = Content::None;
    }
    Ok(reply)
}

/// Takes away what a patch left empty: in FHIR there are no empty lists and objects.
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
