//! Who is meant: from what a request says of a person to the record's patient and coverage, or why nobody is.

use std::sync::Arc;

use serde_json::Value;
use x12::Segment;

use super::chart::{Chart, is_same, items, text};
use super::coverage::{is_active, member_number};
use super::person::{Difference, Wanted, is_npi};
use super::reject::Reject;
use super::text::fhir_date;

/// Somebody whom the payer insures.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) person: Arc<Value>,
    pub(super) coverage: Arc<Value>,
    pub(super) number: String,
}

/// Whom the request is for: NM1 of the information source.
#[derive(Clone, Debug)]
pub(super) struct Payer {
    pub(super) id: String,
    pub(super) name: String,
    /// None where the record knows no organizations by number.
    organization: Option<Arc<Value>>,
}

impl Payer {
    /// `is_in_rules`: whether an author's rule names the payer.
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
        let is_this = |payor: &Value| match text(payor, "reference") {
            Some(found) => reference.as_deref() == Some(found),
            None => text(payor, "display").is_some_and(|display| is_same(display, &self.name)),
        };
        payors.is_empty() || payors.iter().any(is_this)
    }
}

/// A provider number that cannot be one is refused; whether the payer knows the provider is not asked.
pub(super) fn check_provider(name: &Segment<'_>) -> Result<(), Reject> {
    match name.text_at(8) {
        "XX" if !is_npi(name.text_at(9).trim()) => Err(Reject::new(Reject::PROVIDER_IDENTIFICATION)),
        _ => Ok(()),
    }
}

/// The subscriber, or a member with a number of their own. `day` is that of the service.
pub(super) fn identify(chart: &Chart<'_>, wanted: &Wanted, payer: &Payer, day: &str) -> Result<Member, Reject> {
    if chart.is_absent() {
        return Err(Reject::new(Reject::UNABLE_TO_RESPOND));
    }
    let coverages = chart.coverages_of_member(&wanted.member);
    let insured: Vec<Arc<Value>> = coverages.into_iter().filter(|coverage| payer.insures(coverage)).collect();
    if insured.is_empty() {
        return by_demographics(chart, wanted, payer, day);
    }
    let of_number = insured.iter().flat_map(|coverage| people(chart, coverage, &wanted.member));
    let (same, others): (Vec<Member>, Vec<Member>) =
        of_number.partition(|member| wanted.difference(&member.person).is_none());
    match (chosen(same, day), others.first()) {
        (Some(member), _) => Ok(member),
        (None, Some(other)) => Err(mismatch(wanted.difference(&other.person))),
        (None, None) => Err(Reject::new(Reject::NOT_FOUND)),
    }
}

/// The one in force before the others.
fn chosen(mut members: Vec<Member>, day: &str) -> Option<Member> {
    let at = members.iter().position(|member| is_active(&member.coverage, day)).unwrap_or(0);
    (at < members.len()).then(|| members.swap_remove(at))
}

/// The beneficiary of a coverage, and the subscriber if that is somebody else.
fn people(chart: &Chart<'_>, coverage: &Arc<Value>, number: &str) -> Vec<Member> {
    let references =
        ["beneficiary", "subscriber"].map(|name| coverage.get(name).and_then(|found| text(found, "reference")));
    let [beneficiary, subscriber] = references;
    let subscriber = subscriber.filter(|reference| Some(*reference) != beneficiary);
    let people = beneficiary.into_iter().chain(subscriber).filter_map(|reference| chart.get(reference));
    people.map(|person| Member { person, coverage: Arc::clone(coverage), number: number.to_owned() }).collect()
}

/// Under no known number: is the number wrong, or the person unknown? Without a number the name and birth date decide.
fn by_demographics(chart: &Chart<'_>, wanted: &Wanted, payer: &Payer, day: &str) -> Result<Member, Reject> {
    let has_number = !wanted.member.is_empty();
    if wanted.last.is_empty() || wanted.birth.is_empty() {
        return Err(Reject::new(match (has_number, wanted.last.is_empty()) {
            (true, _) => Reject::NOT_FOUND,
            (false, true) => Reject::MEMBER_NUMBER,
            (false, false) => Reject::BIRTH_MISSING,
        }));
    }
    let birth = fhir_date(&wanted.birth);
    let patients = chart.find("Patient", &[("family", &wanted.last), ("birthdate", &birth)]);
    let same = patients.into_iter().filter(|patient| wanted.difference(patient).is_none());
    let members: Vec<Member> = same.flat_map(|patient| insured(chart, &patient, payer)).collect();
    let with_number: Vec<Member> = members.iter().filter(|member| member.number == wanted.member).cloned().collect();
    if let Some(member) = chosen(with_number, day) {
        return Ok(member);
    }
    let first = members.first().and_then(|member| text(&member.person, "id")).map(str::to_owned);
    let is_one = members.iter().all(|member| text(&member.person, "id") == first.as_deref());
    match chosen(members, day) {
        None => Err(Reject::new(Reject::NOT_FOUND)),
        Some(_) if has_number => Err(Reject::new(Reject::MEMBER_NUMBER)),
        Some(member) if is_one => Ok(member),
        Some(_) => Err(Reject::new(Reject::SEVERAL_FOUND)),
    }
}

fn insured(chart: &Chart<'_>, patient: &Arc<Value>, payer: &Payer) -> Vec<Member> {
    let coverages = chart.coverages_of_patient(patient).into_iter().filter(|coverage| payer.insures(coverage));
    let member = |coverage: Arc<Value>| {
        let number = member_number(&coverage).unwrap_or_default().to_owned();
        Member { person: Arc::clone(patient), coverage, number }
    };
    coverages.map(member).collect()
}

/// Somebody who is insured under the subscriber's number.
pub(super) fn identify_dependent(
    chart: &Chart<'_>,
    wanted: &Wanted,
    subscriber: &Member,
    payer: &Payer,
    day: &str,
) -> Result<Member, Reject> {
    let coverages = chart.coverages_of_member(&subscriber.number);
    let insured = coverages.iter().filter(|coverage| payer.insures(coverage));
    let members: Vec<Member> =
        insured.flat_map(|coverage| people(chart, coverage, &subscriber.number).into_iter().take(1)).collect();
    let (same, others): (Vec<Member>, Vec<Member>) =
        members.into_iter().partition(|member| wanted.difference(&member.person).is_none());
    let has_other_birth = || others.iter().any(|other| wanted.difference(&other.person) == Some(Difference::Birth));
    match chosen(same, day) {
        Some(member) => Ok(member),
        None if has_other_birth() => Err(Reject::new(Reject::BIRTH_MISMATCH)),
        None => Err(Reject::new(Reject::PATIENT_NOT_FOUND)),
    }
}

fn mismatch(difference: Option<Difference>) -> Reject {
    Reject::new(match difference {
        Some(Difference::Name) | None => Reject::NAME,
        Some(Difference::Birth) => Reject::BIRTH_MISMATCH,
        Some(Difference::Gender) => Reject::GENDER,
    })
}
