//! What people read beside the coded elements of a record: its narrative, displays and labels.
//!
//! `only` ignores a generated narrative and the display of an asserted code because they say the same as the record. They
//! do not if they take it back, or if a narrative has a number that the record does not have.

use std::collections::BTreeSet;

use serde_json::Value;
use spoken::Said;

/// Phrases by which a text takes back what it stands beside.
const TAKES_BACK: [&str; 32] = [
    "do not",
    "don't",
    "does not apply",
    "must not",
    "should not",
    "not to be",
    "not for",
    "not needed",
    "not required",
    "not done",
    "not given",
    "not taken",
    "not taking",
    "never",
    "no longer",
    "no need",
    "cancel",
    "canceled",
    "cancelled",
    "discontinue",
    "discontinued",
    "stopped",
    "on hold",
    "void",
    "revoked",
    "refuted",
    "disregard",
    "ignore",
    "in error",
    "wrong patient",
    "test patient",
    "test only",
];

/// Longer texts are not looked through, and do not count as saying the same.
const LONGEST: usize = 64 * 1024;

pub(super) fn takes_back(text: &str) -> bool {
    if text.len() > LONGEST {
        return true;
    }
    let said = Said::new(&spoken::fold_confusables(text));
    TAKES_BACK.iter().any(|phrase| said.has(phrase))
}

/// Whether a narrative that is marked as generated says nothing that the record does not say.
pub(super) fn is_generated(narrative: &Value, record: &Value) -> bool {
    let status = narrative.get("status").and_then(Value::as_str);
    let Some(div) = narrative.get("div").and_then(Value::as_str) else { return false };
    if !matches!(status, Some("generated" | "empty")) || div.len() > LONGEST {
        return false;
    }
    let shown = without_tags(div);
    let mut known = BTreeSet::new();
    elements(record, &mut known);
    let numbers_of_record: BTreeSet<&str> = known.iter().flat_map(|text| numbers(text)).collect();
    let is_known = |number: &str| numbers_of_record.contains(number);
    let quoted = |phrase: &str| known.iter().any(|text| Said::new(text).has(phrase));
    let said = Said::new(&spoken::fold_confusables(&shown));
    numbers(&shown).all(is_known) && TAKES_BACK.iter().all(|phrase| !said.has(phrase) || quoted(phrase))
}

/// The texts and numbers of a record, without its narrative.
fn elements(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            found.insert(text.clone());
        }
        Value::Number(number) => {
            found.insert(number.to_string());
        }
        Value::Array(items) => items.iter().for_each(|item| elements(item, found)),
        Value::Object(members) => {
            let is_meant = |(key, member): &(&String, &Value)| *key != "text" || member.is_string();
            members.iter().filter(is_meant).for_each(|(_, member)| elements(member, found));
        }
        Value::Bool(_) | Value::Null => {}
    }
}

/// Runs of digits without leading zeros: `2026-04-06` has 2026, 4 and 6.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    runs.map(|run| run.trim_start_matches('0')).filter(|run| !run.is_empty())
}

/// What stands between the tags. Character references are numbers of no meaning here.
fn without_tags(div: &str) -> String {
    let mut shown = String::with_capacity(div.len());
    let mut rest = div;
    while let Some(start) = rest.find(['<', '&']) {
        let (before, tagged) = rest.split_at(start);
        shown.push_str(before);
        let end = if tagged.starts_with('<') { '>' } else { ';' };
        let Some(at) = tagged.find(end) else { return shown + tagged };
        shown.push(' ');
        rest = tagged.get(at + 1..).unwrap_or_default();
    }
    shown + rest
}

/// Whether a record's `meta` is what servers and clients keep there. Security labels and labels of HL7 (test data, for
/// instance) change how the record may be used.
pub(super) fn is_plain_meta(meta: &Value, before: Option<&Value>) -> bool {
    const HL7: &str = "http://terminology.hl7.org/";
    let labels = |meta: &Value, name: &str| meta.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let is_new = |name: &str, label: &Value| !before.is_some_and(|before| labels(before, name).contains(label));
    let is_of_hl7 =
        |label: &Value| label.get("system").and_then(Value::as_str).is_some_and(|system| system.starts_with(HL7));
    let is_secured = labels(meta, "security").iter().any(|label| is_new("security", label));
    !is_secured && !labels(meta, "tag").iter().any(|label| is_of_hl7(label) && is_new("tag", label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_that_take_back() {
        for text in ["Do NOT give", "Chest X-ray (cancelled)", "entered in error", "dо not perform"] {
            assert!(takes_back(text), "{text}");
        }
        for text in ["Type 2 diabetes mellitus without complications", "Non-small cell carcinoma", "Potassium", ""] {
            assert!(!takes_back(text), "{text}");
        }
    }

    #[test]
    fn a_generated_narrative_says_what_the_record_says() {
        let record = |div: &str, status: &str| {
            json!({"resourceType": "Observation", "status": "final", "effectiveDateTime": "2026-04-06",
                "valueQuantity": {"value": 6.4, "unit": "mmol/L"}, "note": [{"text": "Do not repeat."}],
                "text": {"status": status, "div": format!("<div xmlns=\"http://www.w3.org/1999/xhtml\">{div}</div>")}})
        };
        for (div, status, expected) in [
            ("<b>Potassium</b>: 6.4&#160;mmol/L, April 6, 2026", "generated", true),
            ("Potassium: 3.9 mmol/L", "generated", false),
            ("Potassium 6.4: disregard", "generated", false),
            ("Potassium 6.4. Do not repeat.", "generated", true),
            ("Potassium 6.4", "additional", false),
            ("", "empty", true),
        ] {
            let record = record(div, status);
            assert_eq!(is_generated(&record["text"], &record), expected, "{div}");
        }
        assert!(!is_generated(&json!({"status": "generated"}), &json!({})));
    }

    #[test]
    fn labels_of_a_record() {
        let test_data = json!({"system": "http://terminology.hl7.org/CodeSystem/v3-ActReason", "code": "HTEST"});
        let own = json!({"system": "https://agent.example.org", "code": "x"});
        for (meta, before, expected) in [
            (json!({"versionId": "2", "profile": ["p"], "tag": [own]}), None, true),
            (json!({"tag": [test_data]}), None, false),
            (json!({"tag": [test_data]}), Some(json!({"tag": [test_data]})), true),
            (json!({"security": [own]}), None, false),
            (json!({"security": [own]}), Some(json!({"security": [own]})), true),
        ] {
            assert_eq!(is_plain_meta(&meta, before.as_ref()), expected, "{meta}");
        }
    }
}
