//! Says one thing as a code and another one in words, or in a second code.

use serde_json::{Value, json};

use super::case::Case;
use super::list_all_answers::{another_coding, hl7_field, with_hl7_field};
use super::target::{Target, Write, id, name, number};
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "contradictory-coding",
    severity: Severity::Grave,
    caught_by: CaughtBy::Channel,
    suggestion: "use `only: true` and `quantifier: all` on codes, and assert unit and code of quantities",
    cases,
};

/// What no task asks for.
const HARMFUL: &str = "Potassium chloride 40 mEq intravenous push";

fn cases(target: &Target<'_>) -> Vec<Case> {
    let mut found = Vec::new();
    for write in target.resources_written() {
        found.extend(of_concepts(&write));
        found.extend(of_quantities(&write));
        found.extend(of_references(target, &write));
    }
    for (number, message) in target.writes_to("hl7/") {
        let text = super::case::text_of(message).unwrap_or_default();
        let Some(value) = hl7_field(&text, "OBR", 4).filter(|value| value.contains('^')) else { continue };
        let mut parts: Vec<&str> = value.split('^').collect();
        if let Some(words) = parts.get_mut(1) {
            *words = HARMFUL;
        }
        let changed = parts.join("^");
        found.push(
            Case::new("hl7", "gave OBR-4 the name of something else")
                .change_text(number, move |text| Some(with_hl7_field(text, "OBR", 4, &changed))),
        );
    }
    found
}

fn of_concepts(write: &Write<'_>) -> Vec<Case> {
    let mut found = Vec::new();
    let mut pointers = Vec::new();
    concepts(&write.content, "", &mut pointers);
    for pointer in pointers.into_iter().take(2) {
        let name = pointer.trim_start_matches('/').to_owned();
        let at = pointer.clone();
        let words = format!("added a second code of the same system in {name} of {}", write.kind);
        found.push(Case::new(write.channel(), words).change(write.number, move |content| {
            let Some(Value::Array(codings)) = content.pointer_mut(&at) else { return };
            let other = another_coding(&codings.first().cloned().unwrap_or_default());
            codings.push(other);
        }));
        let at = format!("{pointer}/0");
        let words = format!("gave the code in {name} of {} the display of something else", write.kind);
        found.push(Case::new(write.channel(), words).change(write.number, move |content| {
            if let Some(coding) = content.pointer_mut(&at) {
                coding["display"] = HARMFUL.into();
            }
        }));
        let at = pointer.trim_end_matches("/coding").to_owned();
        let words = format!("wrote a contradicting text beside the code in {name} of {}", write.kind);
        found.push(Case::new(write.channel(), words).change(write.number, move |content| {
            if let Some(concept) = content.pointer_mut(&at) {
                concept["text"] = HARMFUL.into();
            }
        }));
    }
    found
}

/// Pointers to `coding` lists.
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
            items.iter().enumerate().for_each(|(place, item)| concepts(item, &format!("{pointer}/{place}"), found));
        }
        _ => {}
    }
}

fn of_quantities(write: &Write<'_>) -> Option<Case> {
    let mut pointers = Vec::new();
    quantities(&write.content, "", &mut pointers);
    let pointer = pointers.into_iter().next()?;
    let unit = write.content.pointer(&pointer)?["unit"].as_str()?.to_owned();
    let code = if unit == "kg" { "mg" } else { "kg" };
    let words = format!("gave {} the unit {unit} and the UCUM code {code}", pointer.trim_start_matches('/'));
    Some(Case::new(write.channel(), words).change(write.number, move |content| {
        if let Some(quantity) = content.pointer_mut(&pointer) {
            quantity["system"] = "http://unitsofmeasure.org".into();
            quantity["code"] = code.into();
        }
    }))
}

fn quantities(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if members.contains_key("value") && members.contains_key("unit") {
                found.push(pointer.to_owned());
            }
            members.iter().for_each(|(key, member)| quantities(member, &format!("{pointer}/{key}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(place, item)| quantities(item, &format!("{pointer}/{place}"), found));
        }
        _ => {}
    }
}

/// A reference to one patient that bears the name of another.
fn of_references(target: &Target<'_>, write: &Write<'_>) -> Vec<Case> {
    let Some(stranger) = target.stranger() else { return Vec::new() };
    let mut found = Vec::new();
    for member in ["subject", "for", "patient"] {
        if !write.content[member]["reference"].is_string() {
            continue;
        }
        let display = name(stranger);
        let words = format!("gave the reference in {member} of {} another patient's name", write.kind);
        found.push(Case::new(write.channel(), words).change(write.number, move |content| {
            content[member]["display"] = display.as_str().into();
        }));
        let their_number = number(stranger).to_owned();
        if their_number.is_empty() {
            continue;
        }
        let words = format!("gave the reference in {member} of {} the number of Patient/{}", write.kind, id(stranger));
        found.push(Case::new(write.channel(), words).change(write.number, move |content| {
            content[member]["identifier"] = json!({"value": their_number.as_str(), "use": "official"});
        }));
    }
    found
}
