//! Vital signs and smoking status.

use serde_json::{Value, json};

use super::Builder;
use super::elements::{LOINC, SNOMED, concept, hl7, meta, quantity, reference};
use super::timeline::Visit;
use crate::milli::Milli;

/// Profile, LOINC, name, unit, digits.
type VitalSign = (&'static str, &'static str, &'static str, &'static str, u32);

const PULSE: VitalSign = ("us-core-heart-rate", "8867-4", "Heart rate", "/min", 0);
const BREATH: VitalSign = ("us-core-respiratory-rate", "9279-1", "Respiratory rate", "/min", 0);
const TEMPERATURE: VitalSign = ("us-core-body-temperature", "8310-5", "Body temperature", "Cel", 1);
const WEIGHT: VitalSign = ("us-core-body-weight", "29463-7", "Body weight", "kg", 1);
const HEIGHT: VitalSign = ("us-core-body-height", "8302-2", "Body height", "cm", 1);
const BMI: VitalSign = ("us-core-bmi", "39156-5", "Body mass index (BMI) [Ratio]", "kg/m2", 1);

pub(super) fn write(builder: &mut Builder<'_>, visit: &Visit, encounter: &str) {
    let months = visit.date.months_since(builder.person.birth);
    let height = builder.person.height_at(visit.date);
    let noise = builder.random.normal(0, 8);
    let weight = builder.person.weight_at(visit.date, noise);
    builder.latest.insert("weight", weight);
    let young = (216 - months.min(216)) / 6;
    let pulse = super::results::sample(builder, "pulse", visit.date, (73_000 + young * 1500, 8_000));
    let signs = [
        (PULSE, pulse),
        (BREATH, Milli(builder.random.normal(15_000 + young * 400, 1_500))),
        (TEMPERATURE, Milli(builder.random.normal(36_700, 250))),
        (WEIGHT, weight),
        (HEIGHT, height),
        (BMI, Milli(weight.0 * 100_000 / height.0 * 100_000 / height.0)),
    ];
    for (sign, value) in signs {
        let resource = simple(builder, visit, encounter, sign, value);
        builder.resources.push(resource);
    }
    saturation(builder, visit, encounter);
    if months >= 36 {
        blood_pressure(builder, visit, encounter);
    }
    if months >= 216 {
        smoking(builder, visit, encounter);
    }
}

fn base(builder: &mut Builder<'_>, visit: &Visit, encounter: &str, profile: &str, code: &Value) -> Value {
    json!({"resourceType": "Observation", "id": builder.id("vs"), "meta": meta(profile), "status": "final",
        "category": [hl7("observation-category", "vital-signs", "Vital Signs")], "code": code,
        "subject": builder.subject(), "encounter": reference("Encounter", encounter),
        "effectiveDateTime": visit.date.at(visit.minute + 5)})
}

fn simple(builder: &mut Builder<'_>, visit: &Visit, encounter: &str, sign: VitalSign, value: Milli) -> Value {
    let (profile, code, name, unit, digits) = sign;
    let mut observation = base(builder, visit, encounter, profile, &concept(LOINC, code, name));
    observation["valueQuantity"] = quantity(value.rounded(digits), digits, unit);
    observation
}

fn saturation(builder: &mut Builder<'_>, visit: &Visit, encounter: &str) {
    let value = super::results::sample(builder, "saturation", visit.date, (98_000, 900));
    let value = Milli(value.0.min(100_000));
    let code = json!({"coding": [
        {"system": LOINC, "code": "59408-5", "display": "Oxygen saturation in Arterial blood by Pulse oximetry"},
        {"system": LOINC, "code": "2708-6", "display": "Oxygen saturation in Arterial blood"}], "text": "Oxygen saturation"});
    let mut observation = base(builder, visit, encounter, "us-core-pulse-oximetry", &code);
    observation["valueQuantity"] = quantity(value, 0, "%");
    builder.resources.push(observation);
}

fn blood_pressure(builder: &mut Builder<'_>, visit: &Visit, encounter: &str) {
    let age = builder.person.age(visit.date).min(18);
    let systolic = super::results::sample(builder, "systolic", visit.date, (85_000 + age * 2_000, 10_000)).rounded(0);
    let diastolic = super::results::sample(builder, "diastolic", visit.date, (52_000 + age * 1_350, 7_000));
    let diastolic = Milli(diastolic.0.min(systolic.0 - 20_000)).rounded(0);
    builder.latest.insert("diastolic", diastolic);
    let part = |code: &str, name: &str, value: Milli| json!({"code": concept(LOINC, code, name), "valueQuantity": quantity(value, 0, "mm[Hg]")});
    let code = concept(LOINC, "85354-9", "Blood pressure panel with all children optional");
    let mut observation = base(builder, visit, encounter, "us-core-blood-pressure", &code);
    observation["component"] = json!([
        part("8480-6", "Systolic blood pressure", systolic),
        part("8462-4", "Diastolic blood pressure", diastolic)
    ]);
    builder.resources.push(observation);
}

fn smoking(builder: &mut Builder<'_>, visit: &Visit, encounter: &str) {
    let due = builder.studies.get("smoking").is_none_or(|last| visit.date.since(*last) > 360);
    if !due {
        return;
    }
    builder.studies.insert("smoking", visit.date);
    let answer = if builder.person.smoker {
        concept(SNOMED, "449868002", "Smokes tobacco daily")
    } else {
        concept(SNOMED, "266919005", "Never smoked tobacco")
    };
    let code = concept(LOINC, "72166-2", "Tobacco smoking status");
    let mut observation = base(builder, visit, encounter, "us-core-smokingstatus", &code);
    observation["category"] = json!([hl7("observation-category", "social-history", "Social History")]);
    observation["valueCodeableConcept"] = answer;
    builder.resources.push(observation);
}
