//! delete (<https://hl7.org/fhir/R4/http.html#delete>). Deleting a missing resource succeeds.

use fhir::ResourceType;
use world::{Change, Lookup, Write};

use super::interaction_context::{InteractionContext, Returns};
use super::outcome::{FhirError, Issue, operation_outcome};
use super::preconditions;
use super::reply::{Reply, ReplyContent};

pub(crate) fn delete(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    id: &str,
) -> Result<Reply, FhirError> {
    let collection = resource_type.as_str();
    let current = context.records.get(collection, id);
    preconditions::check_write(&context.conditions, &current)?;
    let Lookup::Live(record) = current else {
        return Ok(delete_reply(context, &format!("there is no {resource_type}/{id}")));
    };
    let version = record.version + 1;
    let mut reply = delete_reply(context, &format!("deleted {resource_type}/{id}"));
    reply.headers.push(("etag", super::reply::etag(version)));
    reply.changes.push(Change {
        sandbox: context.sandbox.id.clone(),
        collection: collection.into(),
        key: id.into(),
        version,
        at: context.now(),
        write: Write::Delete,
        text: None,
    });
    Ok(reply)
}

/// Deletes the matches of a conditional delete.
pub(crate) fn delete_all(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    ids: &[String],
) -> Result<Reply, FhirError> {
    match ids {
        [] => Ok(delete_reply(context, "the criteria match nothing")),
        [id] => delete(context, resource_type, id),
        ids => {
            let mut reply = delete_reply(context, &format!("deleted {} resources of type {resource_type}", ids.len()));
            for id in ids {
                reply.changes.extend(delete(context, resource_type, id)?.changes);
            }
            Ok(reply)
        }
    }
}

/// The reply to a delete.
pub(crate) fn delete_reply(context: &InteractionContext<'_>, done: &str) -> Reply {
    match context.prefer.returns {
        Some(Returns::Outcome) => {
            Reply::new(200, ReplyContent::Generated(operation_outcome(&[Issue::information(done)])))
        }
        _ => Reply::new(204, ReplyContent::None),
    }
}
