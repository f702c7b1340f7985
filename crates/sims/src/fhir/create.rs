//! create and conditional create (<https://hl7.org/fhir/R4/http.html#create>).

use fhir::ResourceType;
use serde_json::Value;
use world::Record;

use super::call::Call;
use super::conditional::{Match, find_text};
use super::outcome::Refusal;
use super::reply::{Content, Reply, version_name};
use super::scopes::Permission;
use super::write;

pub(crate) fn create(call: &Call<'_>, resource_type: ResourceType, body: &Value) -> Result<Reply, Refusal> {
    if let Some(criteria) = &call.conditions.if_none_exist {
        match find_text(call, resource_type, criteria)? {
            Match::None => {}
            Match::One(id) => return existing(call, resource_type, &id),
            Match::Many => return Err(several(resource_type)),
        }
    }
    let ignored = call.ignored_parameters(&[])?;
    Ok(with_id(call, resource_type, &(call.context.new_id)(), body)?.warning(&ignored))
}

/// Creates it under an id that the server has chosen. The one in the body does not count.
pub(crate) fn with_id(call: &Call<'_>, resource_type: ResourceType, id: &str, body: &Value) -> Result<Reply, Refusal> {
    let resource = write::prepared(call, resource_type, body)?;
    Ok(write::put(call, resource_type, id, resource))
}

/// The answer when the resource was there already.
pub(crate) fn existing(call: &Call<'_>, resource_type: ResourceType, id: &str) -> Result<Reply, Refusal> {
    let found = call.records.get(resource_type.as_str(), id).live();
    let record: Record<'_> = found.ok_or_else(|| Refusal::not_found(format!("{resource_type}/{id} is gone")))?;
    let name = version_name(&record);
    let content = match call.may(Permission::Read, resource_type) {
        true => Content::Version { text: record.text().into_owned(), name: name.clone() },
        false => Content::None,
    };
    let content = call.preferred(content, "there is such a resource already; nothing was created");
    let mut reply = Reply::new(200, content).versioned(record.version, record.at);
    reply.headers.push(("location", format!("{}/{name}", call.base_url)));
    Ok(reply)
}

pub(crate) fn several(resource_type: ResourceType) -> Refusal {
    let message = format!("the criteria find several resources of type {resource_type}; they must find one at most");
    Refusal::precondition("multiple-matches", message)
}
