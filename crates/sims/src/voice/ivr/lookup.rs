//! Finding the record of a lookup node. The agent's words are only used as values and cannot change the search.

use fhir::ResourceType;
use fhir::search::{self, Clause, Prefix, Query, SearchValue};
use model::simulator::SimulatorType;
use serde_json::Value;
use world::{Page, Sandbox, Seq};

use super::IvrSession;
use crate::voice::node::{Lookup, LookupSource};
use crate::voice::rows::RecordRef;
use crate::voice::speech;

/// The first record that matches all conditions, with the values as spoken, or else as one word (`W 1 2 3` is `W123`).
pub(super) fn find(session: &IvrSession<'_>, lookup: &Lookup) -> Option<RecordRef> {
    find_with(session, lookup, str::to_owned).or_else(|| find_with(session, lookup, spoken::compact))
}

fn find_with(session: &IvrSession<'_>, lookup: &Lookup, form: fn(&str) -> String) -> Option<RecordRef> {
    let sandboxes = session.world.sandboxes.values().filter(|sandbox| sandbox.is_active);
    match lookup.source {
        LookupSource::Fhir => {
            let query = query(session, lookup, form)?;
            let kind = ResourceType::named(&lookup.resource)?;
            sandboxes.filter(|sandbox| sandbox.kind == SimulatorType::Fhir).find_map(|sandbox| {
                let results = sandbox.records.search(kind, &query, Seq::MAX, Page { offset: 0, count: 1 });
                results.matches.first().map(|hit| record_ref(sandbox, &lookup.resource, hit.record.key))
            })
        }
        LookupSource::Rows => {
            let expected: Option<Vec<(&str, String)>> = lookup
                .r#match
                .iter()
                .map(|(name, expected)| Some((name.as_str(), filled(session, expected, &|value| form(value))?)))
                .collect();
            let expected = expected?;
            sandboxes.filter(|sandbox| sandbox.kind != SimulatorType::Fhir).find_map(|sandbox| {
                let mut rows = sandbox.records.own(&lookup.resource);
                let row = rows.find(|row| expected.iter().all(|(name, expected)| has(&row.json(), name, expected)))?;
                Some(record_ref(sandbox, &lookup.resource, row.key))
            })
        }
    }
}

fn record_ref(sandbox: &Sandbox, collection: &str, key: &str) -> RecordRef {
    RecordRef { sandbox: sandbox.id.to_string(), collection: collection.to_owned(), key: key.to_owned() }
}

/// The search, in which the agent's words are escaped. None if it is not valid.
fn query(session: &IvrSession<'_>, lookup: &Lookup, form: fn(&str) -> String) -> Option<Query> {
    let kind = ResourceType::named(&lookup.resource)?;
    let pairs: Option<Vec<(String, String)>> = lookup
        .r#match
        .iter()
        .map(|(name, expected)| Some((name.clone(), filled(session, expected, &|value| search::escape(&form(value)))?)))
        .collect();
    let pairs = pairs?;
    let query = search::parse(kind, "", &pairs).ok()?;
    let is_complete = query.ignored.is_empty() && query.clauses.len() == pairs.len();
    let authored = lookup.r#match.values();
    let is_plain = authored.zip(&query.clauses).all(|(authored, clause)| is_prefixed(authored) || !compares(clause));
    (is_complete && is_plain).then_some(query)
}

/// An authored text with the fields of the call filled in. None if a field is not known.
fn filled(session: &IvrSession<'_>, authored: &str, encode: &dyn Fn(&str) -> String) -> Option<String> {
    let is_known =
        |inside: &&str| inside.strip_prefix("field.").is_none_or(|name| session.state.fields.contains_key(name));
    let insides = model::template::insides(authored).ok()?;
    if !insides.iter().all(is_known) {
        return None;
    }
    let record = session.found_record();
    Some(speech::fill(authored, |root, path| match root {
        "field" => session.state.fields.get(path).map(|value| encode(value)),
        _ => record.as_ref().and_then(|record| speech::member(record, path)).map(|value| encode(&value)),
    }))
}

/// Whether the authored value begins with a comparison prefix.
fn is_prefixed(authored: &str) -> bool {
    ["ne", "gt", "lt", "ge", "le", "sa", "eb", "ap"].iter().any(|prefix| authored.starts_with(prefix))
}

/// Whether a clause is a comparison. The agent may say `gt1900`, which must not be read as one.
fn compares(clause: &Clause) -> bool {
    match clause {
        Clause::Simple(condition) => condition.alternatives.iter().any(|expected| {
            let prefix = match expected {
                SearchValue::Date { prefix, .. }
                | SearchValue::Number { prefix, .. }
                | SearchValue::Quantity { prefix, .. } => prefix,
                _ => return false,
            };
            *prefix != Prefix::Equal
        }),
        Clause::Chain { targets, .. } => targets.iter().any(|(_, clause)| compares(clause)),
        Clause::ReverseChain { clause, .. } => compares(clause),
    }
}

/// Whether a member of a row has the value. Spaces and punctuation are ignored.
fn has(row: &Value, name: &str, expected: &str) -> bool {
    let same = |value: &str| value == expected || spoken::compact(value) == spoken::compact(expected);
    speech::member(row, name).is_some_and(|value| !value.is_empty() && same(&value))
}
