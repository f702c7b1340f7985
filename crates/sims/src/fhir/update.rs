//! update, also as create (<https://hl7.org/fhir/R4/http.html#update>).

use fhir::ResourceType;
use serde_json::Value;

use super::call::Call;
use super::outcome::{Refusal, excerpt};
use super::reply::Reply;
use super::{preconditions, write};

pub(crate) fn update(call: &Call<'_>, resource_type: ResourceType, id: &str, body: &Value) -> Result<Reply, Refusal> {
    check_id(resource_type, id, body)?;
    preconditions::check_write(&call.conditions, &call.records.get(resource_type.as_str(), id))?;
    let resource = write::prepared(call, resource_type, body)?;
    Ok(write::put(call, resource_type, id, resource))
}

/// The body must name the resource that the address names.
fn check_id(resource_type: ResourceType, id: &str, body: &Value) -> Result<(), Refusal> {
    let message = match body.get("id").and_then(Value::as_str) {
        Some(given) if given == id => return Ok(()),
        Some(given) => format!("the address is {resource_type}/{id}, but the id is {}", excerpt(given)),
        None => format!("the resource must have the id `{id}` of its address"),
    };
    Err(Refusal::bad("invalid", message).at(&format!("{resource_type}.id")))
}
