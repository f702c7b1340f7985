//! history of a resource, a type and the whole server (<https://hl7.org/fhir/R4/http.html#history>).

use std::collections::HashMap;

use fhir::ResourceType;
use fhir::search::{Span, date_span};
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
    let ignored = call.ignored_parameters(&["_since", "_at", "_count", PAGE])?;
    let cursor = Cursor::of(call)?;
    let count = paging::count(call, DEFAULT_COUNT)?;
    let since = since(call)?;
    let end = cursor.offset.saturating_add(count);
    let mut total = 0;
    let mut shown = Vec::new();
    let at = at(call)?;
    let mut replaced = HashMap::new();
    let mut wanted = |revision: &Revision<'a>| {
        // Revisions come newest first: the one before, of the same resource, ended this one.
        let end = replaced.insert((revision.collection, revision.key), revision.at);
        let is_current = at.is_none_or(|Span { first, last }| {
            revision.at.milliseconds() <= last && end.is_none_or(|end: Timestamp| end.milliseconds() > first)
        });
        is_current && since.is_none_or(|since: Timestamp| revision.at >= since)
    };
    for revision in revisions.filter(|revision| revision.seq <= cursor.as_of).filter(|revision| wanted(revision)) {
        if (cursor.offset..end).contains(&total) {
            shown.push(revision);
        }
        total += 1;
    }
    let links = paging::links(call, path, &call.parameters, cursor, (count, total), None);
    let mut listing = Listing::new(call, "history", Some(total), &links);
    for revision in &shown {
        listing.revision(call, revision);
    }
    Ok(listing.reply().warning(&ignored))
}

/// `_at`: the versions that were current at some moment of that time.
fn at(call: &Call<'_>) -> Result<Option<Span>, Refusal> {
    let parse = |text: &str| {
        date_span(text).ok_or_else(|| {
            Refusal::bad("value", format!("_at is a date or a time with its zone, not `{}`", excerpt(text)))
        })
    };
    call.parameter("_at").map(parse).transpose()
}

pub(crate) fn since(call: &Call<'_>) -> Result<Option<Timestamp>, Refusal> {
    let parse = |text: &str| {
        parse_since(text)
            .ok_or_else(|| Refusal::bad("value", format!("_since is a time with its zone, not `{}`", excerpt(text))))
    };
    call.parameter("_since").map(parse).transpose()
}
