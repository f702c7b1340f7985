//! Imaging, screening tests and procedures, with their reports and claims.

use serde_json::{Value, json};

use super::Builder;
use super::claims::{self, Service};
use super::elements::{LOINC, SNOMED, concept, hl7, meta, reference, service};
use super::notes;
use super::timeline::{Visit, VisitReason};
use crate::date::Date;
use crate::health::is_of;
use crate::module::{ModuleKind, Screening, StudyPlan};

/// Orders the studies that are due at a primary care visit. Each study is a separate encounter a few weeks later.
pub(super) fn write_due(builder: &mut Builder<'_>, visit: &Visit, encounter: &str) {
    for (place, module) in builder.population.tables.modules.iter().enumerate() {
        if let Some(screening) = module.screening.as_ref().filter(|_| builder.health.programs.contains(&place)) {
            screen(builder, (visit, encounter), &module.id, screening);
        }
        for test in &module.imaging {
            let mut chance = builder.population.random(builder.person.index, &test.service);
            let is_there = builder.health.had(place, visit.date.plus(-42));
            if module.kind == ModuleKind::Chronic
                && is_there
                && chance.percent(test.share)
                && due(builder, test, visit.date, 9999)
            {
                let reason = module.problem.as_ref().map_or(("", ""), |p| (p.icd10.as_str(), p.name.as_str()));
                perform(builder, (visit, encounter), test, reason);
            }
        }
        refer(builder, visit, encounter, place);
    }
}

fn due(builder: &Builder<'_>, test: &'static StudyPlan, date: Date, months: i64) -> bool {
    builder.studies.get(test.service.as_str()).is_none_or(|last| date.months_since(*last) >= months)
}

fn screen(builder: &mut Builder<'_>, (visit, encounter): (&Visit, &str), id: &str, screening: &'static Screening) {
    let condition = is_of(screening.sex, &builder.person)
        && (screening.ages[0]..=screening.ages[1]).contains(&builder.person.age(visit.date));
    let mut chance = builder.population.random(builder.person.index, &format!("{id}:test"));
    let Some(mut test) = screening.tests.get(chance.weighted(screening.tests.iter().map(|test| test.share))) else {
        return;
    };
    // Many anticoagulated patients choose the test that needs no interruption.
    if let Some(hold) = &test.anticoagulated {
        let is = super::medications::takes_group(builder, "anticoagulant");
        if is && !chance.percent(hold.percent) {
            test = screening.tests.first().unwrap_or(test);
        }
    }
    let months = test.every_months.unwrap_or(screening.every_months);
    if condition && due(builder, test, visit.date, months) {
        perform(builder, (visit, encounter), test, (&screening.reason.icd10, &screening.reason.name));
    }
}

fn perform(
    builder: &mut Builder<'_>,
    (visit, ordered_at): (&Visit, &str),
    test: &'static StudyPlan,
    reason: (&'static str, &'static str),
) {
    let mut date = visit.date.plus(builder.random.between(7, 30)).workday();
    while let Some((_, end)) = builder.stays.iter().find(|(start, end)| (*start..=*end).contains(&date)) {
        date = end.plus(7).workday();
    }
    if date > builder.end() {
        return;
    }
    builder.studies.insert(&test.service, date);
    let specialty = test.specialty.as_deref().unwrap_or(if test.stool { "primary" } else { "radiology" });
    let study = Visit {
        date,
        minute: 540 + builder.random.below(20) * 15,
        reason: VisitReason::Office,
        specialty,
        modules: Vec::new(),
    };
    let encounter = write_encounter(builder, &study, reason);
    let order = write_order(builder, (visit, ordered_at), date, test, reason);
    let interruption = interruption(builder, test);
    let choice = builder.random.index(test.findings.len());
    let abnormal = test.abnormal.as_ref().filter(|abnormal| builder.random.percent(abnormal.percent));
    let findings = test.findings.get(choice).map_or("", String::as_str);
    let findings = abnormal.map_or(findings, |abnormal| abnormal.findings.as_str());
    let usual = test.impression.get(choice).map_or("Negative.", String::as_str);
    let impression = abnormal.map_or(usual, |abnormal| abnormal.impression.as_str());
    if test.procedure {
        write_procedure(builder, &study, &encounter, test, &order, interruption.as_deref());
    }
    if test.stool {
        write_stool(builder, &study, &encounter, test, abnormal.map(|abnormal| abnormal.impression.as_str()));
    } else {
        let indication = test.indication.as_deref().unwrap_or(reason.1);
        let text = notes::report(builder, &study, test, indication, findings, impression, interruption.as_deref());
        write_report(builder, &study, &encounter, test, (&order, impression), &text);
    }
    let billed = Service {
        code: test.service.clone(),
        name: test.name.clone(),
        cents: test.fee * 100,
        advanced_imaging: matches!(test.modality.as_deref(), Some("MR" | "CT" | "NM" | "PT")),
    };
    claims::write(builder, &study, &encounter, &(reason.0.to_owned(), reason.1.to_owned()), &[billed]);
}

/// Writes the encounter of a study, and returns its id.
fn write_encounter(builder: &mut Builder<'_>, visit: &Visit, reason: (&'static str, &'static str)) -> String {
    let encounter = builder.id("enc");
    let who = builder.population.practice.of_specialty(visit.specialty, builder.person.index).reference();
    builder.resources.push(json!({"resourceType": "Encounter", "id": encounter, "meta": meta("us-core-encounter"),
        "identifier": [{"system": "urn:verial:encounter", "value": encounter}], "status": "finished",
        "class": {"system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": "AMB", "display": "ambulatory"},
        "type": [concept(SNOMED, "308335008", "Patient encounter procedure")], "subject": builder.subject(),
        "participant": [{"individual": who}], "period": {"start": visit.date.at(visit.minute), "end": visit.date.at(visit.minute + 45)},
        "reasonCode": [concept(super::elements::ICD10, reason.0, reason.1)],
        "location": [{"location": reference("Location", crate::practice::location_of(visit.specialty))}],
        "serviceProvider": reference("Organization", crate::practice::organization_of(visit.specialty))}));
    encounter
}

/// The interruption of an anticoagulant for a procedure.
fn interruption(builder: &Builder<'_>, test: &StudyPlan) -> Option<String> {
    let plan = test.anticoagulated.as_ref()?;
    let drug = super::medications::of_group(builder, "anticoagulant")?;
    let short = builder.population.tables.drugs.get(drug).map_or(drug, |drug| drug.short.as_str());
    let days = plan.hold.get(drug).copied().unwrap_or(2).to_string();
    Some(notes::filled(&plan.instructions, &[("anticoagulant", short), ("days", &days)]))
}

/// Orders a study at a visit, for another day.
fn write_order(
    builder: &mut Builder<'_>,
    (visit, encounter): (&Visit, &str),
    date: Date,
    test: &StudyPlan,
    reason: (&str, &str),
) -> String {
    let id = builder.id("ord");
    let who = builder.population.practice.of_specialty(visit.specialty, builder.person.index).reference();
    let category =
        if test.modality.is_some() { ("363679005", "Imaging") } else { ("103693007", "Diagnostic procedure") };
    builder.resources.push(json!({"resourceType": "ServiceRequest", "id": id, "meta": meta("us-core-servicerequest"),
        "status": "completed", "intent": "order", "category": [concept(SNOMED, category.0, category.1)],
        "code": service(&test.service, &test.name), "subject": builder.subject(), "encounter": reference("Encounter", encounter),
        "occurrenceDateTime": date.to_string(), "authoredOn": visit.date.at(visit.minute + 15), "requester": who,
        "reasonCode": [concept(super::elements::ICD10, reason.0, reason.1)]}));
    id
}

fn write_procedure(
    builder: &mut Builder<'_>,
    visit: &Visit,
    encounter: &str,
    test: &StudyPlan,
    order: &str,
    interruption: Option<&str>,
) {
    let id = builder.id("proc");
    let mut code = service(&test.service, &test.name);
    if let (Some(snomed), Some(coding)) = (&test.snomed, code["coding"].as_array_mut()) {
        coding.push(json!({"system": SNOMED, "code": snomed, "display": "Colonoscopy"}));
    }
    let who = builder.population.practice.of_specialty(visit.specialty, builder.person.index).reference();
    let mut resource = json!({"resourceType": "Procedure", "id": id, "meta": meta("us-core-procedure"),
        "basedOn": [reference("ServiceRequest", order)], "status": "completed", "code": code, "subject": builder.subject(),
        "encounter": reference("Encounter", encounter),
        "performedPeriod": {"start": visit.date.at(visit.minute), "end": visit.date.at(visit.minute + 40)},
        "performer": [{"actor": who}]});
    if let Some(interruption) = interruption {
        resource["note"] = json!([{"text": interruption}]);
    }
    builder.resources.push(resource);
}

fn write_stool(builder: &mut Builder<'_>, visit: &Visit, encounter: &str, test: &StudyPlan, positive: Option<&str>) {
    let id = builder.id("obs");
    let (code, display) = if positive.is_some() { ("10828004", "Positive") } else { ("260385009", "Negative") };
    let (flag, flag_name) = if positive.is_some() { ("A", "Abnormal") } else { ("N", "Normal") };
    let mut resource = json!({"resourceType": "Observation", "id": id, "meta": meta("us-core-observation-lab"),
        "status": "final", "category": [hl7("observation-category", "laboratory", "Laboratory")],
        "code": concept(LOINC, test.loinc.as_deref().unwrap_or_default(), &test.name), "subject": builder.subject(),
        "encounter": reference("Encounter", encounter), "effectiveDateTime": visit.date.at(visit.minute),
        "performer": [reference("Organization", "org-lab")], "valueCodeableConcept": concept(SNOMED, code, display),
        "interpretation": [hl7("v3-ObservationInterpretation", flag, flag_name)]});
    if let Some(impression) = positive {
        resource["note"] = json!([{"text": impression}]);
    }
    builder.resources.push(resource);
}

fn write_report(
    builder: &mut Builder<'_>,
    visit: &Visit,
    encounter: &str,
    test: &StudyPlan,
    (order, impression): (&str, &str),
    text: &str,
) {
    let id = builder.id("rep");
    let (code, display) = if test.procedure { ("LP7796-8", "Endoscopy") } else { ("LP29684-5", "Radiology") };
    let who = builder.population.practice.of_specialty(visit.specialty, builder.person.index).reference();
    builder.resources.push(json!({"resourceType": "DiagnosticReport", "id": id, "meta": meta("us-core-diagnosticreport-note"),
        "basedOn": [reference("ServiceRequest", order)], "status": "final", "category": [concept(LOINC, code, display)],
        "code": service(&test.service, &test.name), "subject": builder.subject(), "encounter": reference("Encounter", encounter),
        "effectiveDateTime": visit.date.at(visit.minute), "issued": visit.date.at(visit.minute + 120), "performer": [who],
        "conclusion": impression, "presentedForm": [notes::attachment(text, &test.name, visit.date)]}));
    notes::document(builder, visit, encounter, ("18748-4", "Diagnostic imaging study"), text.to_owned());
}

/// Writes a referral letter with its order, once for each module that needs one.
fn refer(builder: &mut Builder<'_>, visit: &Visit, encounter: &str, place: usize) {
    let module = &builder.population.tables.modules[place];
    let Some(referral) = &module.refer else { return };
    let mut chance = builder.population.random(builder.person.index, &format!("{}:refer", module.id));
    let first = !builder.studies.contains_key(referral.specialty.as_str());
    if !first || !builder.health.had(place, visit.date.plus(-200)) || !chance.percent(referral.share) {
        return;
    }
    builder.studies.insert(&referral.specialty, visit.date);
    let id = builder.id("ord");
    let practice = &builder.population.practice;
    let from = practice.of_specialty(visit.specialty, builder.person.index).reference();
    let to = practice.of_specialty(&referral.specialty, builder.person.index).reference();
    builder.resources.push(json!({"resourceType": "ServiceRequest", "id": id, "meta": meta("us-core-servicerequest"),
        "status": if builder.person.death.is_some() { "revoked" } else { "active" }, "intent": "order",
        "category": [concept(SNOMED, "3457005", "Patient referral")],
        "code": {"text": format!("Referral to {}", referral.specialty)}, "subject": builder.subject(),
        "encounter": reference("Encounter", encounter), "occurrenceDateTime": visit.date.plus(14).to_string(),
        "authoredOn": visit.date.at(visit.minute + 15), "requester": from, "performer": [to],
        "note": [{"text": referral.question}]}));
    let text = notes::letter(builder, visit, &referral.specialty, &referral.question);
    notes::document(builder, visit, encounter, ("57133-1", "Referral note"), text);
}

pub(super) fn is_cesarean(builder: &Builder<'_>, visit: &Visit) -> bool {
    let modules = &builder.population.tables.modules;
    let plan = visit.modules.iter().find_map(|place| modules[*place].pregnancy.as_ref());
    let mut chance = builder.population.random(builder.person.index, &visit.date.to_string());
    plan.is_some_and(|plan| chance.percent(plan.cesarean_percent))
}

pub(super) fn write_delivery(builder: &mut Builder<'_>, visit: &Visit, encounter: &str) {
    let code: Value = if is_cesarean(builder, visit) {
        concept(SNOMED, "11466000", "Cesarean section")
    } else {
        concept(SNOMED, "177184002", "Normal delivery procedure")
    };
    let id = builder.id("proc");
    let who = builder.population.practice.of_specialty("obstetrics", builder.person.index).reference();
    builder.resources.push(json!({"resourceType": "Procedure", "id": id, "meta": meta("us-core-procedure"),
        "status": "completed", "code": code, "subject": builder.subject(), "encounter": reference("Encounter", encounter),
        "performedDateTime": visit.date.at(visit.minute + 60), "performer": [{"actor": who}]}));
}
