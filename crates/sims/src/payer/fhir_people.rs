//! Portal rows for people and organizations of the playground's FHIR data.

use fhir::ResourceType;
use fhir::search::{escape, parse};
use model::simulator::SimulatorType;
use serde_json::{Value, json};
use world::{Direction, Hit, Page, Records, Seq, Window, World};

use super::pagination::KeyedRow;

/// The records of all active FHIR sandboxes, except remote ones.
pub(super) fn fhir_stores(world: &World) -> impl Iterator<Item = &Records> {
    let is_local = |config: &Value| config.get("remote").is_none_or(Value::is_null);
    let stores = world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Fhir && sandbox.is_active);
    stores.filter(move |sandbox| is_local(&sandbox.config)).map(|sandbox| &sandbox.records)
}

pub(super) fn kind(name: &str) -> Option<ResourceType> {
    name.parse().ok()
}

/// The resources that a FHIR search finds. An invalid search finds nothing.
pub(super) fn search<'r>(records: &'r Records, kind_name: &str, pairs: &[(&str, String)]) -> Vec<Hit<'r>> {
    let pairs: Vec<(String, String)> = pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let Some(kind) = kind(kind_name) else { return Vec::new() };
    match parse(kind, "", &pairs) {
        Ok(query) if query.ignored.is_empty() => {
            records.search(kind, &query, Seq::MAX, Page { offset: 0, count: usize::MAX }).matches
        }
        _ => Vec::new(),
    }
}

/// Searches by identifier, in any system.
pub(super) fn with_identifier<'r>(records: &'r Records, kind: &str, value: &str) -> Vec<Hit<'r>> {
    search(records, kind, &[("identifier", escape(value))])
}

/// The search criteria. Without any, everything matches.
#[derive(Clone, Debug, Default)]
pub(super) struct PersonFilter<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) birth_date: Option<&'a str>,
}

impl PersonFilter<'_> {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        let words = self.name.unwrap_or_default().split_whitespace().take(10);
        let names = words.map(|word| ("name", escape(word)));
        names.chain(self.birth_date.map(|date| ("birthdate", date.to_owned()))).collect()
    }
}

/// Lists up to `limit` matching resources of a type, ordered by id, after `from`.
pub(super) fn list<'r>(
    records: &'r Records,
    kind: &'r str,
    filter: &PersonFilter<'_>,
    (from, direction): (Option<&str>, Direction),
    limit: usize,
) -> Vec<(String, Value)> {
    let pairs = filter.pairs();
    if pairs.is_empty() {
        let from = from.map(|key| (kind, key));
        let window = records.window(Some(kind), Window { from, direction, most: limit });
        return window.iter().map(|record| (record.key.to_owned(), Value::clone(&record.json()))).collect();
    }
    let hits = search(records, kind, &pairs);
    let is_after_cursor = |hit: &&Hit<'_>| match (from, direction) {
        (None, _) => true,
        (Some(from), Direction::Forward) => hit.record.key > from,
        (Some(from), Direction::Backward) => hit.record.key < from,
    };
    let read = |hit: &Hit<'_>| (hit.record.key.to_owned(), Value::clone(&hit.record.json()));
    match direction {
        Direction::Forward => hits.iter().filter(is_after_cursor).take(limit).map(read).collect(),
        Direction::Backward => hits.iter().rev().filter(is_after_cursor).take(limit).map(read).collect(),
    }
}

/// The member row of a patient, with the active or else the first coverage.
pub(super) fn member_row(records: &Records, patient: &Value) -> Value {
    let id = patient["id"].as_str().unwrap_or_default();
    let coverages = search(records, "Coverage", &[("beneficiary", format!("Patient/{}", escape(id)))]);
    let coverages: Vec<_> = coverages.iter().map(|hit| hit.record.json()).collect();
    let coverage = coverages.iter().find(|coverage| coverage["status"] == "active").or(coverages.first());
    let coverage = coverage.map_or(&Value::Null, |coverage| &**coverage);
    let name = human_name(&patient["name"]);
    json!({
        "member_id": member_id(patient, coverage),
        "patient_id": id,
        "name": name.0,
        "given_name": name.1,
        "family_name": name.2,
        "birth_date": patient["birthDate"],
        "gender": patient["gender"],
        "phone": telecom(&patient["telecom"], "phone"),
        "address": address(&patient["address"]),
        "coverage_status": coverage["status"],
        "plan": first_text(&[&coverage["class"][0]["name"], &coverage["class"][0]["value"], &coverage["type"]["text"],
            &coverage["type"]["coding"][0]["display"]]),
        "payer": first_text(&[&coverage["payor"][0]["display"]]),
        "coverage_start": coverage["period"]["start"],
        "coverage_end": coverage["period"]["end"],
    })
}

/// The number on the card: of the coverage, else of the patient.
fn member_id(patient: &Value, coverage: &Value) -> Value {
    let is_member = |identifier: &&Value| identifier["type"]["coding"][0]["code"] == "MB";
    let identifiers = || patient["identifier"].as_array().into_iter().flatten();
    let own = identifiers().find(is_member).or_else(|| identifiers().next()).map_or(&Value::Null, |own| &own["value"]);
    first_text(&[&coverage["subscriberId"], &coverage["identifier"][0]["value"], own])
}

/// The provider row of a practitioner or organization.
pub(super) fn provider_row(records: &Records, resource: &Value) -> Value {
    let is_person = resource["resourceType"] == "Practitioner";
    let name = if is_person { human_name(&resource["name"]).0 } else { resource["name"].clone() };
    let specialty = if is_person { specialty(records, resource) } else { concept(&resource["type"][0]) };
    json!({
        "npi": npi(resource),
        "name": name,
        "kind": if is_person { "practitioner" } else { "organization" },
        "specialty": specialty,
        "phone": telecom(&resource["telecom"], "phone"),
        "address": address(&resource["address"]),
    })
}

fn npi(resource: &Value) -> Value {
    let identifiers = || resource["identifier"].as_array().into_iter().flatten();
    let is_npi = |identifier: &&Value| identifier["system"] == "http://hl7.org/fhir/sid/us-npi";
    let looks_like_npi = |identifier: &&Value| {
        identifier["value"]
            .as_str()
            .is_some_and(|value| value.len() == 10 && value.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let found = identifiers().find(is_npi).or_else(|| identifiers().find(looks_like_npi));
    found.map_or(Value::Null, |identifier| identifier["value"].clone())
}

fn specialty(records: &Records, practitioner: &Value) -> Value {
    let id = practitioner["id"].as_str().unwrap_or_default();
    let roles = search(records, "PractitionerRole", &[("practitioner", format!("Practitioner/{}", escape(id)))]);
    let role = roles.first().map(|hit| hit.record.json());
    let role_specialty = role.map(|role| concept(&role["specialty"][0])).filter(|text| !text.is_null());
    role_specialty.unwrap_or_else(|| concept(&practitioner["qualification"][0]["code"]))
}

fn concept(concept: &Value) -> Value {
    first_text(&[&concept["text"], &concept["coding"][0]["display"], &concept["coding"][0]["code"]])
}

/// The full name, the given names and the family name.
fn human_name(names: &Value) -> (Value, Value, Value) {
    let names = || names.as_array().into_iter().flatten();
    let name = names().find(|name| name["use"] == "official").or_else(|| names().next()).unwrap_or(&Value::Null);
    let given: Vec<&str> = name["given"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let (given, family) = (given.join(" "), name["family"].as_str().unwrap_or_default());
    let full = format!("{given} {family}");
    let text = |words: &str| if words.is_empty() { Value::Null } else { words.into() };
    let full = if full.trim().is_empty() { first_text(&[&name["text"]]) } else { text(full.trim()) };
    (full, text(&given), text(family))
}

fn telecom(points: &Value, system: &str) -> Value {
    let mut points = points.as_array().into_iter().flatten();
    points.find(|point| point["system"] == system).map_or(Value::Null, |point| point["value"].clone())
}

fn address(addresses: &Value) -> Value {
    let address = &addresses[0];
    let lines = address["line"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let parts = lines.chain(["city", "state", "postalCode"].into_iter().filter_map(|part| address[part].as_str()));
    let parts: Vec<&str> = parts.collect();
    if parts.is_empty() { first_text(&[&address["text"]]) } else { parts.join(", ").into() }
}

/// The first candidate that is a non-blank string.
fn first_text(candidates: &[&Value]) -> Value {
    let found = candidates.iter().find(|value| value.as_str().is_some_and(|text| !text.trim().is_empty()));
    found.map_or(Value::Null, |value| Value::clone(value))
}

/// The patients with a member number. Searches identifiers first, then reads `Coverage.subscriberId`.
pub(super) fn patients_with_member_id(records: &Records, number: &str) -> Vec<KeyedRow> {
    let mut coverages: Vec<_> =
        with_identifier(records, "Coverage", number).iter().map(|hit| hit.record.json()).collect();
    if coverages.is_empty() {
        coverages = coverages_by_subscriber_id(records, number);
    }
    let references: Vec<String> = coverages
        .iter()
        .filter_map(|coverage| coverage["beneficiary"]["reference"].as_str())
        .filter_map(|reference| reference.rsplit("Patient/").next().map(ToOwned::to_owned))
        .collect();
    let referred = references.iter().filter_map(|id| records.get("Patient", id).live());
    let mut found: Vec<KeyedRow> =
        referred.map(|record| (record.key.to_owned(), Value::clone(&record.json()))).collect();
    if found.is_empty() {
        let patients = with_identifier(records, "Patient", number);
        found = patients.iter().map(|hit| (hit.record.key.to_owned(), Value::clone(&hit.record.json()))).collect();
    }
    found.sort_by(|left, right| left.0.cmp(&right.0));
    found.dedup_by(|left, right| left.0 == right.0);
    found
}

/// How many coverages are read. FHIR R4 has no search parameter for `Coverage.subscriberId`.
const MAX_COVERAGES_READ: usize = 200_000;

fn coverages_by_subscriber_id(records: &Records, number: &str) -> Vec<std::sync::Arc<Value>> {
    let quoted = Value::from(number).to_string();
    let all = records.live("Coverage", Seq::MAX).take(MAX_COVERAGES_READ);
    let candidates = all.filter(|record| record.text().contains(&quoted)).map(|record| record.json());
    candidates.filter(|coverage| coverage["subscriberId"] == number).take(MAX_COVERAGES_FOUND).collect()
}

const MAX_COVERAGES_FOUND: usize = 100;
