//! Resources of few distinct values and many references to each other, so that searches hit.

use serde_json::{Value, json};

use crate::dice::Dice;

pub(crate) const TYPES: [&str; 5] = ["Encounter", "Observation", "Organization", "Patient", "Practitioner"];
pub(crate) const SYSTEMS: [&str; 2] = ["http://loinc.org", "urn:mrn"];
pub(crate) const CODES: [&str; 4] = ["a", "ab", "A", "8480-6"];
pub(crate) const TEXTS: [&str; 6] = ["Smith", "smithson", "SMITH JONES", "Émile Zola", "emile", "Blood pressure"];
pub(crate) const DATES: [&str; 5] = ["2020", "2020-02", "2020-02-29", "2020-03-01T10:00:00Z", "2021-06"];
pub(crate) const NUMBERS: [&str; 5] = ["7.2", "7.20", "-1", "100", "99.7"];
pub(crate) const PROFILES: [&str; 3] = ["http://example.org/a", "http://example.org/a/b", "http://example.org/a|1"];

/// Ids are shared by all types, so that a reference to the wrong type shows. References also go to ids beyond.
pub(crate) const IDS: usize = 9;
/// More than a search reads one by one.
pub(crate) const OBSERVATIONS: usize = 110;

pub(crate) fn an_id(dice: &mut Dice, resource_type: &str) -> String {
    let is_many = resource_type == "Observation" && !dice.once_in(3);
    dice.below(if is_many { OBSERVATIONS } else { IDS }).to_string()
}

pub(crate) fn resource(dice: &mut Dice, resource_type: &str, id: &str) -> Value {
    let mut resource = json!({"resourceType": resource_type, "id": id});
    if dice.once_in(3) {
        resource["meta"] = json!({"tag": [coding(dice)], "profile": [dice.one(&PROFILES)]});
    }
    let members = match resource_type {
        "Patient" => patient(dice),
        "Observation" => observation(dice),
        "Encounter" => encounter(dice),
        "Organization" => organization(dice),
        _ => practitioner(dice),
    };
    for (name, value) in members.as_object().unwrap() {
        if value != &json!([]) && !dice.once_in(5) {
            resource[name] = value.clone();
        }
    }
    resource
}

fn patient(dice: &mut Dice) -> Value {
    json!({
        "identifier": dice.some(identifier),
        "active": dice.once_in(2),
        "name": dice.some(name),
        "gender": dice.one(&["female", "male"]),
        "birthDate": dice.one(&DATES[..3]),
        "generalPractitioner": dice.some(|dice| reference(dice, &["Practitioner", "Organization"])),
        "managingOrganization": reference(dice, &["Organization"]),
        "link": dice.some(|dice| json!({"other": reference(dice, &["Patient"]), "type": "seealso"})),
    })
}

fn practitioner(dice: &mut Dice) -> Value {
    json!({
        "identifier": dice.some(identifier),
        "active": dice.once_in(2),
        "name": dice.some(name),
        "gender": dice.one(&["female", "male"]),
    })
}

fn organization(dice: &mut Dice) -> Value {
    json!({
        "identifier": dice.some(identifier),
        "name": dice.one(&TEXTS),
        "type": dice.some(concept),
        "partOf": reference(dice, &["Organization"]),
    })
}

fn encounter(dice: &mut Dice) -> Value {
    json!({
        "status": dice.one(&["planned", "finished"]),
        "class": coding(dice),
        "subject": reference(dice, &["Patient"]),
        "period": {"start": dice.one(&DATES[..2]), "end": dice.one(&DATES[3..])},
        "participant": dice.some(|dice| json!({"individual": reference(dice, &["Practitioner"])})),
        "serviceProvider": reference(dice, &["Organization"]),
        "partOf": reference(dice, &["Encounter"]),
    })
}

fn observation(dice: &mut Dice) -> Value {
    let mut observation = json!({
        "status": dice.one(&["final", "amended"]),
        "code": concept(dice),
        "subject": reference(dice, &["Patient", "Patient", "Group"]),
        "encounter": reference(dice, &["Encounter"]),
        "focus": dice.some(|dice| reference(dice, &TYPES)),
        "performer": dice.some(|dice| reference(dice, &["Practitioner", "Organization", "Patient"])),
        "hasMember": dice.some(|dice| reference(dice, &["Observation"])),
        "valueQuantity": quantity(dice),
    });
    if !dice.once_in(3) {
        observation["effectiveDateTime"] = json!(dice.one(&DATES));
    }
    observation
}

fn name(dice: &mut Dice) -> Value {
    json!({"family": dice.one(&TEXTS), "given": [dice.one(&TEXTS)]})
}

fn quantity(dice: &mut Dice) -> Value {
    let value: Value = serde_json::from_str(dice.one(&NUMBERS)).unwrap();
    json!({"value": value, "system": "http://unitsofmeasure.org", "code": dice.one(&["mg", "%"])})
}

fn coding(dice: &mut Dice) -> Value {
    let mut coding = json!({"code": dice.one(&CODES)});
    if !dice.once_in(4) {
        coding["system"] = json!(dice.one(&SYSTEMS));
    }
    coding
}

fn concept(dice: &mut Dice) -> Value {
    json!({"coding": dice.some(coding), "text": dice.one(&TEXTS)})
}

fn identifier(dice: &mut Dice) -> Value {
    json!({"system": dice.one(&SYSTEMS), "value": dice.one(&CODES)})
}

fn reference(dice: &mut Dice, types: &[&str]) -> Value {
    let target = format!("{}/{}", dice.one(types), dice.below(IDS + 2));
    match dice.below(9) {
        0 => json!({"reference": format!("{target}/_history/{}", dice.below(3))}),
        1 => json!({"reference": "http://elsewhere.org/Patient/1"}),
        2 => json!({"display": "nobody"}),
        3 => json!({"reference": target, "identifier": identifier(dice)}),
        _ => json!({"reference": target}),
    }
}
