//! create and conditional create (<https://hl7.org/fhir/R4/http.html#create>).

use fhir::ResourceType;
use serde_json::Value;
use world::Record;

use super::conditional::{CriteriaMatch, find_text};
use super::interaction_context::InteractionContext;
use super::outcome::FhirError;
use super::reply::{Reply, ReplyContent, version_name};
use super::scopes::Permission;
use super::write;

pub(crate) fn create(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    body: &Value,
) -> Result<Reply, FhirError> {
    if let Some(criteria) = &context.conditions.if_none_exist {
        match find_text(context, resource_type, criteria)? {
            CriteriaMatch::None => {}
            CriteriaMatch::One(id) => return existing(context, resource_type, &id),
            CriteriaMatch::Many => return Err(multiple_matches(resource_type)),
        }
    }
    let ignored = context.ignored_parameters(&[])?;
    Ok(with_id(context, resource_type, &(context.world_context.new_id)(), body)?.warning(&ignored))
}

/// Creates a resource with an id chosen by the server. The id in the body is ignored.
pub(crate) fn with_id(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    id: &str,
    body: &Value,
) -> Result<Reply, FhirError> {
    let resource = write::prepared(context, resource_type, body)?;
    Ok(write::put(context, resource_type, id, resource))
}

/// The response if the resource already exists.
pub(crate) fn existing(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    id: &str,
) -> Result<Reply, FhirError> {
    let found = context.records.get(resource_type.as_str(), id).live();
    let record: Record<'_> = found.ok_or_else(|| FhirError::not_found(format!("{resource_type}/{id} is gone")))?;
    let name = version_name(&record);
    let content = match context.may(Permission::Read, resource_type) {
        true => ReplyContent::Version { text: record.text().into_owned(), name: name.clone() },
        false => ReplyContent::None,
    };
    let content = context.preferred(content, "a matching resource already exists; nothing was created");
    let mut reply = Reply::new(200, content).versioned(record.version, record.at);
    reply.headers.push(("location", format!("{}/{name}", context.base_url)));
    Ok(reply)
}

pub(crate) fn multiple_matches(resource_type: ResourceType) -> FhirError {
    let message = format!("the criteria match several resources of type {resource_type}; they must match at most one");
    FhirError::precondition("multiple-matches", message)
}
