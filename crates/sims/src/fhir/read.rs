//! read, vread and conditional read (<https://hl7.org/fhir/R4/http.html#read>).

use fhir::ResourceType;
use world::{Lookup, Record};

use super::call::Call;
use super::outcome::Refusal;
use super::preconditions::is_unmodified;
use super::raw_binary;
use super::reply::{Content, Reply, etag, version_name};
use super::subset::Subset;

pub(crate) fn read(call: &Call<'_>, resource_type: ResourceType, id: &str) -> Result<Reply, Refusal> {
    let record = live(resource_type, id, call.records.get(resource_type.as_str(), id))?;
    if is_unmodified(&call.conditions, record.version, record.at) {
        return Ok(Reply::new(304, Content::None).versioned(record.version, record.at));
    }
    shown(call, &record)
}

/// The resource, or 404 when it never was and 410 when it was deleted.
pub(crate) fn live<'a>(resource_type: ResourceType, id: &str, found: Lookup<'a>) -> Result<Record<'a>, Refusal> {
    match found {
        Lookup::Live(record) => Ok(record),
        Lookup::Unknown => Err(Refusal::not_found(format!("there is no {resource_type}/{id}"))),
        Lookup::Deleted { version, .. } => Err(gone(resource_type, id, version)),
    }
}

pub(crate) fn version_read(
    call: &Call<'_>,
    resource_type: ResourceType,
    id: &str,
    version: &str,
) -> Result<Reply, Refusal> {
    let mut history = call.records.history(resource_type.as_str(), id).into_iter();
    match history.find(|revision| revision.version.to_string() == version) {
        None => {
            let version = super::outcome::excerpt(version);
            Err(Refusal::not_found(format!("there is no version {version} of {resource_type}/{id}")))
        }
        Some(revision) => match revision.record {
            Some(record) => shown(call, &record),
            None => Err(gone(resource_type, id, revision.version)),
        },
    }
}

fn shown(call: &Call<'_>, record: &Record<'_>) -> Result<Reply, Refusal> {
    if let Some(accept) = call.raw_accept {
        return raw_binary::reply(record, accept);
    }
    let ignored = call.ignored_parameters(&["_summary", "_elements"])?;
    let name = version_name(record);
    let text = match Subset::of(&call.parameters)? {
        Subset::Whole => record.text().into_owned(),
        subset => subset.of_resource(&record.json()).to_string(),
    };
    Ok(Reply::new(200, Content::Version { text, name }).versioned(record.version, record.at).warning(&ignored))
}

fn gone(resource_type: ResourceType, id: &str, version: u64) -> Refusal {
    let message = format!("{resource_type}/{id} was deleted in version {version}");
    Refusal::new(410, "deleted", message).with_header("etag", etag(version))
}
