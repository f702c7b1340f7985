//! delete (<https://hl7.org/fhir/R4/http.html#delete>): deleting what is gone, or never was, is fine.

use fhir::ResourceType;
use world::{Change, Lookup, Write};

use super::call::{Call, Returns};
use super::outcome::{Issue, Refusal, operation_outcome};
use super::preconditions;
use super::reply::{Content, Reply};

pub(crate) fn delete(call: &Call<'_>, resource_type: ResourceType, id: &str) -> Result<Reply, Refusal> {
    let collection = resource_type.as_str();
    let current = call.records.get(collection, id);
    preconditions::check_write(&call.conditions, &current)?;
    let Lookup::Live(record) = current else {
        return Ok(deleted(call, &format!("there is no {resource_type}/{id}")));
    };
    let version = record.version + 1;
    let mut reply = deleted(call, &format!("deleted {resource_type}/{id}"));
    reply.headers.push(("etag", super::reply::etag(version)));
    reply.changes.push(Change {
        sandbox: call.sandbox.id.clone(),
        collection: collection.into(),
        key: id.into(),
        version,
        at: call.now(),
        write: Write::Delete,
        text: None,
    });
    Ok(reply)
}

/// Deletes what a condition found: nothing, one resource, or several.
pub(crate) fn delete_all(call: &Call<'_>, resource_type: ResourceType, ids: &[String]) -> Result<Reply, Refusal> {
    match ids {
        [] => Ok(deleted(call, "the criteria find nothing")),
        [id] => delete(call, resource_type, id),
        ids => {
            let mut reply = deleted(call, &format!("deleted {} resources of type {resource_type}", ids.len()));
            for id in ids {
                reply.changes.extend(delete(call, resource_type, id)?.changes);
            }
            Ok(reply)
        }
    }
}

/// The answer to a deletion, with or without one.
pub(crate) fn deleted(call: &Call<'_>, done: &str) -> Reply {
    match call.prefer.returns {
        Some(Returns::Outcome) => Reply::new(200, Content::Made(operation_outcome(&[Issue::information(done)]))),
        _ => Reply::new(204, Content::None),
    }
}
