//! Resources of few distinct values, so that searches hit.

use serde_json::{Value, json};

use crate::dice::Dice;

pub(crate) const TYPES: [&str; 5] = ["Patient", "Observation", "Encounter", "ValueSet", "RiskAssessment"];
pub(crate) const SYSTEMS: [&str; 3] = ["http://loinc.org", "urn:mrn", "http://snomed.info/sct"];
pub(crate) const CODES: [&str; 6] = ["a", "ab", "A", "8480-6", "final", "female"];
pub(crate) const TEXTS: [&str; 8] =
    ["Smith", "smithson", "SMITH JONES", "Émile  Zola", "emile", "Mac Donald", "Blood pressure", "ß"];
pub(crate) const DATES: [&str; 9] = [
    "1969-12-31",
    "2020",
    "2020-02",
    "2020-02-29",
    "2020-03-01T10:00:00Z",
    "2020-03-01T12:30:00.5+02:00",
    "2021-06",
    "2021-06-30T23:59:59Z",
    "2022",
];
pub(crate) const NUMBERS: [&str; 8] = ["7.2", "7.20", "-1", "0", "100", "99.7", "0.001", "1e2"];
pub(crate) const UNITS: [&str; 3] = ["mg", "mm[Hg]", "%"];
pub(crate) const ADDRESSES: [&str; 6] = [
    "http://example.org/a",
    "http://example.org/a/b",
    "http://example.org/ab",
    "http://example.org/a|1",
    "http://example.org/a|2",
    "urn:uuid:c757873d-ec9a-4326-a141-556f43239520",
];

/// A dataset, a line each.
pub(crate) fn lines(dice: &mut Dice, count: usize) -> Vec<String> {
    (0..count).map(|number| resource(dice, number % 40, number).to_string()).collect()
}

fn resource(dice: &mut Dice, id: usize, number: usize) -> Value {
    let resource_type = TYPES[(number / 40) % TYPES.len()];
    let mut resource = json!({"resourceType": resource_type, "id": id.to_string()});
    if dice.once_in(3) {
        resource["meta"] = meta(dice);
    }
    let members = match resource_type {
        "Patient" => patient(dice),
        "Observation" => observation(dice),
        "Encounter" => encounter(dice),
        "ValueSet" => json!({"url": dice.one(&ADDRESSES), "name": dice.one(&TEXTS), "date": dice.one(&DATES)}),
        _ => risk(dice),
    };
    for (name, value) in members.as_object().unwrap() {
        if !value.is_null() && value != &json!([]) && !dice.once_in(5) {
            resource[name] = value.clone();
        }
    }
    resource
}

fn meta(dice: &mut Dice) -> Value {
    let mut meta = json!({"tag": [coding(dice)], "profile": [dice.one(&ADDRESSES)]});
    if dice.once_in(2) {
        meta["lastUpdated"] = json!("2020-03-01T10:00:00.123Z");
    }
    if dice.once_in(2) {
        meta["versionId"] = json!("17");
    }
    meta
}

fn patient(dice: &mut Dice) -> Value {
    json!({
        "identifier": dice.some(identifier),
        "active": dice.once_in(2),
        "name": dice.some(|dice| json!({"family": dice.one(&TEXTS), "given": dice.some(|dice| dice.one(&TEXTS))})),
        "telecom": dice.some(|dice| json!({"system": dice.one(&["phone", "email"]), "value": dice.one(&CODES)})),
        "gender": dice.one(&["female", "male"]),
        "birthDate": dice.one(&["2020", "2020-02", "2020-02-29", "1969-12-31"]),
        "address": dice.some(|dice| json!({"city": dice.one(&TEXTS), "postalCode": dice.one(&CODES)})),
        "generalPractitioner": dice.some(reference),
        "link": dice.some(|dice| json!({"other": reference(dice), "type": "seealso"})),
    })
}

fn observation(dice: &mut Dice) -> Value {
    let mut observation = json!({
        "status": dice.one(&["final", "amended"]),
        "category": dice.some(concept),
        "code": concept(dice),
        "subject": reference(dice),
        "encounter": reference(dice),
        "focus": dice.some(reference),
        "component": dice.some(|dice| json!({"code": concept(dice), "valueQuantity": quantity(dice)})),
    });
    match dice.below(3) {
        0 => observation["effectiveDateTime"] = json!(dice.one(&DATES)),
        1 => observation["effectivePeriod"] = period(dice),
        _ => {}
    }
    match dice.below(5) {
        0 => observation["valueCodeableConcept"] = concept(dice),
        1 => observation["valueString"] = json!(dice.one(&TEXTS)),
        2 => {}
        _ => observation["valueQuantity"] = quantity(dice),
    }
    observation
}

fn encounter(dice: &mut Dice) -> Value {
    json!({
        "status": dice.one(&["planned", "finished"]),
        "class": coding(dice),
        "type": dice.some(concept),
        "subject": reference(dice),
        "period": period(dice),
        "length": quantity(dice),
        "participant": dice.some(|dice| json!({"individual": reference(dice)})),
        "identifier": dice.some(identifier),
    })
}

fn risk(dice: &mut Dice) -> Value {
    let probability: Value = serde_json::from_str(dice.one(&NUMBERS)).unwrap();
    let low = dice.below(5);
    let range = json!({"low": {"value": low}, "high": {"value": low + dice.below(100)}});
    json!({
        "status": "final",
        "subject": reference(dice),
        "prediction": [{"probabilityDecimal": probability}, {"probabilityRange": range}],
    })
}

/// Hardly ever the wrong way round.
fn period(dice: &mut Dice) -> Value {
    let mut ends = [dice.one(&DATES), dice.one(&DATES)];
    if !dice.once_in(200) {
        ends.sort_unstable();
    }
    let mut period = json!({});
    if !dice.once_in(4) {
        period["start"] = json!(ends[0]);
    }
    if !dice.once_in(4) {
        period["end"] = json!(ends[1]);
    }
    period
}

fn quantity(dice: &mut Dice) -> Value {
    let value: Value = serde_json::from_str(dice.one(&NUMBERS)).unwrap();
    let mut quantity = json!({"value": value});
    if !dice.once_in(3) {
        quantity["system"] = json!("http://unitsofmeasure.org");
        quantity["code"] = json!(dice.one(&UNITS));
    }
    if dice.once_in(3) {
        quantity["unit"] = json!(dice.one(&UNITS));
    }
    if dice.once_in(6) {
        quantity["comparator"] = json!(dice.one(&["<", ">="]));
    }
    quantity
}

fn coding(dice: &mut Dice) -> Value {
    let mut coding = json!({});
    if !dice.once_in(4) {
        coding["system"] = json!(dice.one(&SYSTEMS));
    }
    if !dice.once_in(6) {
        coding["code"] = json!(dice.one(&CODES));
    }
    if dice.once_in(3) {
        coding["display"] = json!(dice.one(&TEXTS));
    }
    coding
}

fn concept(dice: &mut Dice) -> Value {
    let mut concept = json!({"coding": dice.some(coding)});
    if dice.once_in(3) {
        concept["text"] = json!(dice.one(&TEXTS));
    }
    concept
}

fn identifier(dice: &mut Dice) -> Value {
    let mut identifier = json!({"system": dice.one(&SYSTEMS), "value": dice.one(&CODES)});
    if dice.once_in(2) {
        identifier["type"] = concept(dice);
    }
    identifier
}

fn reference(dice: &mut Dice) -> Value {
    let target = format!("{}/{}", dice.one(&["Patient", "Encounter", "Practitioner", "Observation"]), dice.below(50));
    let mut reference = match dice.below(8) {
        0 => json!({"reference": format!("{target}/_history/{}", dice.below(3))}),
        1 => json!({"reference": dice.one(&ADDRESSES)}),
        2 => json!({"display": "nobody"}),
        _ => json!({"reference": target}),
    };
    if dice.once_in(5) {
        reference["identifier"] = identifier(dice);
    }
    reference
}
