//! Writes one visit, from the encounter to the claim.

use serde_json::{Value, json};

use super::Builder;
use super::claims::{self, Service};
use super::elements::{ICD10, SNOMED, concept, hl7, meta, reference};
use super::timeline::{Visit, VisitReason, last_day};
use super::{immunizations, medications, notes, problems, results, studies, vitals};
use crate::practice::{location_of, organization_of};

pub(super) fn write(builder: &mut Builder<'_>, visit: &Visit) {
    builder.today = visit.date;
    let encounter = builder.id("enc");
    let place = builder.resources.len();
    let mut services: Vec<Service> = first_service(builder, visit).into_iter().collect();
    vitals::write(builder, visit, &encounter);
    results::write_due(builder, visit, &encounter, &mut services);
    problems::update(builder, visit, &encounter);
    medications::review(builder, visit, &encounter);
    if matches!(visit.reason, VisitReason::Office | VisitReason::Child | VisitReason::Prenatal { .. }) {
        immunizations::write_due(builder, visit, &encounter, &mut services);
    }
    let diagnosis = diagnosis(builder, visit, &encounter);
    if visit.reason == VisitReason::Delivery {
        studies::write_delivery(builder, visit, &encounter);
    }
    if visit.specialty == "primary" {
        studies::write_due(builder, visit, &encounter);
    }
    notes::write(builder, visit, &encounter, &diagnosis.1);
    let resource = encounter_resource(builder, visit, &encounter, &diagnosis);
    builder.resources.insert(place, resource);
    claims::write(builder, visit, &encounter, &diagnosis, &services);
}

/// The diagnosis of the visit (ICD-10-CM code and name).
fn diagnosis(builder: &mut Builder<'_>, visit: &Visit, encounter: &str) -> (String, String) {
    let modules = &builder.population.tables.modules;
    let first = visit.modules.first().map(|place| &modules[*place]);
    let (code, name) = match visit.reason {
        VisitReason::Admission { module } => match &modules[module].admission {
            Some(admission) => (admission.icd10.clone(), admission.name.clone()),
            None => return general(),
        },
        VisitReason::Delivery => match first.and_then(|module| module.pregnancy.as_ref()) {
            Some(plan) => {
                let cesarean = studies::is_cesarean(builder, visit);
                let diagnosis = if cesarean { &plan.cesarean } else { &plan.delivery };
                (diagnosis.icd10.clone(), diagnosis.name.clone())
            }
            None => return general(),
        },
        VisitReason::Office | VisitReason::Child | VisitReason::Prenatal { .. } => {
            let problem =
                visit.modules.first().and_then(|place| builder.problems.iter().find(|p| p.module == Some(*place)));
            let listed = problem.map(|problem| (problem.icd10.to_owned(), problem.name.to_owned()));
            let of_module =
                || first.and_then(|module| module.problem.as_ref()).map(|p| (p.icd10.clone(), p.name.clone()));
            return listed.or_else(of_module).unwrap_or_else(general);
        }
    };
    problems::of_visit(builder, &code, &name, visit, encounter);
    (code, name)
}

fn general() -> (String, String) {
    ("Z00.00".to_owned(), "Encounter for general adult medical examination without abnormal findings".to_owned())
}

fn encounter_resource(builder: &Builder<'_>, visit: &Visit, id: &str, diagnosis: &(String, String)) -> Value {
    let (class, class_name, kind, kind_name) = match visit.reason {
        VisitReason::Admission { .. } | VisitReason::Delivery => {
            ("IMP", "inpatient encounter", "32485007", "Hospital admission")
        }
        VisitReason::Prenatal { .. } => ("AMB", "ambulatory", "424619006", "Prenatal visit"),
        VisitReason::Child => ("AMB", "ambulatory", "185349003", "Encounter for check up"),
        VisitReason::Office if visit.modules.is_empty() => ("AMB", "ambulatory", "185349003", "Encounter for check up"),
        VisitReason::Office => ("AMB", "ambulatory", "185347001", "Encounter for problem"),
    };
    let who = builder.population.practice.of_specialty(visit.specialty, builder.person.index);
    let end = end(builder, visit);
    let mut resource = json!({"resourceType": "Encounter", "id": id, "meta": meta("us-core-encounter"),
        "identifier": [{"system": "urn:verial:encounter", "value": id}], "status": "finished",
        "class": {"system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": class, "display": class_name},
        "type": [concept(SNOMED, kind, kind_name)], "subject": builder.subject(),
        "participant": [{"type": [hl7("v3-ParticipationType", "PPRF", "primary performer")], "individual": who.reference(),
            "period": {"start": visit.date.at(visit.minute)}}],
        "period": {"start": visit.date.at(visit.minute), "end": end},
        "reasonCode": [concept(ICD10, &diagnosis.0, &diagnosis.1)],
        "location": [{"location": reference("Location", location_of(visit.site()))}],
        "serviceProvider": reference("Organization", organization_of(visit.site()))});
    if class == "IMP" {
        resource["hospitalization"] = json!({"dischargeDisposition": hl7("discharge-disposition", "home", "Home")});
    }
    resource
}

fn end(builder: &Builder<'_>, visit: &Visit) -> String {
    if visit.is_inpatient() { last_day(builder, visit).at(1080) } else { visit.date.at(visit.minute + 30) }
}

/// The service that is billed for the visit itself: a code with our own description. Prenatal visits are part of the obstetric package,
/// which is billed at the delivery.
fn first_service(builder: &Builder<'_>, visit: &Visit) -> Option<Service> {
    let (code, name, dollars) = match visit.reason {
        VisitReason::Office if visit.modules.is_empty() => preventive(builder.person.age(visit.date)),
        VisitReason::Child => preventive(builder.person.age(visit.date)),
        VisitReason::Office if visit.modules.len() > 2 => {
            ("99214", "Office visit, established patient, moderate complexity", 185)
        }
        VisitReason::Office => ("99213", "Office visit, established patient, low complexity", 130),
        VisitReason::Prenatal { .. } => return None,
        VisitReason::Delivery if studies::is_cesarean(builder, visit) => {
            ("59510", "Obstetric care with cesarean delivery", 4700)
        }
        VisitReason::Delivery => ("59400", "Obstetric care with vaginal delivery", 4200),
        VisitReason::Admission { .. } => ("99223", "Initial hospital care", 310),
    };
    Some(Service { code: code.to_owned(), name: name.to_owned(), cents: dollars * 100, advanced_imaging: false })
}

/// The preventive visit of an established patient, by age.
fn preventive(age: i64) -> (&'static str, &'static str, i64) {
    match age {
        ..1 => ("99391", "Preventive visit, infant", 160),
        1..=4 => ("99392", "Preventive visit, age 1 to 4", 170),
        5..=11 => ("99393", "Preventive visit, age 5 to 11", 170),
        12..=17 => ("99394", "Preventive visit, age 12 to 17", 185),
        18..=39 => ("99395", "Preventive visit, age 18 to 39", 205),
        40..=64 => ("99396", "Preventive visit, age 40 to 64", 220),
        _ => ("99397", "Preventive visit, age 65 and older", 235),
    }
}
