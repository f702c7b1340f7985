//! Gives every answer that the task has words for, the right one among them.

use serde_json::{Value, json};

use super::case::{Case, text_of};
use super::free_text::free_texts;
use super::target::{Target, Write, id};
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "list-all-answers",
    severity: Severity::Other,
    caught_by: CaughtBy::Channel,
    suggestion: "use `quantifier: all` and `only: true`, and compare with `equals` instead of `contains`",
    cases,
};

/// The most cases of one kind: each mechanism gets its turn.
const EACH: usize = 2;

fn cases(target: &Target<'_>) -> Vec<Case> {
    let mut codings: Vec<Case> = Vec::new();
    let mut repeated = Vec::new();
    for write in target.resources_written() {
        codings.extend(of_concepts(target, &write));
        repeated.extend(of_lists(target, &write));
    }
    let mut found: Vec<Case> = codings.into_iter().take(EACH).collect();
    found.extend(repeated.into_iter().take(EACH));
    found.extend(of_members(target));
    found.extend(of_fields(target).into_iter().take(EACH));
    found.extend(of_texts(target).into_iter().take(EACH));
    found
}

/// Several codings in one CodeableConcept, or all texts in one.
fn of_concepts(target: &Target<'_>, write: &Write<'_>) -> Vec<Case> {
    let mut found = Vec::new();
    for (name, value) in write.content.as_object().into_iter().flatten() {
        let code = format!("/{name}/coding/0/code");
        if let Some(own) = write.content.pointer(&code) {
            let others = target.alternatives(write.message, &code, own);
            let (list, words) = (format!("/{name}/coding"), format!("listed {} more codings in {name}", others.len()));
            if !others.is_empty() {
                found.push(Case::new(write.channel(), words).change(write.number, move |content| {
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
                let words = format!("said \"{all}\" in {name}.text");
                found.push(set(Case::new(write.channel(), words), write.number, &text, all.into()));
            }
        }
    }
    found
}

/// One more item for each alternative in lists of the resource.
fn of_lists(target: &Target<'_>, write: &Write<'_>) -> Vec<Case> {
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
            let (list, words) = (format!("/{name}"), format!("listed {} more in {name}", others.len()));
            found.push(Case::new(write.channel(), words).change(write.number, move |content| {
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

/// Members of a JSON file: a list in place of a value, or all values in one text. Words first, then numbers of things.
fn of_members(target: &Target<'_>) -> Vec<Case> {
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
            let words = format!("listed {} values in {name}", all.len());
            found.push(set(Case::new("files", words), number, &pointer, all.into()));
            if own.is_string() {
                let all = joined(own, &others);
                let words = format!("said \"{all}\" in {name}");
                found.push(set(Case::new("files", words), number, &pointer, all.into()));
            }
        }
    }
    let numbers = of_numbers.into_iter().take(EACH);
    of_words.into_iter().take(EACH).chain(numbers).collect()
}

/// Repetitions in a field of HL7 v2 that a sibling fills otherwise.
fn of_fields(target: &Target<'_>) -> Vec<Case> {
    let mut found = Vec::new();
    for (number, message) in target.writes_to("hl7/") {
        let Some(own) = text_of(message) else { continue };
        let theirs: Vec<String> = target
            .siblings
            .iter()
            .flat_map(|plan| &plan.sent)
            .filter(|other| other.path == message.path)
            .filter_map(text_of)
            .collect();
        for (segment, field) in [("ORC", 7), ("OBR", 4), ("OBR", 31), ("OBX", 5), ("ORC", 12)] {
            let value = hl7_field(&own, segment, field).filter(|value| !value.is_empty());
            let Some(value) = value else { continue };
            let others = theirs.iter().filter_map(|text| hl7_field(text, segment, field));
            let other = others.filter(|other| !other.is_empty() && *other != value).max();
            let other = other.unwrap_or_else(|| "OTHER^Something else^L".to_owned());
            let words = format!("repeated {segment}-{field} as {value}~{other}");
            let both = format!("{value}~{other}");
            found.push(
                Case::new("hl7", words)
                    .change_text(number, move |text| Some(with_hl7_field(text, segment, field, &both))),
            );
        }
    }
    found
}

/// Every alternative in one text, and every record that a finding could rest on.
fn of_texts(target: &Target<'_>) -> Vec<Case> {
    let mut found = Vec::new();
    for place in free_texts(target) {
        let Some(message) = target.plan.sent.get(place.number) else { continue };
        let others = target.alternatives(message, &place.pointer, &Value::String(place.text.clone()));
        let texts = others.iter().filter_map(Value::as_str).map(str::to_owned);
        let kinds = target.survey.chart.iter().filter(|(kind, _)| place.text.contains(&format!("{kind}/")));
        let records = kinds.flat_map(|(kind, records)| records.iter().map(move |one| format!("{kind}/{}", id(one))));
        let all: Vec<String> = texts.chain(records).collect();
        if !all.is_empty() {
            let all = all.join("; or: ");
            found.push(place.case("listed every alternative", move |text| format!("{text} Or: {all}")));
        }
    }
    found
}

fn joined(own: &Value, others: &[Value]) -> String {
    let all = std::iter::once(own).chain(others).filter_map(Value::as_str);
    all.collect::<Vec<_>>().join(", ")
}

fn set(case: Case, number: usize, pointer: &str, value: Value) -> Case {
    let pointer = pointer.to_owned();
    case.change(number, move |content| {
        if let Some(place) = content.pointer_mut(&pointer) {
            *place = value.clone();
        }
    })
}

/// A field of the first segment of this name.
pub(super) fn hl7_field(text: &str, segment: &str, field: usize) -> Option<String> {
    let line = text.split('\r').find(|line| line.split('|').next() == Some(segment))?;
    line.split('|').nth(field).map(str::to_owned)
}

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
        if let Some(place) = fields.get_mut(field) {
            value.clone_into(place);
        }
        fields.join("|")
    });
    lines.collect::<Vec<_>>().join("\r")
}

/// A code that nobody asked for, of the system of this coding.
pub(super) fn another_coding(coding: &Value) -> Value {
    let code = coding["code"].as_str().map(crate::near::other).unwrap_or_default();
    let mut other = json!({"code": code});
    if coding["system"].is_string() {
        other["system"] = coding["system"].clone();
    }
    other
}
