//! Patient `$everything` (<https://hl7.org/fhir/R4/patient-operation-everything.html>): what points to the patient, and
//! what that points to in turn.

use std::collections::BTreeSet;

use fhir::definitions::{SearchParameter, SearchType, Targets};
use fhir::search::{IndexedValue, Span, date_span, extract};
use fhir::{OwnAddresses, Reference, ResourceType};
use serde_json::Value;
use world::{Record, Seq};

use super::call::Call;
use super::listing::Listing;
use super::outcome::{Refusal, excerpt, operation_outcome};
use super::paging::{self, Cursor, MOST_COUNT, PAGE};
use super::read::live;
use super::reply::Reply;
use super::scopes::Permission;
use super::subset::Subset;

type Identities = BTreeSet<(ResourceType, String)>;

pub(crate) fn everything(call: &Call<'_>, id: &str) -> Result<Reply, Refusal> {
    let patient: ResourceType = "Patient".parse().map_err(|_| Refusal::not_found("Patient"))?;
    call.require(Permission::Read, patient)?;
    let ignored = call.ignored_parameters(&["start", "end", "_since", "_count", "_type", PAGE])?;
    let dates = care_dates(call)?;
    let cursor = Cursor::of(call)?;
    let count = paging::count(call, MOST_COUNT)?;
    let since = super::history::since(call)?;
    let types = wanted_types(call)?;
    live(patient, id, call.records.at("Patient", id, cursor.as_of))?;
    let own = pointing(call, patient, id, cursor.as_of);
    let supporting = supporting(call, patient, &own, cursor.as_of);
    let first = (patient, id.to_owned());
    let own = own.iter().filter(|found| **found != first).map(|found| (found, "match"));
    let all = std::iter::once((&first, "match")).chain(own).chain(supporting.iter().map(|found| (found, "include")));
    let mut shown: Vec<(Record<'_>, &str)> = Vec::new();
    for ((resource_type, key), mode) in all {
        let is_wanted =
            call.may_see(*resource_type) && types.as_ref().is_none_or(|types| types.contains(resource_type));
        let found = call.records.at(resource_type.as_str(), key, cursor.as_of).live().filter(|_| is_wanted);
        // Dates of care are those of the patient's own resources, not of what these refer to.
        let is_in_time =
            |record: &Record<'_>| mode != "match" || dates.is_none_or(|dates| overlaps(*resource_type, record, dates));
        let found = found.filter(is_in_time);
        shown.extend(found.filter(|record| since.is_none_or(|since| record.at >= since)).map(|record| (record, mode)));
    }
    let path = format!("Patient/{id}/$everything");
    let links = paging::links(call, &path, &call.parameters, cursor, (count, shown.len()), None);
    let mut listing = Listing::new(call, "searchset", Some(shown.len()), &links);
    for (record, mode) in shown.iter().skip(cursor.offset).take(count) {
        listing.found(call, record, &Subset::Whole, mode);
    }
    if !ignored.is_empty() {
        listing.outcome(&operation_outcome(&ignored));
    }
    Ok(listing.reply())
}

/// `start` and `end`: the days in which the care took place.
fn care_dates(call: &Call<'_>) -> Result<Option<Span>, Refusal> {
    let parse = |name: &str| {
        let text = call.parameter(name).filter(|text| !text.is_empty());
        let wrong = |text: &str| Refusal::bad("value", format!("{name} is a date, not `{}`", excerpt(text)));
        text.map(|text| date_span(text).ok_or_else(|| wrong(text))).transpose()
    };
    let (start, end) = (parse("start")?, parse("end")?);
    if start.is_none() && end.is_none() {
        return Ok(None);
    }
    let first = start.map_or(i64::MIN, |start| start.first);
    Ok(Some(Span { first, last: end.map_or(i64::MAX, |end| end.last) }))
}

/// The search parameters that tell when care took place; of a type, the first that it has.
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

/// Whether the care took place in that time. What has no date belongs to every time.
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

pub(crate) fn wanted_types(call: &Call<'_>) -> Result<Option<BTreeSet<ResourceType>>, Refusal> {
    let names: Vec<&str> =
        call.parameters.iter().filter(|(name, _)| name == "_type").flat_map(|(_, value)| value.split(',')).collect();
    let parse = |name: &&str| {
        name.trim().parse().map_err(|_| Refusal::bad("value", format!("_type: {} is no type", excerpt(name))))
    };
    if names.is_empty() { Ok(None) } else { names.iter().map(parse).collect::<Result<_, _>>().map(Some) }
}

/// The resources whose reference parameters point to the patient, of types that the client may see.
fn pointing(call: &Call<'_>, patient: ResourceType, id: &str, as_of: Seq) -> Identities {
    let mut found = Identities::new();
    for resource_type in ResourceType::all().filter(|found| call.may_see(*found) && *found != patient) {
        for parameter in SearchParameter::of(resource_type).filter(|parameter| points_to(parameter, patient)) {
            let hits = call.records.referring(resource_type, parameter, patient, id, as_of);
            found.extend(hits.into_iter().map(|hit| (resource_type, hit.record.key.to_owned())));
        }
    }
    found.insert((patient, id.to_owned()));
    found
}

fn points_to(parameter: &SearchParameter, patient: ResourceType) -> bool {
    let is_named = matches!(parameter.targets(), Targets::Only(types) if types.contains(&patient));
    parameter.search_type() == SearchType::Reference && is_named
}

/// What those need: the practitioners, organizations, medications … that they refer to, never other patients.
fn supporting(call: &Call<'_>, patient: ResourceType, own: &Identities, as_of: Seq) -> Identities {
    let mut found = Identities::new();
    let mut round = own.clone();
    while !round.is_empty() {
        let mut next = Identities::new();
        for (resource_type, key) in &round {
            if let Some(record) = call.records.at(resource_type.as_str(), key, as_of).live() {
                references(&record.json(), call.own_addresses(), &mut next);
            }
        }
        next.retain(|target| target.0 != patient && call.may_see(target.0));
        next.retain(|target| !own.contains(target) && !found.contains(target));
        found.extend(next.iter().cloned());
        round = next;
    }
    found
}

fn references(value: &Value, own: OwnAddresses<'_>, found: &mut Identities) {
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
    let relative = own.relative(text).unwrap_or(text);
    let current = relative.split_once("/_history/").map_or(relative, |(current, _)| current);
    let reference = Reference::parse(current).ok()?;
    Some((reference.resource_type(), reference.id().to_owned()))
}
