//! history of a resource, a type and the whole server (<https://hl7.org/fhir/R4/http.html#history>).

use fhir::ResourceType;
use model::Timestamp;
use world::Revision;

use super::call::Call;
use super::listing::Listing;
use super::moments::parse_since;
use super::outcome::{Refusal, excerpt};
use super::paging::{self, Cursor, DEFAULT_COUNT, PAGE};
use super::reply::Reply;
use super::scopes::Permission;

pub(crate) fn of_instance(call: &Call<'_>, resource_type: ResourceType, id: &str) -> Result<Reply, Refusal> {
    let history = call.records.history(resource_type.as_str(), id);
    if history.is_empty() {
        return Err(Refusal::not_found(format!("there is no {resource_type}/{id}")));
    }
    page(call, &format!("{resource_type}/{id}/_history"), history.into_iter())
}

pub(crate) fn of_type(call: &Call<'_>, resource_type: ResourceType) -> Result<Reply, Refusal> {
    let collection = resource_type.as_str();
    let written = newest_first(call.records.written(collection));
    page(call, &format!("{collection}/_history"), written.into_iter().chain(call.records.baseline_of(collection)))
}

pub(crate) fn of_system(call: &Call<'_>) -> Result<Reply, Refusal> {
    let types: Vec<ResourceType> = ResourceType::all().filter(|found| call.may(Permission::Search, *found)).collect();
    if types.is_empty() {
        return Err(Refusal::new(403, "forbidden", "the token has no scope to search anything"));
    }
    let written = types.iter().flat_map(|found| call.records.written(found.as_str())).collect();
    let baseline = types.iter().flat_map(|found| call.records.baseline_of(found.as_str()));
    page(call, "_history", newest_first(written).into_iter().chain(baseline))
}

/// What one Bundle wrote has one place in the log.
fn newest_first(mut written: Vec<Revision<'_>>) -> Vec<Revision<'_>> {
    written.sort_by_key(|revision| std::cmp::Reverse((revision.seq, revision.version)));
    written
}

fn page<'a>(call: &Call<'_>, path: &str, revisions: impl Iterator<Item = Revision<'a>>) -> Result<Reply, Refusal> {
    call.only_parameters(&["_since", "_count", PAGE])?;
    let cursor = Cursor::of(call)?;
    let count = paging::count(call, DEFAULT_COUNT)?;
    let since = since(call)?;
    let end = cursor.offset.saturating_add(count);
    let mut total = 0;
    let mut shown = Vec::new();
    let wanted = |revision: &Revision<'_>| {
        revision.seq <= cursor.as_of && since.is_none_or(|since: Timestamp| revision.at >= since)
    };
    for revision in revisions.filter(wanted) {
        if (cursor.offset..end).contains(&total) {
            shown.push(revision);
        }
        total += 1;
    }
    let links = paging::links(call, path, &call.parameters, cursor, (count, total));
    let mut listing = Listing::new(call, "history", Some(total), &links);
    for revision in &shown {
        listing.revision(call, revision);
    }
    Ok(listing.reply())
}

pub(crate) fn since(call: &Call<'_>) -> Result<Option<Timestamp>, Refusal> {
    let parse = |text: &str| {
        parse_since(text)
            .ok_or_else(|| Refusal::bad("value", format!("_since is a time with its zone, not `{}`", excerpt(text))))
    };
    call.parameter("_since").map(parse).transpose()
}
