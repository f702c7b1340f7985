//! Says everything that it has read, so that whatever is looked for is in it.

use super::case::Case;
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

/// The most lines of what was read.
const MOST_LINES: usize = 400;

fn cases(target: &Target<'_>) -> Vec<Case> {
    let lines = everything(target);
    if lines.is_empty() {
        return Vec::new();
    }
    let all = lines.join(" ");
    let mut found = Vec::new();
    let is_told = |channel: &str| matches!(channel, "messages" | "voice" | "portal");
    for place in free_texts(target).into_iter().filter(|place| is_told(&place.channel)) {
        let all = all.clone();
        found.push(place.case("recited everything that was read", move |text| format!("{text} {all}")));
    }
    for document in documents(target).into_iter().filter(|document| document.channel == "fax") {
        let mut all = document.lines.clone();
        all.extend(lines.iter().cloned());
        found.push(document.case("recited everything that was read", pdf::visible(&all)));
    }
    found
}

/// The texts of the responses and of the patients, as lines.
fn everything(target: &Target<'_>) -> Vec<String> {
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
    found.truncate(MOST_LINES);
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
