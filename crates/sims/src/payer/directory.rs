//! The portal's directory of members and providers, from rows that scenarios added and from the playground's FHIR data.

use model::event::EventType;
use model::page::{self, Page, PageRequest};
use model::simulator::SimulatorType;
use serde_json::{Value, json};
use world::{Direction, Outcome};

use super::context::{PortalContext, PortalOutcome};
use super::event::PortalAction;
use super::fhir_people::{self, PersonFilter, member_row, patients_with_member_id, provider_row};
use super::formulary;
use super::pagination::{self, KeyedRow, SortOrder};
use super::rows::{PATIENTS, PROVIDERS, matches_words, text};

/// The member with this number. A portal without any members accepts every number.
pub(super) fn member(portal: &PortalContext<'_>, number: &str) -> Option<Value> {
    let found = own_rows(portal, PATIENTS).find(|(_, row)| text(row, "member_id") == Some(number)).map(|(_, row)| row);
    let in_fhir = || {
        fhir_people::fhir_stores(portal.world).find_map(|store| {
            patients_with_member_id(store, number)
                .first()
                .map(|(_, patient)| member_row(store, patient, portal.context.now))
        })
    };
    found.or_else(in_fhir).or_else(|| has_no_members(portal).then(|| json!({"member_id": number})))
}

fn has_no_members(portal: &PortalContext<'_>) -> bool {
    let has_fhir = portal.world.sandboxes.values().any(|sandbox| sandbox.kind == SimulatorType::Fhir);
    !has_fhir && own_rows(portal, PATIENTS).next().is_none()
}

/// The provider with this NPI.
pub(super) fn provider(portal: &PortalContext<'_>, npi: &str) -> Option<Value> {
    let found = own_rows(portal, PROVIDERS).find(|(_, row)| text(row, "npi") == Some(npi)).map(|(_, row)| row);
    let in_fhir = || {
        fhir_people::fhir_stores(portal.world).find_map(|store| {
            let hits = ["Practitioner", "Organization"].map(|kind| fhir_people::with_identifier(store, kind, npi));
            hits.iter().flatten().next().map(|hit| provider_row(store, &hit.record.json()))
        })
    };
    found.or_else(in_fhir)
}

fn own_rows<'c>(
    portal: &'c PortalContext<'_>,
    collection: &'static str,
) -> impl Iterator<Item = (String, Value)> + use<'c> {
    portal.sandbox.records.own(collection).map(|record| (record.key.to_owned(), Value::clone(&record.json())))
}

/// The search criteria for members. Members that are given must match.
#[derive(Clone, Debug, Default)]
pub struct MemberFilter {
    pub member_id: Option<String>,
    pub name: Option<String>,
    pub birth_date: Option<String>,
}

/// Lists members, ordered by source and key.
pub fn members(portal: &PortalContext<'_>, filter: &MemberFilter, request: &PageRequest) -> PortalOutcome<Page<Value>> {
    let MemberFilter { member_id, name, birth_date } = filter;
    let matches = |row: &Value| {
        member_id.as_deref().is_none_or(|number| text(row, "member_id") == Some(number))
            && name.as_deref().is_none_or(|name| matches_words(text(row, "name"), name))
            && birth_date.as_deref().is_none_or(|date| text(row, "birth_date") == Some(date))
    };
    let mut rows_by_key: Vec<KeyedRow> = own_rows(portal, PATIENTS)
        .filter(|(_, row)| matches(row))
        .map(|(key, row)| (format!("row/{key}"), row))
        .collect();
    for (index, store) in fhir_people::fhir_stores(portal.world).enumerate() {
        let prefix = format!("s{index:02}/");
        let found = match member_id {
            Some(number) => patients_with_member_id(store, number),
            None => {
                let criteria = PersonFilter { name: name.as_deref(), birth_date: birth_date.as_deref() };
                fhir_people::list(store, "Patient", &criteria, cursor_within(request, &prefix), request.limit + 1)
            }
        };
        let rows = found
            .iter()
            .map(|(key, patient)| (format!("{prefix}{key}"), member_row(store, patient, portal.context.now)));
        rows_by_key.extend(rows.filter(|(_, row)| member_id.is_none() || matches_name_and_birth_date(row, filter)));
    }
    let page = pagination::page(rows_by_key, request, SortOrder::Ascending);
    let parameters = json!({"member_id": member_id, "name": name, "birth_date": birth_date});
    let action = PortalAction { r#type: EventType::PortalSearch, name: "search patients", request: parameters };
    let event = action.count_event(portal, page.items.len());
    Outcome { answer: Ok(page), changes: Vec::new(), events: vec![event] }
}

/// The remaining criteria for patients that were found by their member number.
fn matches_name_and_birth_date(row: &Value, filter: &MemberFilter) -> bool {
    filter.name.as_deref().is_none_or(|name| matches_words(text(row, "name"), name))
        && filter.birth_date.as_deref().is_none_or(|date| text(row, "birth_date") == Some(date))
}

/// The position within a source from which a page continues, and its direction.
fn cursor_within<'r>(request: &'r PageRequest, prefix: &str) -> (Option<&'r str>, Direction) {
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

pub fn providers(
    portal: &PortalContext<'_>,
    filter: &ProviderFilter,
    request: &PageRequest,
) -> PortalOutcome<Page<Value>> {
    let ProviderFilter { npi, name } = filter;
    let matches = |row: &Value| {
        npi.as_deref().is_none_or(|npi| text(row, "npi") == Some(npi))
            && name.as_deref().is_none_or(|name| matches_words(text(row, "name"), name))
    };
    let mut rows_by_key: Vec<KeyedRow> = own_rows(portal, PROVIDERS)
        .filter(|(_, row)| matches(row))
        .map(|(key, row)| (format!("row/{key}"), row))
        .collect();
    for (index, store) in fhir_people::fhir_stores(portal.world).enumerate() {
        for kind in ["Practitioner", "Organization"] {
            let prefix = format!("s{index:02}{kind}/");
            let found = match npi {
                Some(npi) => {
                    let hits = fhir_people::with_identifier(store, kind, npi);
                    hits.iter().map(|hit| (hit.record.key.to_owned(), Value::clone(&hit.record.json()))).collect()
                }
                None => {
                    let criteria = PersonFilter { name: name.as_deref(), birth_date: None };
                    fhir_people::list(store, kind, &criteria, cursor_within(request, &prefix), request.limit + 1)
                }
            };
            let rows = found.iter().map(|(key, resource)| (format!("{prefix}{key}"), provider_row(store, resource)));
            rows_by_key.extend(rows.filter(|(_, row)| npi.is_none() || matches(row)));
        }
    }
    let page = pagination::page(rows_by_key, request, SortOrder::Ascending);
    let action = PortalAction {
        r#type: EventType::PortalSearch,
        name: "search providers",
        request: json!({"npi": npi, "name": name}),
    };
    let event = action.count_event(portal, page.items.len());
    Outcome { answer: Ok(page), changes: Vec::new(), events: vec![event] }
}

/// Lists formulary entries by drug.
pub fn formulary(portal: &PortalContext<'_>, drug: Option<&str>, request: &PageRequest) -> PortalOutcome<Page<Value>> {
    let page = pagination::page(formulary::entries(portal, drug.unwrap_or_default()), request, SortOrder::Ascending);
    let action =
        PortalAction { r#type: EventType::PortalSearch, name: "search formulary", request: json!({"drug": drug}) };
    let event = action.count_event(portal, page.items.len());
    Outcome { answer: Ok(page), changes: Vec::new(), events: vec![event] }
}
