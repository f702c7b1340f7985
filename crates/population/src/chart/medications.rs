//! Prescriptions by the rules of the modules, and the pharmacy's dispenses.

use std::collections::BTreeMap;

use serde_json::json;

use super::Builder;
use super::elements::{RXNORM, hl7, meta, reference};
use super::timeline::Visit;
use crate::date::Date;
use crate::kidney;
use crate::milli::Milli;
use crate::module::{DrugReplacement, Treatment, TreatmentCondition};
use crate::tables::Drug;

pub(crate) struct Medication {
    /// Module and treatment.
    source: (usize, usize),
    pub(crate) drug: &'static str,
    start: Date,
    end: Option<Date>,
    /// Why it was stopped.
    reason: Option<&'static str>,
    encounter: String,
    prescriber: &'static str,
    /// The strictest rule that has permanently changed it.
    rule: Option<usize>,
    /// Whether another prescription of the same drug follows.
    renewed: bool,
    /// Permanently stopped: no drug of its group is started again.
    barred: bool,
}

impl Medication {
    fn is_current(&self, date: Date) -> bool {
        self.end.is_none_or(|end| end > date)
    }
}

/// Days after which a prescription is renewed at the next visit.
const RENEWAL: i64 = 300;

pub(super) fn takes(builder: &Builder<'_>, drug: &str) -> bool {
    builder.medications.iter().any(|medication| medication.is_current(builder.today) && medication.drug == drug)
}

pub(super) fn takes_group(builder: &Builder<'_>, group: &str) -> bool {
    of_group(builder, group).is_some()
}

/// The current drug of a group.
pub(super) fn of_group(builder: &Builder<'_>, group: &str) -> Option<&'static str> {
    let mut current = builder.medications.iter().filter(|medication| medication.is_current(builder.today));
    current.find(|m| group_of(builder, m.drug) == Some(group)).map(|m| m.drug)
}

fn group_of(builder: &Builder<'_>, drug: &str) -> Option<&'static str> {
    builder.population.tables.drugs.get(drug).map(|drug| drug.group.as_str())
}

/// The short names of the current drugs of a module.
pub(super) fn of_module(builder: &Builder<'_>, module: Option<usize>) -> Vec<&'static str> {
    let drugs = &builder.population.tables.drugs;
    let is_of = |m: &&Medication| m.is_current(builder.today) && module.is_none_or(|place| m.source.0 == place);
    let current = builder.medications.iter().filter(is_of);
    current.filter_map(|medication| drugs.get(medication.drug)).map(|drug| drug.short.as_str()).collect()
}

/// Starts, changes and stops drugs at a visit, based on its results.
pub(super) fn review(builder: &mut Builder<'_>, visit: &Visit, encounter: &str) {
    for onset in builder.health.onsets.clone() {
        let module = &builder.population.tables.modules[onset.module];
        for (place, treatment) in module.treatments.iter().enumerate() {
            let stream = format!("{}:{}", module.id, treatment.drug);
            let chosen = builder.population.random(builder.person.index, &stream).percent(treatment.share);
            let old_enough = builder.person.age(visit.date) >= treatment.from_age;
            if chosen && old_enough && visit.date >= onset.date.plus_years(treatment.after_years) {
                decide(builder, visit, encounter, (onset.module, place), treatment);
            }
        }
    }
}

fn decide(
    builder: &mut Builder<'_>,
    visit: &Visit,
    encounter: &str,
    source: (usize, usize),
    treatment: &'static Treatment,
) {
    let same = |medication: &&Medication| medication.source == source;
    let last = builder.medications.iter().rfind(same);
    let before = last.and_then(|last| last.rule);
    let current = last.filter(|last| last.is_current(visit.date)).map(|last| last.drug);
    let is_old = last.is_some_and(|last| last.end.is_none() && visit.date.since(last.start) > RENEWAL);
    let replacement_index = treatment.instead.iter().position(|instead| is_met(builder, &instead.when, visit.date));
    // A permanently reduced dose is not increased because of one better value.
    let rule = match (replacement_index, before) {
        (Some(now), Some(before)) => Some(now.min(before)),
        (now, before) => now.or(before),
    };
    let instead = rule.map(|rule| &treatment.instead[rule]);
    let wanted = instead.map_or(Some(treatment.drug.as_str()), |instead| instead.drug.as_deref());
    let kept = rule.filter(|rule| is_lasting(&treatment.instead[*rule].when));
    if current == wanted {
        if let Some(drug) = current.filter(|_| is_old) {
            stop(builder, source, |old| (old.end, old.renewed) = (Some(visit.date), true));
            start(builder, visit, encounter, source, drug, before);
        }
        return;
    }
    if current.is_none() && instead.is_some_and(|instead| instead.no_start) {
        return;
    }
    if current.is_some() {
        let reason = instead.and_then(why).unwrap_or("Usual dose again");
        stop(builder, source, |old| {
            (old.end, old.reason) = (Some(visit.date), Some(reason));
            (old.rule, old.barred) = (kept, kept.is_some() && wanted.is_none());
        });
    }
    let course = builder.population.tables.drugs.get(wanted.unwrap_or_default()).is_some_and(|drug| drug.course);
    let ready = builder.medications.iter().filter(same).all(|m| !course || visit.date.since(m.start) > 400);
    if let Some(drug) = wanted.filter(|drug| ready && may_start(builder, treatment, drug, visit.date)) {
        if course && !builder.random.percent(45) {
            return;
        }
        start(builder, visit, encounter, source, drug, kept);
    }
}

fn why(instead: &'static DrugReplacement) -> Option<&'static str> {
    instead.stop.as_deref().or(instead.reason.as_deref())
}

fn is_lasting(when: &TreatmentCondition) -> bool {
    when.egfr_below.is_some() || when.potassium_at_least.is_some()
}

fn is_met(builder: &Builder<'_>, when: &TreatmentCondition, date: Date) -> bool {
    let latest = |name: &str| builder.latest.get(name).copied();
    let has = |id: &str| builder.population.tables.modules.iter().position(|module| module.id == id);
    let egfr = when.egfr_below.is_none_or(|limit| latest("egfr").is_some_and(|egfr| egfr.0 < limit * 1000));
    let potassium = when.potassium_at_least.is_none_or(|limit| latest("potassium").is_some_and(|value| value >= limit));
    let age = builder.person.age(date);
    let reduces = || {
        let (weight, creatinine) = (latest("weight"), latest("creatinine"));
        kidney::reduces_apixaban(age, weight.unwrap_or(Milli(99_000)), creatinine.unwrap_or_default())
    };
    egfr && potassium
        && when.age_at_least.is_none_or(|limit| age >= limit)
        && when.has.as_deref().is_none_or(|id| has(id).is_some_and(|place| builder.health.had(place, date)))
        && (!when.pregnant || builder.health.weeks(date).is_some())
        && (!when.anticoagulated || takes_group(builder, "anticoagulant"))
        && (!when.apixaban_reduction || reduces())
}

fn may_start(builder: &Builder<'_>, treatment: &Treatment, drug: &str, date: Date) -> bool {
    let long = |m: &Medication, drug: &str| m.drug == drug && date.since(m.start) > 90;
    let required = treatment.requires.as_ref();
    let group = group_of(builder, drug);
    // Never starts a second drug of a group, or one of a permanently stopped group.
    let is_same = |m: &Medication| (m.is_current(date) || m.barred) && group_of(builder, m.drug) == group;
    !builder.medications.iter().any(is_same)
        && required.is_none_or(|required| builder.medications.iter().any(|medication| long(medication, required)))
}

/// Stops the current drug of a treatment. `change` says how.
fn stop(builder: &mut Builder<'_>, source: (usize, usize), change: impl FnOnce(&mut Medication)) {
    if let Some(current) = builder.medications.iter_mut().rfind(|m| m.source == source && m.end.is_none()) {
        change(current);
    }
}

fn start(
    builder: &mut Builder<'_>,
    visit: &Visit,
    encounter: &str,
    source: (usize, usize),
    drug: &'static str,
    rule: Option<usize>,
) {
    let course = builder.population.tables.drugs.get(drug).filter(|drug| drug.course);
    let end = course.map(|drug| visit.date.plus(drug.supply_days));
    let (start, encounter, prescriber) = (visit.date, encounter.to_owned(), visit.specialty);
    builder.medications.push(Medication {
        source,
        drug,
        start,
        end,
        reason: None,
        encounter,
        prescriber,
        rule,
        renewed: false,
        barred: false,
    });
}

/// Writes the requests with their final status, each followed by its fills.
pub(super) fn write_all(builder: &mut Builder<'_>) {
    // The due date of the next fill of each treatment. A renewal continues after the previous prescription.
    let mut next: BTreeMap<((usize, usize), &str), Date> = BTreeMap::new();
    for mut medication in std::mem::take(&mut builder.medications) {
        if let (None, Some(death)) = (medication.end, builder.person.death) {
            (medication.end, medication.reason) = (Some(death), Some("Patient deceased"));
        }
        if let Some(drug) = builder.population.tables.drugs.get(medication.drug) {
            let request = write_request(builder, &medication, drug);
            let key = (medication.source, medication.drug);
            let first = next.get(&key).copied().unwrap_or(medication.start).max(medication.start);
            let after = write_fills(builder, &medication, drug, &request, first);
            next.insert(key, after);
        }
        builder.medications.push(medication);
    }
}

fn write_request(builder: &mut Builder<'_>, medication: &Medication, drug: &Drug) -> String {
    let id = builder.id("med");
    let status = match (medication.end, drug.course) {
        (Some(end), true) if end > builder.as_of() => "active",
        (Some(_), true) => "completed",
        (Some(_), false) if medication.renewed => "completed",
        (Some(_), false) => "stopped",
        (None, _) => "active",
    };
    let who = builder.population.practice.of_specialty(medication.prescriber, builder.person.index).reference();
    let mut resource = json!({"resourceType": "MedicationRequest", "id": id, "meta": meta("us-core-medicationrequest"),
        "status": status, "intent": "order", "category": [hl7("medicationrequest-category", "community", "Community")],
        "reportedBoolean": false, "medicationCodeableConcept": code(drug), "subject": builder.subject(),
        "encounter": reference("Encounter", &medication.encounter), "authoredOn": medication.start.to_string(), "requester": who,
        "dosageInstruction": [{"text": drug.sig}],
        "dispenseRequest": {"numberOfRepeatsAllowed": repeats(drug), "quantity": amount(drug),
            "expectedSupplyDuration": {"value": drug.supply_days, "unit": "d", "system": "http://unitsofmeasure.org", "code": "d"}}});
    if let Some(reason) = medication.reason {
        resource["statusReason"] = json!({"text": reason});
    }
    let problem = builder.problems.iter().find(|problem| problem.module == Some(medication.source.0));
    if let Some(problem) = problem {
        resource["reasonReference"] = json!([reference("Condition", &problem.id)]);
    }
    builder.resources.push(resource);
    id
}

fn code(drug: &Drug) -> serde_json::Value {
    json!({"coding": [{"system": RXNORM, "code": drug.rxnorm, "display": drug.name}], "text": drug.short})
}

fn amount(drug: &Drug) -> serde_json::Value {
    json!({"value": drug.quantity.unwrap_or(drug.per_day * drug.supply_days), "unit": drug.form})
}

/// Refills for a year.
fn repeats(drug: &Drug) -> i64 {
    if drug.course { 0 } else { (360 / drug.supply_days - 1).max(0) }
}

/// Writes the fills: most on time, some late, and some not at all. Returns the due date of the next fill.
fn write_fills(builder: &mut Builder<'_>, medication: &Medication, drug: &Drug, request: &str, first: Date) -> Date {
    let end = medication.end.unwrap_or(builder.end()).min(builder.end());
    let mut date = first.plus(builder.random.between(0, 3));
    let mut filled = 0;
    while date <= end && filled <= repeats(drug) {
        if builder.random.percent(93) {
            let kind = if filled == 0 { ("FF", "First Fill") } else { ("RF", "Refill") };
            filled += 1;
            let id = builder.id("fill");
            builder.resources.push(json!({"resourceType": "MedicationDispense", "id": id,
                "meta": meta("us-core-medicationdispense"), "status": "completed", "medicationCodeableConcept": code(drug),
                "subject": builder.subject(), "performer": [{"actor": reference("Organization", "org-pharmacy")}],
                "authorizingPrescription": [reference("MedicationRequest", request)],
                "type": hl7("v3-ActCode", kind.0, kind.1), "quantity": amount(drug),
                "daysSupply": {"value": drug.supply_days, "unit": "d", "system": "http://unitsofmeasure.org", "code": "d"},
                "whenHandedOver": date.at(720), "dosageInstruction": [{"text": drug.sig}]}));
        }
        if drug.course {
            break;
        }
        date = date.plus(drug.supply_days + builder.random.between(-3, 12));
    }
    date
}
