//! Whom the portal knows: members and providers, from rows that a scenario put there and from the playground's FHIR data.

use model::event::EventType;
use model::page::{self, Page, PageRequest};
use model::simulator::SimulatorType;
use serde_json::{Value, json};
use world::{Direction, Outcome};

use super::call::{Call, Done};
use super::event::Told;
use super::fhir_people::{self, Wanted, member_row, patients_of, provider_row};
use super::formulary;
use super::pagination::{self, KeyedRow, SortOrder};
use super::rows::{PATIENTS, PROVIDERS, matches_words, text};

/// The member of this number. A portal that knows nobody at all takes any number.
pub(super) fn member(call: &Call<'_>, number: &str) -> Option<Value> {
    let found = own_rows(call, PATIENTS).find(|(_, row)| text(row, "member_id") == Some(number)).map(|(_, row)| row);
    let in_fhir = || {
        fhir_people::stores(call.world)
            .find_map(|store| patients_of(store, number).first().map(|(_, patient)| member_row(store, patient)))
    };
    found.or_else(in_fhir).or_else(|| knows_nobody(call).then(|| json!({"member_id": number})))
}

fn knows_nobody(call: &Call<'_>) -> bool {
    let has_fhir = call.world.sandboxes.values().any(|sandbox| sandbox.kind == SimulatorType::Fhir);
    !has_fhir && own_rows(call, PATIENTS).next().is_none()
}

/// The provider of this number, if the portal knows it.
pub(super) fn provider(call: &Call<'_>, npi: &str) -> Option<Value> {
    let found = own_rows(call, PROVIDERS).find(|(_, row)| text(row, "npi") == Some(npi)).map(|(_, row)| row);
    let in_fhir = || {
        fhir_people::stores(call.world).find_map(|store| {
            let hits = ["Practitioner", "Organization"].map(|kind| fhir_people::with_identifier(store, kind, npi));
            hits.iter().flatten().next().map(|hit| provider_row(store, &hit.record.json()))
        })
    };
    found.or_else(in_fhir)
}

fn own_rows<'c>(call: &'c Call<'_>, collection: &'static str) -> impl Iterator<Item = (String, Value)> + use<'c> {
    call.sandbox.records.own(collection).map(|record| (record.key.to_owned(), Value::clone(&record.json())))
}

/// What is looked for in the list of members.
#[derive(Clone, Debug, Default)]
pub struct MemberFilter {
    pub member_id: Option<String>,
    pub name: Option<String>,
    pub birth_date: Option<String>,
}

/// Members, by where they come from and their key.
pub fn members(call: &Call<'_>, filter: &MemberFilter, request: &PageRequest) -> Done<Page<Value>> {
    let MemberFilter { member_id, name, birth_date } = filter;
    let is_wanted = |row: &Value| {
        member_id.as_deref().is_none_or(|number| text(row, "member_id") == Some(number))
            && name.as_deref().is_none_or(|name| matches_words(text(row, "name"), name))
            && birth_date.as_deref().is_none_or(|date| text(row, "birth_date") == Some(date))
    };
    let mut placed: Vec<KeyedRow> = own_rows(call, PATIENTS)
        .filter(|(_, row)| is_wanted(row))
        .map(|(key, row)| (format!("row/{key}"), row))
        .collect();
    for (place, store) in fhir_people::stores(call.world).enumerate() {
        let prefix = format!("s{place:02}/");
        let found = match member_id {
            Some(number) => patients_of(store, number),
            None => {
                let wanted = Wanted { name: name.as_deref(), birth_date: birth_date.as_deref() };
                fhir_people::run_of(store, "Patient", &wanted, reach(request, &prefix), request.limit + 1)
            }
        };
        let rows = found.iter().map(|(key, patient)| (format!("{prefix}{key}"), member_row(store, patient)));
        placed.extend(rows.filter(|(_, row)| member_id.is_none() || is_wanted_beside_number(row, filter)));
    }
    let page = pagination::page(placed, request, SortOrder::Ascending);
    let asked = json!({"member_id": member_id, "name": name, "birth_date": birth_date});
    let told = Told { r#type: EventType::PortalSearch, action: "search patients", asked };
    let event = told.with_count(call, page.items.len());
    Outcome { answer: Ok(page), changes: Vec::new(), events: vec![event] }
}

/// What the index was not asked for, when the number led to the patient.
fn is_wanted_beside_number(row: &Value, filter: &MemberFilter) -> bool {
    filter.name.as_deref().is_none_or(|name| matches_words(text(row, "name"), name))
        && filter.birth_date.as_deref().is_none_or(|date| text(row, "birth_date") == Some(date))
}

/// From where a page goes on inside of a source, and which way.
fn reach<'r>(request: &'r PageRequest, prefix: &str) -> (Option<&'r str>, Direction) {
    let Some(cursor) = &request.cursor else { return (None, Direction::Forward) };
    let direction = match cursor.direction {
        page::Direction::Next => Direction::Forward,
        page::Direction::Prev => Direction::Backward,
    };
    (cursor.key.strip_prefix(prefix), direction)
}

#[derive(Clone, Debug, Default)]
pub struct ProviderFilter {
    pub npi: Option<String>,
    pub name: Option<String>,
}

pub fn providers(call: &Call<'_>, filter: &ProviderFilter, request: &PageRequest) -> Done<Page<Value>> {
    let ProviderFilter { npi, name } = filter;
    let is_wanted = |row: &Value| {
        npi.as_deref().is_none_or(|npi| text(row, "npi") == Some(npi))
            && name.as_deref().is_none_or(|name| matches_words(text(row, "name"), name))
    };
    let mut placed: Vec<KeyedRow> = own_rows(call, PROVIDERS)
        .filter(|(_, row)| is_wanted(row))
        .map(|(key, row)| (format!("row/{key}"), row))
        .collect();
    for (place, store) in fhir_people::stores(call.world).enumerate() {
        for kind in ["Practitioner", "Organization"] {
            let prefix = format!("s{place:02}{kind}/");
            let found = match npi {
                Some(npi) => {
                    let hits = fhir_people::with_identifier(store, kind, npi);
                    hits.iter().map(|hit| (hit.record.key.to_owned(), Value::clone(&hit.record.json()))).collect()
                }
                None => {
                    let wanted = Wanted { name: name.as_deref(), birth_date: None };
                    fhir_people::run_of(store, kind, &wanted, reach(request, &prefix), request.limit + 1)
                }
            };
            let rows = found.iter().map(|(key, resource)| (format!("{prefix}{key}"), provider_row(store, resource)));
            placed.extend(rows.filter(|(_, row)| npi.is_none() || is_wanted(row)));
        }
    }
    let page = pagination::page(placed, request, SortOrder::Ascending);
    let told =
        Told { r#type: EventType::PortalSearch, action: "search providers", asked: json!({"npi": npi, "name": name}) };
    let event = told.with_count(call, page.items.len());
    Outcome { answer: Ok(page), changes: Vec::new(), events: vec![event] }
}

/// What the plan covers, by drug.
pub fn formulary(call: &Call<'_>, drug: Option<&str>, request: &PageRequest) -> Done<Page<Value>> {
    let page = pagination::page(formulary::entries(call, drug.unwrap_or_default()), request, SortOrder::Ascending);
    let told = Told { r#type: EventType::PortalSearch, action: "search formulary", asked: json!({"drug": drug}) };
    let event = told.with_count(call, page.items.len());
    Outcome { answer: Ok(page), changes: Vec::new(), events: vec![event] }
}
