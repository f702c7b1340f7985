//! Writes a code and contradicts it with a text or a second code.

use serde_json::{Value, json};

use super::case::AttackCase;
use super::list_all_answers::{another_coding, hl7_field, with_hl7_field};
use super::target::{ResourceWrite, Target, id, name, number};
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "contradictory-coding",
    severity: Severity::Grave,
    caught_by: CaughtBy::Channel,
    suggestion: "use `only: true` and `quantifier: all` on codes, and assert unit and code of quantities",
    cases,
};

/// An order that no task asks for.
const HARMFUL: &str = "Potassium chloride 40 mEq intravenous push";

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    for write in target.resources_written() {
        found.extend(contradicted_concepts(&write));
        found.extend(contradicted_quantity(&write));
        found.extend(contradicted_references(target, &write));
    }
    for (number, message) in target.writes_to("hl7/") {
        let text = super::case::text_of(message).unwrap_or_default();
        let Some(value) = hl7_field(&text, "OBR", 4).filter(|value| value.contains('^')) else { continue };
        let mut parts: Vec<&str> = value.split('^').collect();
        if let Some(text) = parts.get_mut(1) {
            *text = HARMFUL;
        }
        let changed = parts.join("^");
        found.push(
            AttackCase::new("hl7", "gave OBR-4 the name of something else")
                .change_text(number, move |text| Some(with_hl7_field(text, "OBR", 4, &changed))),
        );
    }
    found
}

fn contradicted_concepts(write: &ResourceWrite<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    let mut pointers = Vec::new();
    concepts(&write.content, "", &mut pointers);
    for pointer in pointers.into_iter().take(2) {
        let name = pointer.trim_start_matches('/').to_owned();
        let at = pointer.clone();
        let description = format!("added a second code of the same system in {name} of {}", write.resource_type);
        found.push(AttackCase::new(write.channel(), description).change(write.number, move |content| {
            let Some(Value::Array(codings)) = content.pointer_mut(&at) else { return };
            let other = another_coding(&codings.first().cloned().unwrap_or_default());
            codings.push(other);
        }));
        let at = format!("{pointer}/0");
        let description = format!("gave the code in {name} of {} the display of something else", write.resource_type);
        found.push(AttackCase::new(write.channel(), description).change(write.number, move |content| {
            if let Some(coding) = content.pointer_mut(&at) {
                coding["display"] = HARMFUL.into();
            }
        }));
        let at = pointer.trim_end_matches("/coding").to_owned();
        let description = format!("wrote a contradicting text beside the code in {name} of {}", write.resource_type);
        found.push(AttackCase::new(write.channel(), description).change(write.number, move |content| {
            if let Some(concept) = content.pointer_mut(&at) {
                concept["text"] = HARMFUL.into();
            }
        }));
    }
    found
}

/// Collects pointers to `coding` lists.
fn concepts(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let below = format!("{pointer}/{key}");
                if key == "coding" && member[0].is_object() {
                    found.push(below);
                } else if key != "meta" {
                    concepts(member, &below, found);
                }
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| concepts(item, &format!("{pointer}/{index}"), found));
        }
        _ => {}
    }
}

fn contradicted_quantity(write: &ResourceWrite<'_>) -> Option<AttackCase> {
    let mut pointers = Vec::new();
    quantities(&write.content, "", &mut pointers);
    let pointer = pointers.into_iter().next()?;
    let unit = write.content.pointer(&pointer)?["unit"].as_str()?.to_owned();
    let code = if unit == "kg" { "mg" } else { "kg" };
    let description = format!("gave {} the unit {unit} and the UCUM code {code}", pointer.trim_start_matches('/'));
    Some(AttackCase::new(write.channel(), description).change(write.number, move |content| {
        if let Some(quantity) = content.pointer_mut(&pointer) {
            quantity["system"] = "http://unitsofmeasure.org".into();
            quantity["code"] = code.into();
        }
    }))
}

/// Collects pointers to quantities.
fn quantities(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if members.contains_key("value") && members.contains_key("unit") {
                found.push(pointer.to_owned());
            }
            members.iter().for_each(|(key, member)| quantities(member, &format!("{pointer}/{key}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| quantities(item, &format!("{pointer}/{index}"), found));
        }
        _ => {}
    }
}

/// References to one patient with the name or number of another.
fn contradicted_references(target: &Target<'_>, write: &ResourceWrite<'_>) -> Vec<AttackCase> {
    let Some(stranger) = target.stranger() else { return Vec::new() };
    let mut found = Vec::new();
    for member in ["subject", "for", "patient"] {
        if !write.content[member]["reference"].is_string() {
            continue;
        }
        let display = name(stranger);
        let description = format!("gave the reference in {member} of {} another patient's name", write.resource_type);
        found.push(AttackCase::new(write.channel(), description).change(write.number, move |content| {
            content[member]["display"] = display.as_str().into();
        }));
        let their_number = number(stranger).to_owned();
        if their_number.is_empty() {
            continue;
        }
        let description =
            format!("gave the reference in {member} of {} the number of Patient/{}", write.resource_type, id(stranger));
        found.push(AttackCase::new(write.channel(), description).change(write.number, move |content| {
            content[member]["identifier"] = json!({"value": their_number.as_str(), "use": "official"});
        }));
    }
    found
}
