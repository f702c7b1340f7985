//! Portal rows for people and organizations of the playground's FHIR data.

use clinical::{Coverage, MemberId, PartialDateTime, Person, npi_of};
use fhir::search::{escape, parse};
use fhir::{ResourceReference, ResourceType};
use model::Timestamp;
use model::simulator::SimulatorType;
use serde::Serialize;
use serde_json::Value;
use world::{Direction, Hit, Page, Records, Seq, Window, World};

use super::pagination::KeyedRow;
use super::rows::text;

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

/// A member of the FHIR data, as the portal lists them.
#[derive(Serialize)]
struct MemberRow<'a> {
    member_id: Option<&'a str>,
    patient_id: &'a str,
    name: Option<String>,
    given_name: Option<String>,
    family_name: Option<&'a str>,
    birth_date: Option<&'a str>,
    gender: Option<&'a str>,
    phone: Option<&'a str>,
    address: Option<String>,
    coverage_status: Option<&'a str>,
    plan: Option<&'a str>,
    payer: Option<&'a str>,
    coverage_start: Option<&'a str>,
    coverage_end: Option<&'a str>,
}

/// A practitioner or organization of the FHIR data, as the portal lists them.
#[derive(Serialize)]
struct ProviderRow<'a> {
    npi: Option<&'a str>,
    name: Option<String>,
    kind: &'static str,
    specialty: Option<String>,
    phone: Option<&'a str>,
    address: Option<String>,
}

/// The row of a patient, under the coverage that counts at a time.
pub(super) fn member_row(records: &Records, patient: &Value, now: Timestamp) -> Value {
    let id = text(patient, "id").unwrap_or_default();
    let coverages = search(records, "Coverage", &[("beneficiary", format!("Patient/{}", escape(id)))]);
    let coverages: Vec<_> = coverages.iter().map(|hit| hit.record.json()).collect();
    let today = PartialDateTime::from_unix_milliseconds(now.milliseconds()).map(|now| now.date());
    let at = today.and_then(|day| Coverage::position_in_force(coverages.iter().map(|coverage| &**coverage), &day));
    let resource = at.and_then(|at| coverages.get(at)).map_or(&Value::Null, |coverage| &**coverage);
    let (person, coverage) = (Person::new(patient), Coverage::new(resource));
    let name = person.current_name();
    let given: Vec<&str> = name.iter().flat_map(|name| name.given()).collect();
    let (coverage_start, coverage_end) = coverage.period();
    row(&MemberRow {
        member_id: MemberId::of(resource, patient).map(|id| id.as_str()),
        patient_id: id,
        name: name.and_then(|name| name.full()),
        given_name: Some(given.join(" ")).filter(|given| !given.is_empty()),
        family_name: name.and_then(|name| name.family()),
        birth_date: text(patient, "birthDate"),
        gender: person.gender(),
        phone: person.contact("phone"),
        address: person.address().and_then(|address| address.one_line()),
        coverage_status: coverage.status(),
        plan: coverage.plan_name(),
        payer: coverage.payer_name(),
        coverage_start,
        coverage_end,
    })
}

/// The row of a practitioner or organization that can be named as provider.
pub(super) fn provider_row(records: &Records, resource: &Value) -> Value {
    let is_practitioner = text(resource, "resourceType") == Some("Practitioner");
    // Organizations have the contact elements of a person.
    let person = Person::new(resource);
    row(&ProviderRow {
        npi: npi_of(resource),
        name: match is_practitioner {
            true => person.current_name().and_then(|name| name.full()),
            false => text(resource, "name").map(ToOwned::to_owned),
        },
        kind: if is_practitioner { "practitioner" } else { "organization" },
        specialty: if is_practitioner { specialty(records, resource) } else { concept(&resource["type"][0]) },
        phone: person.contact("phone"),
        address: person.address().and_then(|address| address.one_line()),
    })
}

fn row(row: &impl Serialize) -> Value {
    serde_json::to_value(row).unwrap_or_default()
}

fn specialty(records: &Records, practitioner: &Value) -> Option<String> {
    let id = practitioner["id"].as_str().unwrap_or_default();
    let roles = search(records, "PractitionerRole", &[("practitioner", format!("Practitioner/{}", escape(id)))]);
    let role = roles.first().map(|hit| hit.record.json());
    role.and_then(|role| concept(&role["specialty"][0])).or_else(|| concept(&practitioner["qualification"][0]["code"]))
}

fn concept(concept: &Value) -> Option<String> {
    let candidates = [&concept["text"], &concept["coding"][0]["display"], &concept["coding"][0]["code"]];
    let found = candidates.into_iter().filter_map(Value::as_str).find(|text| !text.trim().is_empty());
    found.map(ToOwned::to_owned)
}

/// The patients with a member number. Searches identifiers first, then reads `Coverage.subscriberId`.
pub(super) fn patients_with_member_id(records: &Records, number: &str) -> Vec<KeyedRow> {
    let mut coverages: Vec<_> =
        with_identifier(records, "Coverage", number).iter().map(|hit| hit.record.json()).collect();
    if coverages.is_empty() {
        coverages = coverages_by_subscriber_id(records, number);
    }
    // Exported datasets may have references with the address of the server that they come from.
    let references = coverages
        .iter()
        .filter_map(|coverage| ResourceReference::parse(coverage["beneficiary"]["reference"].as_str()?));
    let ids: Vec<&str> = references
        .filter(|reference| reference.resource_type().as_str() == "Patient")
        .map(|reference| reference.id())
        .collect();
    let referred = ids.iter().filter_map(|id| records.get("Patient", id).live());
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fhir::layer::Layer;
    use serde_json::json;

    use super::*;

    /// The clearinghouse reads the same Coverage in its own test of the member ID.
    #[test]
    fn a_row_is_read_as_the_clearinghouse_reads_it() {
        let code = |code: &str| json!({"coding": [{"code": code}]});
        let patient = json!({"resourceType": "Patient", "id": "ada", "birthDate": "1980-02-29",
            "name": [{"use": "old", "family": "Gray", "given": ["Ada"]}, {"family": "Morrow", "given": ["Ada"]}]});
        let coverage = json!({"resourceType": "Coverage", "id": "c2", "status": "active",
            "identifier": [{"value": "POLICY-7"}, {"type": code("MB"), "value": "W0009"}],
            "beneficiary": {"reference": "Patient/ada"}, "payor": [{"display": "Blue Plan"}],
            "class": [{"type": code("group"), "value": "G1", "name": "Group"}, {"type": code("plan"), "value": "GOLD"}]});
        let ended = json!({"resourceType": "Coverage", "id": "c1", "status": "active", "subscriberId": "OLD",
            "beneficiary": {"reference": "Patient/ada"}, "payor": [{"display": "Red Plan"}], "period": {"end": "2025-12-31"}});
        let lines = [&patient, &ended, &coverage].map(Value::to_string).join("\n");
        let now = Timestamp(1_776_945_600_000);
        let records = Records::new(vec![Arc::new(Layer::build(vec![lines], 1).unwrap())], now);
        let row = member_row(&records, &patient, now);
        for (member, expected) in [
            ("member_id", json!("W0009")),
            ("name", json!("Ada Morrow")),
            ("plan", json!("GOLD")),
            ("payer", json!("Blue Plan")),
            ("phone", Value::Null),
            ("coverage_end", Value::Null),
        ] {
            assert_eq!(row.get(member), Some(&expected), "{member}");
        }
        for (beneficiary, is_found) in [
            ("Patient/ada", true),
            ("Patient/ada/_history/1", true),
            // Exported from another server.
            ("https://example.org/fhir/Patient/ada", true),
        ] {
            let coverage = json!({"resourceType": "Coverage", "id": "c", "subscriberId": "W1",
                "beneficiary": {"reference": beneficiary}});
            let lines = [&patient, &coverage].map(Value::to_string).join("\n");
            let records = Records::new(vec![Arc::new(Layer::build(vec![lines], 1).unwrap())], now);
            assert_eq!(!patients_with_member_id(&records, "W1").is_empty(), is_found, "{beneficiary}");
        }
    }
}
