//! Finds the patient and coverage that a request identifies, or the reject reason.

use std::sync::Arc;

use clinical::Npi;
use serde_json::Value;
use x12::Segment;

use super::chart::{Chart, is_same, is_same_reference, items, text};
use super::coverage::{member_number, position_in_force};
use super::person::{Mismatch, PersonQuery};
use super::reject::Reject;
use super::text::fhir_date;

/// An insured person.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) person: Arc<Value>,
    pub(super) coverage: Arc<Value>,
    pub(super) number: String,
}

/// The payer that a request is addressed to: NM1 of the information source.
#[derive(Clone, Debug)]
pub(super) struct Payer {
    pub(super) id: String,
    pub(super) name: String,
    /// None if the FHIR data has no organizations with identifiers.
    organization: Option<Arc<Value>>,
}

impl Payer {
    /// `is_in_rules`: whether an authored rule names the payer.
    pub(super) fn find(chart: &Chart<'_>, name: &Segment<'_>, is_in_rules: bool) -> Result<Self, Reject> {
        Self::named(chart, name.text_at(9).trim(), name.text_at(3).trim(), is_in_rules)
    }

    pub(super) fn named(chart: &Chart<'_>, id: &str, name: &str, is_in_rules: bool) -> Result<Self, Reject> {
        let organization = chart.organization(id, name);
        if organization.is_none() && !is_in_rules && chart.numbers_organizations() {
            return Err(Reject::new(Reject::PAYER));
        }
        Ok(Self { id: id.to_owned(), name: name.to_owned(), organization })
    }

    fn insures(&self, coverage: &Value) -> bool {
        let Some(organization) = &self.organization else { return true };
        let payors = items(coverage, "payor");
        let reference = text(organization, "id").map(|id| format!("Organization/{id}"));
        let is_payer = |payor: &Value| match text(payor, "reference") {
            Some(found) => reference.as_deref().is_some_and(|reference| is_same_reference(reference, found)),
            None => text(payor, "display").is_some_and(|display| is_same(display, &self.name)),
        };
        payors.is_empty() || payors.iter().any(is_payer)
    }
}

/// Rejects an invalid NPI. Whether the payer knows the provider is not checked.
pub(super) fn check_provider(name: &Segment<'_>) -> Result<(), Reject> {
    match name.text_at(8) {
        "XX" if name.text_at(9).trim().parse::<Npi>().is_err() => Err(Reject::new(Reject::PROVIDER_IDENTIFICATION)),
        _ => Ok(()),
    }
}

/// Finds the subscriber, or another member with a number of their own. `day` is the date of service.
pub(super) fn identify(chart: &Chart<'_>, query: &PersonQuery, payer: &Payer, day: &str) -> Result<Member, Reject> {
    if chart.is_absent() {
        return Err(Reject::new(Reject::UNABLE_TO_RESPOND));
    }
    let coverages = chart.coverages_of_member(&query.member);
    let insured: Vec<Arc<Value>> = coverages.into_iter().filter(|coverage| payer.insures(coverage)).collect();
    if insured.is_empty() {
        return by_demographics(chart, query, payer, day);
    }
    let candidates = insured.iter().flat_map(|coverage| covered_people(chart, coverage, &query.member));
    let (matching, others): (Vec<Member>, Vec<Member>) =
        candidates.partition(|member| query.mismatch(&member.person).is_none());
    match (active_first(matching, day), others.first()) {
        (Some(member), _) => Ok(member),
        (None, Some(other)) => Err(reject_reason(query.mismatch(&other.person))),
        (None, None) => Err(Reject::new(Reject::NOT_FOUND)),
    }
}

/// The member whose coverage counts on the day.
fn active_first(mut members: Vec<Member>, day: &str) -> Option<Member> {
    let at = position_in_force(members.iter().map(|member| &*member.coverage), day);
    (at < members.len()).then(|| members.swap_remove(at))
}

/// The beneficiary of a coverage, and the subscriber if that is another person.
fn covered_people(chart: &Chart<'_>, coverage: &Arc<Value>, number: &str) -> Vec<Member> {
    let references =
        ["beneficiary", "subscriber"].map(|name| coverage.get(name).and_then(|found| text(found, "reference")));
    let [beneficiary, subscriber] = references;
    let is_beneficiary = |reference: &str| beneficiary.is_some_and(|other| is_same_reference(reference, other));
    let subscriber = subscriber.filter(|reference| !is_beneficiary(reference));
    let people = beneficiary.into_iter().chain(subscriber).filter_map(|reference| chart.get(reference));
    people.map(|person| Member { person, coverage: Arc::clone(coverage), number: number.to_owned() }).collect()
}

/// Searches by name and birth date, for a missing or unknown member number.
fn by_demographics(chart: &Chart<'_>, query: &PersonQuery, payer: &Payer, day: &str) -> Result<Member, Reject> {
    let has_number = !query.member.is_empty();
    if query.last.is_empty() || query.birth.is_empty() {
        return Err(Reject::new(match (has_number, query.last.is_empty()) {
            (true, _) => Reject::NOT_FOUND,
            (false, true) => Reject::MEMBER_NUMBER,
            (false, false) => Reject::BIRTH_MISSING,
        }));
    }
    let birth = fhir_date(&query.birth);
    let patients = chart.find("Patient", &[("family", &query.last), ("birthdate", &birth)]);
    let matching = patients.into_iter().filter(|patient| query.mismatch(patient).is_none());
    let members: Vec<Member> = matching.flat_map(|patient| members_of(chart, &patient, payer)).collect();
    let with_number: Vec<Member> = members.iter().filter(|member| member.number == query.member).cloned().collect();
    if let Some(member) = active_first(with_number, day) {
        return Ok(member);
    }
    let first = members.first().and_then(|member| text(&member.person, "id")).map(str::to_owned);
    let is_unique = members.iter().all(|member| text(&member.person, "id") == first.as_deref());
    match active_first(members, day) {
        None => Err(Reject::new(Reject::NOT_FOUND)),
        Some(_) if has_number => Err(Reject::new(Reject::MEMBER_NUMBER)),
        Some(member) if is_unique => Ok(member),
        Some(_) => Err(Reject::new(Reject::SEVERAL_FOUND)),
    }
}

fn members_of(chart: &Chart<'_>, patient: &Arc<Value>, payer: &Payer) -> Vec<Member> {
    let coverages = chart.coverages_of_patient(patient).into_iter().filter(|coverage| payer.insures(coverage));
    let member = |coverage: Arc<Value>| {
        let number = member_number(&coverage, patient).unwrap_or_default().to_owned();
        Member { person: Arc::clone(patient), coverage, number }
    };
    coverages.map(member).collect()
}

/// Finds a dependent who is insured under the subscriber's number.
pub(super) fn identify_dependent(
    chart: &Chart<'_>,
    query: &PersonQuery,
    subscriber: &Member,
    payer: &Payer,
    day: &str,
) -> Result<Member, Reject> {
    let coverages = chart.coverages_of_member(&subscriber.number);
    let insured = coverages.iter().filter(|coverage| payer.insures(coverage));
    let members: Vec<Member> =
        insured.flat_map(|coverage| covered_people(chart, coverage, &subscriber.number).into_iter().take(1)).collect();
    let (matching, others): (Vec<Member>, Vec<Member>) =
        members.into_iter().partition(|member| query.mismatch(&member.person).is_none());
    let has_other_birth_date = || others.iter().any(|other| query.mismatch(&other.person) == Some(Mismatch::Birth));
    match active_first(matching, day) {
        Some(member) => Ok(member),
        None if has_other_birth_date() => Err(Reject::new(Reject::BIRTH_MISMATCH)),
        None => Err(Reject::new(Reject::PATIENT_NOT_FOUND)),
    }
}

fn reject_reason(mismatch: Option<Mismatch>) -> Reject {
    Reject::new(match mismatch {
        Some(Mismatch::Name) | None => Reject::NAME,
        Some(Mismatch::Birth) => Reject::BIRTH_MISMATCH,
        Some(Mismatch::Gender) => Reject::GENDER,
    })
}
