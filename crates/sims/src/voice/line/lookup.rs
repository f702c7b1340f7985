//! Finding the record that a call is about. What the agent said is a value: never a search of its own.

use fhir::ResourceType;
use fhir::search::{self, Clause, Prefix, Query, SearchValue};
use model::simulator::SimulatorType;
use serde_json::Value;
use world::{Page, Sandbox, Seq};

use super::Line;
use crate::voice::node::{Lookup, LookupSource};
use crate::voice::rows::Found;
use crate::voice::speech;

/// The first record that answers all conditions: as it was said, else as one word (`W 1 2 3` is `W123`).
pub(super) fn find(line: &Line<'_>, lookup: &Lookup) -> Option<Found> {
    find_as(line, lookup, str::to_owned).or_else(|| find_as(line, lookup, spoken::compact))
}

fn find_as(line: &Line<'_>, lookup: &Lookup, form: fn(&str) -> String) -> Option<Found> {
    let sandboxes = line.world.sandboxes.values().filter(|sandbox| sandbox.is_active);
    match lookup.source {
        LookupSource::Fhir => {
            let query = query(line, lookup, form)?;
            let kind = ResourceType::named(&lookup.resource)?;
            sandboxes.filter(|sandbox| sandbox.kind == SimulatorType::Fhir).find_map(|sandbox| {
                let found = sandbox.records.search(kind, &query, Seq::MAX, Page { offset: 0, count: 1 });
                found.matches.first().map(|hit| place(sandbox, &lookup.resource, hit.record.key))
            })
        }
        LookupSource::Rows => {
            let wanted: Option<Vec<(&str, String)>> = lookup
                .r#match
                .iter()
                .map(|(name, wanted)| Some((name.as_str(), filled(line, wanted, &|value| form(value))?)))
                .collect();
            let wanted = wanted?;
            sandboxes.filter(|sandbox| sandbox.kind != SimulatorType::Fhir).find_map(|sandbox| {
                let mut rows = sandbox.records.own(&lookup.resource);
                let row = rows.find(|row| wanted.iter().all(|(name, wanted)| has(&row.json(), name, wanted)))?;
                Some(place(sandbox, &lookup.resource, row.key))
            })
        }
    }
}

fn place(sandbox: &Sandbox, collection: &str, key: &str) -> Found {
    Found { sandbox: sandbox.id.to_string(), collection: collection.to_owned(), key: key.to_owned() }
}

/// The search, in which all that the agent said is a plain value. One that cannot be asked finds nothing.
fn query(line: &Line<'_>, lookup: &Lookup, form: fn(&str) -> String) -> Option<Query> {
    let kind = ResourceType::named(&lookup.resource)?;
    let pairs: Option<Vec<(String, String)>> = lookup
        .r#match
        .iter()
        .map(|(name, wanted)| Some((name.clone(), filled(line, wanted, &|value| search::escape(&form(value)))?)))
        .collect();
    let pairs = pairs?;
    let query = search::parse(kind, "", &pairs).ok()?;
    let asks_all = query.ignored.is_empty() && query.clauses.len() == pairs.len();
    let authored = lookup.r#match.values();
    let is_plain = authored.zip(&query.clauses).all(|(authored, clause)| is_prefixed(authored) || !compares(clause));
    (asks_all && is_plain).then_some(query)
}

/// An authored text with the fields of the call; none if one was not given.
fn filled(line: &Line<'_>, authored: &str, written: &dyn Fn(&str) -> String) -> Option<String> {
    let is_known =
        |inside: &&str| inside.strip_prefix("field.").is_none_or(|name| line.state.fields.contains_key(name));
    let insides = model::template::insides(authored).ok()?;
    if !insides.iter().all(is_known) {
        return None;
    }
    let record = line.record_found();
    Some(speech::fill(authored, |root, path| match root {
        "field" => line.state.fields.get(path).map(|value| written(value)),
        _ => record.as_ref().and_then(|record| speech::member(record, path)).map(|value| written(&value)),
    }))
}

/// Whether the author asked for more than equality.
fn is_prefixed(authored: &str) -> bool {
    ["ne", "gt", "lt", "ge", "le", "sa", "eb", "ap"].iter().any(|prefix| authored.starts_with(prefix))
}

/// Whether a clause asks for more than equality: `gt1900` may have been said.
fn compares(clause: &Clause) -> bool {
    match clause {
        Clause::Simple(condition) => condition.alternatives.iter().any(|wanted| {
            let prefix = match wanted {
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

/// Whether a member of a row says what is wanted, however it is written.
fn has(row: &Value, name: &str, wanted: &str) -> bool {
    let same = |value: &str| value == wanted || spoken::compact(value) == spoken::compact(wanted);
    speech::member(row, name).is_some_and(|value| !value.is_empty() && same(&value))
}
