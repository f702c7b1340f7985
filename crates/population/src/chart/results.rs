//! Laboratory panels: order, specimen, results with ranges and interpretation, report.

use serde_json::{Value, json};

use super::Builder;
use super::claims::Service;
use super::elements::{LOINC, SNOMED, concept, hl7, meta, quantity, reference, service};
use super::timeline::{Visit, VisitReason};
use crate::date::Date;
use crate::kidney;
use crate::milli::Milli;
use crate::tables::{Analyte, Category, OtherUnit, Panel};

/// An unrounded value near the patient's own level, which depends on the diseases.
pub(super) fn sample(builder: &mut Builder<'_>, name: &'static str, date: Date, healthy: (i64, i64)) -> Milli {
    let (mut mean, mut deviation) = healthy;
    for onset in builder.health.onsets.iter().filter(|onset| onset.date <= date) {
        let shifts = &builder.population.tables.modules[onset.module].values;
        if let Some(shift) = shifts.iter().find(|shift| shift.analyte == name) {
            let days = date.since(onset.date).min(15 * 365);
            (mean, deviation) = (shift.mean.0 + shift.drift.0 * days / 365, shift.sd.0);
        }
    }
    // Glucose correlates with A1c.
    let key = if name == "glucose" { "a1c" } else { name };
    let index = builder.person.index;
    let population = builder.population;
    let level = *builder.levels.entry(key).or_insert_with(|| population.random(index, key).normal(0, 1000));
    let noise = builder.random.normal(0, 400);
    let value = Milli((mean + deviation * (level * 9 / 10 + noise) / 1000).max(mean / 5));
    builder.latest.insert(name, value.rounded(digits(builder, name)));
    value
}

fn digits(builder: &Builder<'_>, name: &str) -> u32 {
    builder.population.tables.analytes.get(name).map_or(0, |analyte| analyte.digits)
}

/// The panels of the visit's modules that are due.
pub(super) fn write_due(builder: &mut Builder<'_>, visit: &Visit, encounter: &str, services: &mut Vec<Service>) {
    let modules = &builder.population.tables.modules;
    let mut due: Vec<&'static str> = Vec::new();
    for place in &visit.modules {
        for plan in &modules[*place].labs {
            let with = plan.with.as_ref().is_none_or(|drug| super::medications::takes(builder, drug));
            let last = builder.panels.get(plan.panel.as_str());
            let is_due = last.is_none_or(|last| visit.date.since(*last) > plan.every_months * 30 - 25);
            let old_enough = builder.person.age(visit.date) >= plan.from_age;
            if with && is_due && old_enough && !due.contains(&plan.panel.as_str()) {
                due.push(&plan.panel);
            }
        }
    }
    let yearly = builder.panels.get("cmp").is_none_or(|last| visit.date.since(*last) > 700);
    if visit.reason == VisitReason::Office
        && visit.specialty == "primary"
        && builder.person.age(visit.date) >= 40
        && yearly
    {
        due.extend(["cmp", "lipids", "cbc"].into_iter().filter(|panel| !due.contains(panel)).collect::<Vec<_>>());
    }
    if let VisitReason::Admission { .. } = visit.reason {
        due = vec!["bmp", "cbc"];
    }
    if let VisitReason::Prenatal { weeks } = visit.reason {
        let plans = visit.modules.iter().filter_map(|place| modules[*place].pregnancy.as_ref());
        due.extend(plans.flat_map(|plan| &plan.labs).filter(|lab| lab.week == weeks).map(|lab| lab.panel.as_str()));
    }
    // The comprehensive panel includes the basic one.
    if due.contains(&"cmp") {
        due.retain(|panel| *panel != "bmp");
    }
    for panel in due {
        write_panel(builder, visit, encounter, panel, services);
    }
}

fn write_panel(
    builder: &mut Builder<'_>,
    visit: &Visit,
    encounter: &str,
    name: &'static str,
    services: &mut Vec<Service>,
) {
    let Some(panel) = builder.population.tables.panels.get(name) else { return };
    builder.panels.insert(name, visit.date);
    if name == "cmp" {
        builder.panels.insert("bmp", visit.date);
    }
    let order = write_order(builder, visit, encounter, panel);
    let specimen = panel.specimen.as_deref().map(|kind| write_specimen(builder, visit, kind));
    let mut members = Vec::new();
    for analyte in measured(builder, visit.date, panel) {
        members.push(write_result(builder, visit, encounter, analyte, specimen.as_deref()));
    }
    if specimen.is_some() {
        write_report(builder, visit, encounter, panel, &order, &members);
    }
    services.push(Service {
        code: panel.service.clone(),
        name: panel.name.clone(),
        cents: panel.fee * 100,
        advanced_imaging: false,
    });
}

/// Consistent values of a panel.
fn measured(builder: &mut Builder<'_>, date: Date, panel: &'static Panel) -> Vec<(&'static Analyte, Milli)> {
    let analytes = &builder.population.tables.analytes;
    let found = panel.analytes.iter().filter_map(|name| analytes.get_key_value(name.as_str()));
    let mut values: Vec<(&'static str, &'static Analyte, Milli)> = Vec::new();
    for (name, analyte) in found {
        let value = match name.as_str() {
            "egfr" => continue,
            "creatinine" => creatinine(builder, date),
            name => {
                let value = sample(builder, name, date, (analyte.mean.0, analyte.sd.0));
                treated(builder, name, value).rounded(analyte.digits)
            }
        };
        values.push((name, analyte, value));
        let adult = builder.person.age(date) >= 18;
        if let (true, Some(egfr)) = (adult && name == "creatinine", analytes.get("egfr")) {
            let function = Milli(kidney::egfr(value, builder.person.age(date), builder.person.female) * 1000);
            values.push(("egfr", egfr, function));
        }
    }
    let of = |values: &[(&str, &Analyte, Milli)], name: &str| values.iter().find(|v| v.0 == name).map_or(0, |v| v.2.0);
    let (ldl, hdl, triglycerides) = (of(&values, "ldl"), of(&values, "hdl"), of(&values, "triglycerides"));
    let hemoglobin = of(&values, "hemoglobin");
    for (name, analyte, value) in &mut values {
        match *name {
            "cholesterol" => *value = Milli(ldl + hdl + triglycerides / 5).rounded(0),
            "hematocrit" => *value = Milli(hemoglobin * 3).rounded(1),
            _ => {}
        }
        *value = value.rounded(analyte.digits);
        builder.latest.insert(name, *value);
    }
    values.into_iter().map(|(_, analyte, value)| (analyte, value)).collect()
}

/// The creatinine for the patient's kidney function.
fn creatinine(builder: &mut Builder<'_>, date: Date) -> Milli {
    let age = builder.person.age(date);
    if age < 18 {
        // Bedside Schwartz, for a normal function of 110.
        return Milli(builder.person.height_at(date).0 * 413 / 110_000 + builder.random.between(-30, 30));
    }
    let healthy = 104_000 - (age - 40).max(0) * 900;
    let has_disease = builder.population.tables.modules.iter().position(|module| module.id == "ckd");
    let diseased = has_disease.is_some_and(|place| builder.health.had(place, date));
    let function = sample(builder, "egfr", date, (healthy, 7_000)).0 / 1000;
    let function = if diseased { function.clamp(12, 80) } else { function.clamp(64, 125) };
    kidney::creatinine(function, age, builder.person.female)
}

/// The effect of drugs on a value.
fn treated(builder: &Builder<'_>, name: &str, value: Milli) -> Milli {
    let takes = |group: &str| super::medications::takes_group(builder, group);
    match name {
        "ldl" if takes("statin") => Milli(value.0 * 66 / 100),
        "inr" if super::medications::takes(builder, "warfarin-5") => Milli(value.0 * 5 / 2 + (value.0 - 1000) * 8),
        _ => value,
    }
}

fn write_order(builder: &mut Builder<'_>, visit: &Visit, encounter: &str, panel: &Panel) -> String {
    let id = builder.id("ord");
    let who = builder.population.practice.of_specialty(visit.specialty, builder.person.index).reference();
    let is_lab = panel.specimen.is_some();
    let category = if is_lab { ("108252007", "Laboratory procedure") } else { ("103693007", "Diagnostic procedure") };
    let mut code = service(&panel.service, &panel.name);
    if let Some(coding) = code["coding"].as_array_mut() {
        coding.insert(0, json!({"system": LOINC, "code": panel.loinc, "display": panel.name}));
    }
    builder.resources.push(json!({"resourceType": "ServiceRequest", "id": id, "meta": meta("us-core-servicerequest"),
        "status": "completed", "intent": "order", "category": [concept(SNOMED, category.0, category.1)],
        "code": code, "subject": builder.subject(), "encounter": reference("Encounter", encounter),
        "occurrenceDateTime": visit.date.at(visit.minute + 20), "authoredOn": visit.date.at(visit.minute + 10), "requester": who}));
    id
}

fn write_specimen(builder: &mut Builder<'_>, visit: &Visit, kind: &str) -> String {
    let id = builder.id("spec");
    let (code, name) = match kind {
        "blood" => ("119297000", "Blood specimen"),
        "urine" => ("122575003", "Urine specimen"),
        "plasma" => ("119361006", "Plasma specimen"),
        _ => ("119364003", "Serum specimen"),
    };
    builder.resources.push(
        json!({"resourceType": "Specimen", "id": id, "meta": meta("us-core-specimen"), "status": "available",
        "type": concept(SNOMED, code, name), "subject": builder.subject(),
        "collection": {"collectedDateTime": visit.date.at(visit.minute + 20)}}),
    );
    id
}

fn write_result(
    builder: &mut Builder<'_>,
    visit: &Visit,
    encounter: &str,
    (analyte, value): (&'static Analyte, Milli),
    specimen: Option<&str>,
) -> String {
    let id = builder.id("obs");
    let (profile, category, category_name) = match analyte.category {
        Category::Survey => ("us-core-observation-screening-assessment", "survey", "Survey"),
        Category::Exam => ("us-core-observation-clinical-result", "exam", "Exam"),
        Category::Laboratory => ("us-core-observation-lab", "laboratory", "Laboratory"),
    };
    let who = builder.population.practice.of_specialty(visit.specialty, builder.person.index).reference();
    let is_lab = analyte.category == Category::Laboratory;
    let performer = if is_lab { reference("Organization", "org-lab") } else { who };
    let mut observation = json!({"resourceType": "Observation", "id": id, "meta": meta(profile), "status": "final",
        "category": [hl7("observation-category", category, category_name)], "code": code(builder, analyte),
        "subject": builder.subject(), "encounter": reference("Encounter", encounter),
        "effectiveDateTime": visit.date.at(visit.minute + 20), "issued": visit.date.at(visit.minute + 150),
        "performer": [performer]});
    let rate = builder.population.spec.dirt.unit_variant;
    let other = analyte.other.as_ref().filter(|_| builder.soils("unit_variant", rate));
    observation["valueQuantity"] = result_quantity(analyte, other, value);
    // The reference ranges are for adults.
    if builder.person.age(visit.date) >= 18 {
        observation["interpretation"] = json!([interpretation(analyte, value)]);
        observation["referenceRange"] = json!([range(analyte, other)]);
    }
    if let Some(specimen) = specimen {
        observation["specimen"] = reference("Specimen", specimen);
    }
    builder.resources.push(observation);
    id
}

/// A value in the laboratory's unit, or in its alternative unit.
fn result_quantity(analyte: &Analyte, other: Option<&OtherUnit>, value: Milli) -> Value {
    match other {
        Some(other) => quantity(other.convert(value), other.digits, &other.unit),
        None => quantity(value, analyte.digits, &analyte.unit),
    }
}

fn range(analyte: &Analyte, other: Option<&OtherUnit>) -> Value {
    let mut range = json!({});
    for (name, bound) in [("low", analyte.low), ("high", analyte.high)] {
        if let Some(bound) = bound {
            range[name] = result_quantity(analyte, other, bound);
        }
    }
    range
}

fn code(builder: &mut Builder<'_>, analyte: &Analyte) -> Value {
    let rates = builder.population.spec.dirt.clone();
    if builder.soils("missing_code", rates.missing_code) {
        return json!({"text": analyte.name});
    }
    if builder.soils("code_variant", rates.code_variant) {
        let local = analyte.name.to_uppercase().replace(' ', "_");
        return json!({"coding": [{"system": "urn:verial:lab:local", "code": local}], "text": analyte.name});
    }
    concept(LOINC, &analyte.loinc, &analyte.name)
}

fn interpretation(analyte: &Analyte, value: Milli) -> Value {
    let below = |limit: Option<Milli>| limit.is_some_and(|limit| value < limit);
    let above = |limit: Option<Milli>| limit.is_some_and(|limit| value > limit);
    let (code, display) = if below(analyte.critical_low) {
        ("LL", "Critical low")
    } else if above(analyte.critical_high) {
        ("HH", "Critical high")
    } else if below(analyte.low) {
        ("L", "Low")
    } else if above(analyte.high) {
        ("H", "High")
    } else {
        ("N", "Normal")
    };
    hl7("v3-ObservationInterpretation", code, display)
}

fn write_report(
    builder: &mut Builder<'_>,
    visit: &Visit,
    encounter: &str,
    panel: &Panel,
    order: &str,
    members: &[String],
) {
    let id = builder.id("rep");
    let results: Vec<Value> = members.iter().map(|member| reference("Observation", member)).collect();
    builder.resources.push(
        json!({"resourceType": "DiagnosticReport", "id": id, "meta": meta("us-core-diagnosticreport-lab"),
        "basedOn": [reference("ServiceRequest", order)], "status": "final",
        "category": [hl7("v2-0074", "LAB", "Laboratory")], "code": concept(LOINC, &panel.loinc, &panel.name),
        "subject": builder.subject(), "encounter": reference("Encounter", encounter),
        "effectiveDateTime": visit.date.at(visit.minute + 20), "issued": visit.date.at(visit.minute + 160),
        "performer": [reference("Organization", "org-lab")], "result": results}),
    );
}
