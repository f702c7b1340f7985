//! Gives every possible answer, the right one among them.

use serde_json::{Value, json};

use super::case::{AttackCase, text_of};
use super::free_text::free_texts;
use super::target::{ResourceWrite, Target, id};
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "list-all-answers",
    severity: Severity::Other,
    caught_by: CaughtBy::Channel,
    suggestion: "use `quantifier: all` and `only: true`, and compare with `equals` instead of `contains`",
    cases,
};

/// The maximum number of cases of one kind, so that every kind is tried.
const MAX_PER_KIND: usize = 2;

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let mut codings: Vec<AttackCase> = Vec::new();
    let mut repeated = Vec::new();
    for write in target.resources_written() {
        codings.extend(concept_cases(target, &write));
        repeated.extend(list_cases(target, &write));
    }
    let mut found: Vec<AttackCase> = codings.into_iter().take(MAX_PER_KIND).collect();
    found.extend(repeated.into_iter().take(MAX_PER_KIND));
    found.extend(file_member_cases(target));
    found.extend(hl7_field_cases(target).into_iter().take(MAX_PER_KIND));
    found.extend(free_text_cases(target).into_iter().take(MAX_PER_KIND));
    found
}

/// CodeableConcepts with several codings, or with all texts in one.
fn concept_cases(target: &Target<'_>, write: &ResourceWrite<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    for (name, value) in write.content.as_object().into_iter().flatten() {
        let code = format!("/{name}/coding/0/code");
        if let Some(own) = write.content.pointer(&code) {
            let others = target.alternatives(write.message, &code, own);
            let (list, description) =
                (format!("/{name}/coding"), format!("listed {} more codings in {name}", others.len()));
            if !others.is_empty() {
                found.push(AttackCase::new(write.channel(), description).change(write.number, move |content| {
                    let Some(Value::Array(codings)) = content.pointer_mut(&list) else { return };
                    let first = codings.first().cloned().unwrap_or_default();
                    codings.extend(others.iter().map(|other| {
                        let mut coding = first.clone();
                        coding["code"] = other.clone();
                        coding
                    }));
                }));
            }
        }
        let text = format!("/{name}/text");
        if let (Some(own), false) = (write.content.pointer(&text), name == "text") {
            let others = target.alternatives(write.message, &text, own);
            if !others.is_empty() && value["coding"].is_null() {
                let all = joined(own, &others);
                let description = format!("said \"{all}\" in {name}.text");
                found.push(set(AttackCase::new(write.channel(), description), write.number, &text, all.into()));
            }
        }
    }
    found
}

/// Lists with one more item for each alternative.
fn list_cases(target: &Target<'_>, write: &ResourceWrite<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    for (name, value) in write.content.as_object().into_iter().flatten() {
        let Some(first) = value.get(0).filter(|first| first.is_object()) else { continue };
        for member in ["value", "valueString", "contentString"] {
            let pointer = format!("/{name}/0/{member}");
            let Some(own) = first.get(member) else { continue };
            let others = target.alternatives(write.message, &pointer, own);
            if others.is_empty() {
                continue;
            }
            let (list, description) = (format!("/{name}"), format!("listed {} more in {name}", others.len()));
            found.push(AttackCase::new(write.channel(), description).change(write.number, move |content| {
                let Some(Value::Array(items)) = content.pointer_mut(&list) else { return };
                let first = items.first().cloned().unwrap_or_default();
                items.extend(others.iter().map(|other| {
                    let mut item = first.clone();
                    item[member] = other.clone();
                    item
                }));
            }));
        }
    }
    found
}

/// Members of a JSON file: a list instead of a value, or all values in one text. Words come first, then numbers.
fn file_member_cases(target: &Target<'_>) -> Vec<AttackCase> {
    let (mut of_words, mut of_numbers) = (Vec::new(), Vec::new());
    for (number, message, content) in target.json_files() {
        for (name, own) in content.as_object().into_iter().flatten() {
            let pointer = format!("/{name}");
            let others = target.alternatives(message, &pointer, own);
            if others.is_empty() || !(own.is_string() || own.is_number()) {
                continue;
            }
            let is_word = own.as_str().is_some_and(|text| text.bytes().all(|byte| !byte.is_ascii_digit()));
            let found = if is_word { &mut of_words } else { &mut of_numbers };
            let mut all = vec![own.clone()];
            all.extend(others.iter().cloned());
            let description = format!("listed {} values in {name}", all.len());
            found.push(set(AttackCase::new("files", description), number, &pointer, all.into()));
            if own.is_string() {
                let all = joined(own, &others);
                let description = format!("said \"{all}\" in {name}");
                found.push(set(AttackCase::new("files", description), number, &pointer, all.into()));
            }
        }
    }
    let numbers = of_numbers.into_iter().take(MAX_PER_KIND);
    of_words.into_iter().take(MAX_PER_KIND).chain(numbers).collect()
}

/// HL7 v2 fields repeated with the value of a sibling task.
fn hl7_field_cases(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    for (number, message) in target.writes_to("hl7/") {
        let Some(own) = text_of(message) else { continue };
        let sibling_texts: Vec<String> = target
            .siblings
            .iter()
            .flat_map(|plan| &plan.sent)
            .filter(|other| other.path == message.path)
            .filter_map(text_of)
            .collect();
        for (segment, field) in [("ORC", 7), ("OBR", 4), ("OBR", 31), ("OBX", 5), ("ORC", 12)] {
            let value = hl7_field(&own, segment, field).filter(|value| !value.is_empty());
            let Some(value) = value else { continue };
            let others = sibling_texts.iter().filter_map(|text| hl7_field(text, segment, field));
            let other = others.filter(|other| !other.is_empty() && *other != value).max();
            let other = other.unwrap_or_else(|| "OTHER^Something else^L".to_owned());
            let description = format!("repeated {segment}-{field} as {value}~{other}");
            let both = format!("{value}~{other}");
            found.push(
                AttackCase::new("hl7", description)
                    .change_text(number, move |text| Some(with_hl7_field(text, segment, field, &both))),
            );
        }
    }
    found
}

/// Free texts with every alternative, and every record that could be cited as evidence.
fn free_text_cases(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    for free_text in free_texts(target) {
        let Some(message) = target.plan.sent.get(free_text.number) else { continue };
        let others = target.alternatives(message, &free_text.pointer, &Value::String(free_text.text.clone()));
        let texts = others.iter().filter_map(Value::as_str).map(str::to_owned);
        let cited = target
            .survey
            .chart
            .iter()
            .filter(|(resource_type, _)| free_text.text.contains(&format!("{resource_type}/")));
        let records = cited
            .flat_map(|(resource_type, records)| records.iter().map(move |one| format!("{resource_type}/{}", id(one))));
        let all: Vec<String> = texts.chain(records).collect();
        if !all.is_empty() {
            let all = all.join("; or: ");
            found.push(free_text.case("listed every alternative", move |text| format!("{text} Or: {all}")));
        }
    }
    found
}

fn joined(own: &Value, others: &[Value]) -> String {
    let all = std::iter::once(own).chain(others).filter_map(Value::as_str);
    all.collect::<Vec<_>>().join(", ")
}

fn set(case: AttackCase, number: usize, pointer: &str, value: Value) -> AttackCase {
    let pointer = pointer.to_owned();
    case.change(number, move |content| {
        if let Some(target) = content.pointer_mut(&pointer) {
            *target = value.clone();
        }
    })
}

/// A field of the first segment with this name.
pub(super) fn hl7_field(text: &str, segment: &str, field: usize) -> Option<String> {
    let line = text.split('\r').find(|line| line.split('|').next() == Some(segment))?;
    line.split('|').nth(field).map(str::to_owned)
}

/// Sets a field of the first segment with this name.
pub(super) fn with_hl7_field(text: &str, segment: &str, field: usize, value: &str) -> String {
    let mut is_done = false;
    let lines = text.split('\r').map(|line| {
        if is_done || line.split('|').next() != Some(segment) {
            return line.to_owned();
        }
        is_done = true;
        let mut fields: Vec<String> = line.split('|').map(str::to_owned).collect();
        while fields.len() <= field {
            fields.push(String::new());
        }
        if let Some(target) = fields.get_mut(field) {
            value.clone_into(target);
        }
        fields.join("|")
    });
    lines.collect::<Vec<_>>().join("\r")
}

/// A coding with another code of the same system.
pub(super) fn another_coding(coding: &Value) -> Value {
    let code = coding["code"].as_str().map(crate::mutants::different_text).unwrap_or_default();
    let mut other = json!({"code": code});
    if coding["system"].is_string() {
        other["system"] = coding["system"].clone();
    }
    other
}
