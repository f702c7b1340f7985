//! read, vread and conditional read (<https://hl7.org/fhir/R4/http.html#read>).

use fhir::ResourceType;
use world::{Lookup, Record};

use super::interaction_context::InteractionContext;
use super::outcome::FhirError;
use super::preconditions::is_unmodified;
use super::raw_binary;
use super::reply::{Reply, ReplyContent, etag, version_name};
use super::subset::Subset;

pub(crate) fn read(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    id: &str,
) -> Result<Reply, FhirError> {
    let record = live(resource_type, id, context.records.get(resource_type.as_str(), id))?;
    if is_unmodified(&context.conditions, record.version, record.at) {
        return Ok(Reply::new(304, ReplyContent::None).versioned(record.version, record.at));
    }
    reply_with(context, &record)
}

/// The resource, or 404 if it never existed, or 410 if it was deleted.
pub(crate) fn live<'a>(resource_type: ResourceType, id: &str, found: Lookup<'a>) -> Result<Record<'a>, FhirError> {
    match found {
        Lookup::Live(record) => Ok(record),
        Lookup::Unknown => Err(FhirError::not_found(format!("there is no {resource_type}/{id}"))),
        Lookup::Deleted { version, .. } => Err(gone(resource_type, id, version)),
    }
}

pub(crate) fn version_read(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    id: &str,
    version: &str,
) -> Result<Reply, FhirError> {
    let mut history = context.records.history(resource_type.as_str(), id).into_iter();
    match history.find(|revision| revision.version.to_string() == version) {
        None => {
            let version = super::outcome::excerpt(version);
            Err(FhirError::not_found(format!("there is no version {version} of {resource_type}/{id}")))
        }
        Some(revision) => match revision.record {
            Some(record) => reply_with(context, &record),
            None => Err(gone(resource_type, id, revision.version)),
        },
    }
}

fn reply_with(context: &InteractionContext<'_>, record: &Record<'_>) -> Result<Reply, FhirError> {
    if let Some(accept) = context.raw_accept {
        return raw_binary::reply(record, accept);
    }
    let ignored = context.ignored_parameters(&["_summary", "_elements"])?;
    let name = version_name(record);
    let text = match Subset::of(&context.parameters)? {
        Subset::Whole => record.text().into_owned(),
        subset => subset.of_resource(&record.json()).to_string(),
    };
    Ok(Reply::new(200, ReplyContent::Version { text, name }).versioned(record.version, record.at).warning(&ignored))
}

fn gone(resource_type: ResourceType, id: &str, version: u64) -> FhirError {
    let message = format!("{resource_type}/{id} was deleted in version {version}");
    FhirError::new(410, "deleted", message).with_header("etag", etag(version))
}
