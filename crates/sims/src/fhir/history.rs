//! history of a resource, a type and the whole server (<https://hl7.org/fhir/R4/http.html#history>).

use std::collections::HashMap;

use fhir::ResourceType;
use fhir::search::{Span, date_span};
use model::Timestamp;
use world::Revision;

use super::bundle_writer::BundleWriter;
use super::interaction_context::InteractionContext;
use super::moments::parse_since;
use super::outcome::{FhirError, excerpt};
use super::paging::{self, Cursor, DEFAULT_COUNT, PAGE};
use super::reply::Reply;
use super::scopes::Permission;

pub(crate) fn of_instance(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    id: &str,
) -> Result<Reply, FhirError> {
    let history = context.records.history(resource_type.as_str(), id);
    if history.is_empty() {
        return Err(FhirError::not_found(format!("there is no {resource_type}/{id}")));
    }
    page(context, &format!("{resource_type}/{id}/_history"), history.into_iter())
}

pub(crate) fn of_type(context: &InteractionContext<'_>, resource_type: ResourceType) -> Result<Reply, FhirError> {
    let collection = resource_type.as_str();
    let written = newest_first(context.records.written(collection));
    page(context, &format!("{collection}/_history"), written.into_iter().chain(context.records.baseline_of(collection)))
}

pub(crate) fn of_system(context: &InteractionContext<'_>) -> Result<Reply, FhirError> {
    let types: Vec<ResourceType> =
        ResourceType::all().filter(|found| context.may(Permission::Search, *found)).collect();
    if types.is_empty() {
        return Err(FhirError::new(403, "forbidden", "the token has no scope to search anything"));
    }
    let written = types.iter().flat_map(|found| context.records.written(found.as_str())).collect();
    let baseline = types.iter().flat_map(|found| context.records.baseline_of(found.as_str()));
    page(context, "_history", newest_first(written).into_iter().chain(baseline))
}

/// Changes of one Bundle have the same sequence number, so versions decide.
fn newest_first(mut written: Vec<Revision<'_>>) -> Vec<Revision<'_>> {
    written.sort_by_key(|revision| std::cmp::Reverse((revision.seq, revision.version)));
    written
}

fn page<'a>(
    context: &InteractionContext<'_>,
    path: &str,
    revisions: impl Iterator<Item = Revision<'a>>,
) -> Result<Reply, FhirError> {
    let ignored = context.ignored_parameters(&["_since", "_at", "_count", PAGE])?;
    let cursor = Cursor::of(context)?;
    let count = paging::count(context, DEFAULT_COUNT)?;
    let since = since(context)?;
    let end = cursor.offset.saturating_add(count);
    let mut total = 0;
    let mut page = Vec::new();
    let at = at(context)?;
    let mut replaced = HashMap::new();
    let mut is_wanted = |revision: &Revision<'a>| {
        // Newest first: the previous revision of the same resource is the one that replaced this one.
        let end = replaced.insert((revision.collection, revision.key), revision.at);
        let is_current = at.is_none_or(|Span { first, last }| {
            revision.at.milliseconds() <= last && end.is_none_or(|end: Timestamp| end.milliseconds() > first)
        });
        is_current && since.is_none_or(|since: Timestamp| revision.at >= since)
    };
    for revision in revisions.filter(|revision| revision.seq <= cursor.as_of).filter(|revision| is_wanted(revision)) {
        if (cursor.offset..end).contains(&total) {
            page.push(revision);
        }
        total += 1;
    }
    let links = paging::links(context, path, &context.parameters, cursor, (count, total), None);
    let mut bundle = BundleWriter::new(context, "history", Some(total), &links);
    for revision in &page {
        bundle.add_revision(context, revision);
    }
    Ok(bundle.reply().warning(&ignored))
}

/// `_at`: versions that were current at any time within the interval.
fn at(context: &InteractionContext<'_>) -> Result<Option<Span>, FhirError> {
    let parse = |text: &str| {
        date_span(text).ok_or_else(|| {
            FhirError::bad("value", format!("_at must be a date or a time with a time zone, got `{}`", excerpt(text)))
        })
    };
    context.parameter("_at").map(parse).transpose()
}

pub(crate) fn since(context: &InteractionContext<'_>) -> Result<Option<Timestamp>, FhirError> {
    let parse = |text: &str| {
        parse_since(text).ok_or_else(|| {
            FhirError::bad("value", format!("_since must be a time with a time zone, got `{}`", excerpt(text)))
        })
    };
    context.parameter("_since").map(parse).transpose()
}
