//! Patient `$everything` (<https://hl7.org/fhir/R4/patient-operation-everything.html>): the resources that refer to the
//! patient, and those that they refer to in turn.

use std::collections::BTreeSet;

use fhir::definitions::{SearchParameter, SearchType, Targets};
use fhir::search::{IndexedValue, Span, date_span, extract};
use fhir::{OwnAddresses, Reference, ResourceType};
use serde_json::Value;
use world::{Record, Seq};

use super::bundle_writer::BundleWriter;
use super::interaction_context::InteractionContext;
use super::outcome::{FhirError, excerpt, operation_outcome};
use super::paging::{self, Cursor, MAX_COUNT, PAGE};
use super::read::live;
use super::reply::Reply;
use super::scopes::Permission;
use super::subset::Subset;

type ResourceKeys = BTreeSet<(ResourceType, String)>;

pub(crate) fn everything(context: &InteractionContext<'_>, id: &str) -> Result<Reply, FhirError> {
    let patient: ResourceType = "Patient".parse().map_err(|_| FhirError::not_found("Patient"))?;
    context.require(Permission::Read, patient)?;
    let ignored = context.ignored_parameters(&["start", "end", "_since", "_count", "_type", PAGE])?;
    let dates = care_dates(context)?;
    let cursor = Cursor::of(context)?;
    let count = paging::count(context, MAX_COUNT)?;
    let since = super::history::since(context)?;
    let types = wanted_types(context)?;
    live(patient, id, context.records.at("Patient", id, cursor.as_of))?;
    let referring = referring(context, patient, id, cursor.as_of);
    let supporting = supporting(context, patient, &referring, cursor.as_of);
    let first = (patient, id.to_owned());
    let referring = referring.iter().filter(|found| **found != first).map(|found| (found, "match"));
    let all =
        std::iter::once((&first, "match")).chain(referring).chain(supporting.iter().map(|found| (found, "include")));
    let mut results: Vec<(Record<'_>, &str)> = Vec::new();
    for ((resource_type, key), mode) in all {
        let is_wanted =
            context.may_see(*resource_type) && types.as_ref().is_none_or(|types| types.contains(resource_type));
        let found = context.records.at(resource_type.as_str(), key, cursor.as_of).live().filter(|_| is_wanted);
        // `start` and `end` do not apply to supporting resources.
        let is_in_time =
            |record: &Record<'_>| mode != "match" || dates.is_none_or(|dates| overlaps(*resource_type, record, dates));
        let found = found.filter(is_in_time);
        results
            .extend(found.filter(|record| since.is_none_or(|since| record.at >= since)).map(|record| (record, mode)));
    }
    let path = format!("Patient/{id}/$everything");
    let links = paging::links(context, &path, &context.parameters, cursor, (count, results.len()), None);
    let mut bundle = BundleWriter::new(context, "searchset", Some(results.len()), &links);
    for (record, mode) in results.iter().skip(cursor.offset).take(count) {
        bundle.add_result(context, record, &Subset::Whole, mode);
    }
    if !ignored.is_empty() {
        bundle.add_outcome(&operation_outcome(&ignored));
    }
    Ok(bundle.reply())
}

/// `start` and `end`: the dates of care.
fn care_dates(context: &InteractionContext<'_>) -> Result<Option<Span>, FhirError> {
    let parse = |name: &str| {
        let text = context.parameter(name).filter(|text| !text.is_empty());
        let invalid = |text: &str| FhirError::bad("value", format!("{name} must be a date, got `{}`", excerpt(text)));
        text.map(|text| date_span(text).ok_or_else(|| invalid(text))).transpose()
    };
    let (start, end) = (parse("start")?, parse("end")?);
    if start.is_none() && end.is_none() {
        return Ok(None);
    }
    let first = start.map_or(i64::MIN, |start| start.first);
    Ok(Some(Span { first, last: end.map_or(i64::MAX, |end| end.last) }))
}

/// The search parameters for the date of care. The first one that a type has is used.
const CARE_DATES: [&str; 18] = [
    "date",
    "onset-date",
    "authored",
    "authoredon",
    "authored-on",
    "effective",
    "effective-time",
    "whenhandedover",
    "period",
    "start-date",
    "started",
    "created",
    "collected",
    "sent",
    "datetime",
    "recorded-date",
    "recorded",
    "issued",
];

/// Whether the date of care is within the range. Resources without a date always match.
fn overlaps(resource_type: ResourceType, record: &Record<'_>, dates: Span) -> bool {
    let json = record.json();
    let parameters = CARE_DATES.iter().filter_map(|code| SearchParameter::find(resource_type, code));
    let mut found = parameters.filter(|parameter| parameter.search_type() == SearchType::Date).map(|parameter| {
        let found = extract(parameter, &json).into_iter();
        found
            .filter_map(|found| if let IndexedValue::Date(span) = found { Some(span) } else { None })
            .collect::<Vec<Span>>()
    });
    match found.find(|spans| !spans.is_empty()) {
        Some(spans) => spans.iter().any(|span| span.first <= dates.last && span.last >= dates.first),
        None => true,
    }
}

pub(crate) fn wanted_types(context: &InteractionContext<'_>) -> Result<Option<BTreeSet<ResourceType>>, FhirError> {
    let names: Vec<&str> =
        context.parameters.iter().filter(|(name, _)| name == "_type").flat_map(|(_, value)| value.split(',')).collect();
    let parse = |name: &&str| {
        name.trim()
            .parse()
            .map_err(|_| FhirError::bad("value", format!("_type: {} is not a resource type", excerpt(name))))
    };
    if names.is_empty() { Ok(None) } else { names.iter().map(parse).collect::<Result<_, _>>().map(Some) }
}

/// The resources whose reference parameters refer to the patient, of types that the client may see.
fn referring(context: &InteractionContext<'_>, patient: ResourceType, id: &str, as_of: Seq) -> ResourceKeys {
    let mut found = ResourceKeys::new();
    for resource_type in ResourceType::all().filter(|found| context.may_see(*found) && *found != patient) {
        for parameter in SearchParameter::of(resource_type).filter(|parameter| can_refer_to(parameter, patient)) {
            let hits = context.records.referring(resource_type, parameter, patient, id, as_of);
            found.extend(hits.into_iter().map(|hit| (resource_type, hit.record.key.to_owned())));
        }
    }
    found.insert((patient, id.to_owned()));
    found
}

fn can_refer_to(parameter: &SearchParameter, patient: ResourceType) -> bool {
    let is_named = matches!(parameter.targets(), Targets::Only(types) if types.contains(&patient));
    parameter.search_type() == SearchType::Reference && is_named
}

/// The practitioners, organizations, medications … that those refer to, but never other patients.
fn supporting(
    context: &InteractionContext<'_>,
    patient: ResourceType,
    referring: &ResourceKeys,
    as_of: Seq,
) -> ResourceKeys {
    let mut found = ResourceKeys::new();
    let mut round = referring.clone();
    while !round.is_empty() {
        let mut next = ResourceKeys::new();
        for (resource_type, key) in &round {
            if let Some(record) = context.records.at(resource_type.as_str(), key, as_of).live() {
                references(&record.json(), context.own_addresses(), &mut next);
            }
        }
        next.retain(|target| target.0 != patient && context.may_see(target.0));
        next.retain(|target| !referring.contains(target) && !found.contains(target));
        found.extend(next.iter().cloned());
        round = next;
    }
    found
}

fn references(value: &Value, own: OwnAddresses<'_>, found: &mut ResourceKeys) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, own, found)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str() {
                    Some(text) if key == "reference" => found.extend(local(text, own)),
                    _ => references(value, own, found),
                }
            }
        }
        _ => {}
    }
}

fn local(text: &str, own: OwnAddresses<'_>) -> Option<(ResourceType, String)> {
    let reference = Reference::local(text, own)?;
    Some((reference.resource_type(), reference.id().to_owned()))
}
