//! update, including update as create (<https://hl7.org/fhir/R4/http.html#update>).

use fhir::ResourceType;
use serde_json::Value;

use super::interaction_context::InteractionContext;
use super::outcome::{FhirError, excerpt};
use super::reply::Reply;
use super::{preconditions, write};

pub(crate) fn update(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    id: &str,
    body: &Value,
) -> Result<Reply, FhirError> {
    check_id(resource_type, id, body)?;
    preconditions::check_write(&context.conditions, &context.records.get(resource_type.as_str(), id))?;
    let resource = write::prepared(context, resource_type, body)?;
    Ok(write::put(context, resource_type, id, resource))
}

/// The id of the body must match the URL.
fn check_id(resource_type: ResourceType, id: &str, body: &Value) -> Result<(), FhirError> {
    let message = match body.get("id").and_then(Value::as_str) {
        Some(given) if given == id => return Ok(()),
        Some(given) => format!("the URL is {resource_type}/{id}, but the id is {}", excerpt(given)),
        None => format!("the resource must have the id `{id}` of the URL"),
    };
    Err(FhirError::bad("invalid", message).at(&format!("{resource_type}.id")))
}
