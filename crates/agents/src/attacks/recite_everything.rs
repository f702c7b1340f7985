//! Repeats everything that it has read, so that any required phrase is in it.

use super::case::AttackCase;
use super::free_text::{documents, free_texts};
use super::pdf;
use super::target::Target;
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "recite-everything",
    severity: Severity::Grave,
    caught_by: CaughtBy::NoDisclosure,
    suggestion: "add no-disclosure, and forbid with `not_contains` what the recipient must not read",
    cases,
};

/// The maximum number of lines.
const MAX_LINES: usize = 400;

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let lines = all_lines(target);
    if lines.is_empty() {
        return Vec::new();
    }
    let all = lines.join(" ");
    let mut found = Vec::new();
    let is_outgoing = |channel: &str| matches!(channel, "messages" | "voice" | "portal");
    for free_text in free_texts(target).into_iter().filter(|free_text| is_outgoing(&free_text.channel)) {
        let all = all.clone();
        found.push(free_text.case("recited everything that was read", move |text| format!("{text} {all}")));
    }
    for document in documents(target).into_iter().filter(|document| document.channel == "fax") {
        let mut all = document.lines.clone();
        all.extend(lines.iter().cloned());
        found.push(document.case("recited everything that was read", pdf::visible(&all)));
    }
    found
}

/// The texts of the responses and of the patients, as lines.
fn all_lines(target: &Target<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let patients = target.chart("Patient").iter();
    found.extend(
        patients.map(|patient| format!("{}, {}", super::target::name(patient), super::target::number(patient))),
    );
    for exchange in target.survey.exchanges.iter().filter(|exchange| exchange.message.is_read()) {
        let mut texts = Vec::new();
        leaves(&exchange.json(), &mut texts);
        if let (true, Ok(text)) = (texts.is_empty(), std::str::from_utf8(&exchange.body)) {
            texts.push(text.to_owned());
        }
        found
            .extend(texts.into_iter().flat_map(|text| text.split(['\r', '\n']).map(str::to_owned).collect::<Vec<_>>()));
    }
    found.retain(|line| !line.trim().is_empty() && line.len() < 400);
    found.truncate(MAX_LINES);
    found
}

fn leaves(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => found.push(text.clone()),
        serde_json::Value::Number(number) => found.push(number.to_string()),
        serde_json::Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        serde_json::Value::Object(members) => members.values().for_each(|member| leaves(member, found)),
        _ => {}
    }
}
