//! The human-readable parts of a record: its narrative, displays and labels.
//!
//! `only` allows a generated narrative, and the display of an asserted code or reference, if they say the same as the record.
//! That is the case for a narrative and the display of a reference if all of their words are in the record or in the targets
//! of its references. The display of a code may have any words that do not retract it.

use std::collections::BTreeSet;

use fhir::search::fold;
use serde_json::Value;
use spoken::SpokenText;
use world::Records;

use crate::common_words::{folded, is_common, words};

/// Phrases that retract the coded value next to the text.
const RETRACTIONS: [&str; 32] = [
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

/// Complete displays of code systems that contain such a phrase but retract nothing.
const STANDARD_DISPLAYS: [&str; 13] = [
    "never smoked tobacco",
    "never smoked",
    "never smoker",
    "never a smoker",
    "never used tobacco",
    "never drinks",
    "never drank",
    "never drinker",
    "never chewed tobacco",
    "never married",
    "never pregnant",
    "stopped smoking",
    "stopped drinking",
];

/// Longer texts are not examined, and never count as saying the same.
const LONGEST: usize = 64 * 1024;

/// Whether a text retracts the coded value next to it.
pub(super) fn retracts(text: &str) -> bool {
    if text.len() > LONGEST {
        return true;
    }
    let folded = fold(&spoken::fold_confusables(text));
    let whole = folded.trim().trim_end_matches("(finding)").trim();
    let spoken_text = SpokenText::new(&folded);
    !STANDARD_DISPLAYS.contains(&whole) && RETRACTIONS.iter().any(|phrase| spoken_text.has(phrase))
}

/// As [`retracts`], ignoring occurrences of the code or id, which may itself contain such a word: `VOID-1`.
pub(super) fn retracts_apart_from_code(text: &str, code: &str) -> bool {
    let is_code = code.chars().count() > 3 && code.contains(|c: char| c.is_ascii_digit());
    if is_code { retracts(&text.replace(code, " ; ")) } else { retracts(text) }
}

/// Whether a narrative is marked as generated, and has only words and numbers of the record and its references' targets.
pub(super) fn is_generated(narrative: &Value, record: &Value, records: &Records) -> bool {
    let status = narrative.get("status").and_then(Value::as_str);
    let Some(div) = narrative.get("div").and_then(Value::as_str) else { return false };
    if !matches!(status, Some("generated" | "empty")) || div.len() > LONGEST {
        return false;
    }
    without_tags(div).is_some_and(|text| has_only(&text, &words_of(record, records)))
}

/// Whether the display of a reference has only words and numbers of its target. If the target does not exist, any display
/// that retracts nothing is allowed.
pub(super) fn is_name(display: &str, reference: &str, records: &Records) -> bool {
    let Some(target) = target_of(reference, records) else {
        let id = reference.rsplit('/').next().unwrap_or_default();
        return !reference.starts_with('#') && !retracts_apart_from_code(display, id);
    };
    display.len() <= LONGEST && has_only(display, &words_of(&target, records))
}

/// The words of a record and of the targets of its references.
fn words_of(record: &Value, records: &Records) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    collect(record, &mut known);
    let mut targets = Vec::new();
    references(record, &mut targets);
    for target in targets.into_iter().take(MOST_TARGETS) {
        if let Some(target) = target_of(target, records) {
            collect(&target, &mut known);
        }
    }
    known
}

/// References of one record that are followed.
const MOST_TARGETS: usize = 20;

fn target_of(reference: &str, records: &Records) -> Option<Value> {
    let reference = reference.split_once("/_history/").map_or(reference, |(versionless, _)| versionless);
    let mut parts = reference.rsplit('/');
    let (key, collection) = (parts.next()?, parts.next()?);
    records.get(collection, key).live().map(|record| Value::clone(&record.json()))
}

fn references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Object(members) => {
            found.extend(members.get("reference").and_then(Value::as_str));
            members.values().for_each(|member| references(member, found));
        }
        _ => {}
    }
}

fn has_only(text: &str, known: &BTreeSet<String>) -> bool {
    words(&folded(text)).all(|word| known.contains(word) || is_common(word))
}

/// Collects the words of a record: of its texts, numbers and element names, without its narrative.
fn collect(value: &Value, known: &mut BTreeSet<String>) {
    // `2026-06-22T09:30` has the words `22` and `22t09`.
    let mut add = |text: &str| {
        let folded = fold(text);
        let is_date = text.get(4..5) == Some("-") && text.bytes().take(4).all(|byte| byte.is_ascii_digit());
        let parts = folded.split(|c: char| !c.is_ascii_digit()).filter(|_| is_date).flat_map(words);
        known.extend(words(&folded).chain(parts).map(|word| word.to_owned()));
    };
    match value {
        Value::String(text) => add(text),
        Value::Number(number) => add(&number.to_string()),
        Value::Bool(value) => add(if *value { "true" } else { "false" }),
        Value::Array(items) => items.iter().for_each(|item| collect(item, known)),
        Value::Object(members) => {
            for (key, member) in members {
                if key == "text" && !member.is_string() {
                    continue;
                }
                // `businessStatus` may be displayed as "business status".
                let spaced: String =
                    key.chars().flat_map(|c| if c.is_uppercase() { vec![' ', c] } else { vec![c] }).collect();
                known.extend(words(&fold(key)).chain(words(&fold(&spaced))).map(ToOwned::to_owned));
                collect(member, known);
            }
        }
        Value::Null => {}
    }
}

/// The text between the tags. None if the browser may display anything else: other character references, CDATA, pictures, or
/// texts in attributes.
fn without_tags(div: &str) -> Option<String> {
    const PLAIN: [&str; 8] = ["amp", "lt", "gt", "quot", "apos", "nbsp", "#160", "#xa0"];
    let mut text = String::with_capacity(div.len());
    let mut rest = div;
    while let Some(start) = rest.find(['<', '&']) {
        let (before, tagged) = rest.split_at(start);
        text.push_str(before);
        let is_tag = tagged.starts_with('<');
        let end = tagged.find(if is_tag { '>' } else { ';' })?;
        let inside = tagged.get(1..end)?.to_lowercase();
        let is_plain = match is_tag {
            true => {
                !inside.starts_with(['!', '?'])
                    && !["img", "title=", "alt=", "style="].iter().any(|one| inside.contains(one))
            }
            false => PLAIN.contains(&inside.as_str()),
        };
        if !is_plain {
            return None;
        }
        text.push(' ');
        rest = tagged.get(end + 1..).unwrap_or_default();
    }
    Some(text + rest)
}

/// Whether a record's `meta` has only metadata of servers and clients, and no new security labels, tags or extensions, which
/// say how to use the record.
pub(super) fn is_plain_meta(meta: &Value, before: Option<&Value>) -> bool {
    const PLAIN: [&str; 4] = ["versionId", "lastUpdated", "source", "profile"];
    let kept = |name: &str, item: &Value| {
        let before = before.and_then(|before| before.get(name)).and_then(Value::as_array);
        before.is_some_and(|before| before.contains(item))
    };
    let members = meta.as_object().into_iter().flatten();
    members.filter(|(name, _)| !PLAIN.contains(&name.as_str())).all(|(name, value)| match value {
        Value::Array(items) => items.iter().all(|item| kept(name, item)),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Playground, sandbox_id};
    use model::simulator::SimulatorType;
    use serde_json::json;

    #[test]
    fn texts_that_retract() {
        for text in ["Do NOT give", "Chest X-ray (cancelled)", "entered in error", "dо not perform"] {
            assert!(retracts(text), "{text}");
        }
        for text in [
            "Type 2 diabetes mellitus without complications",
            "Non-small cell carcinoma",
            "Potassium",
            "",
            "Never smoked tobacco (finding)",
            "Never smoker",
        ] {
            assert!(!retracts(text), "{text}");
        }
        for text in
            ["Never smoked; never give", "Warfarin, never used", "Never used", "Warfarin: never drinks (finding)"]
        {
            assert!(retracts(text), "{text}");
        }
        assert!(
            !retracts_apart_from_code("Sample VOID-1", "VOID-1") && retracts_apart_from_code("VOID-1, void", "VOID-1")
        );
        assert!(retracts_apart_from_code("void", "void"));
    }

    fn hospital() -> Playground {
        let patient = json!({"resourceType": "Patient", "id": "p-1", "name": [{"given": ["Ada"], "family": "Stone"}]});
        Playground::new(&[patient])
    }

    fn records(playground: &Playground) -> &Records {
        &playground.world.sandboxes[&sandbox_id(SimulatorType::Fhir)].records
    }

    #[test]
    fn a_generated_narrative_has_only_words_of_the_record() {
        let record = |div: &str, status: &str| {
            json!({"resourceType": "Observation", "status": "final", "effectiveDateTime": "2026-04-06",
                "code": {"text": "Potassium"}, "subject": {"reference": "Patient/p-1"},
                "valueQuantity": {"value": 6.4, "unit": "mmol/L"},
                "text": {"status": status, "div": format!("<div xmlns=\"http://www.w3.org/1999/xhtml\">{div}</div>")}})
        };
        for (div, status, expected) in [
            ("<b>Potassium</b>: 6.4&#160;mmol/L for Ada Stone, April 6, 2026 (final)", "generated", true),
            ("<p>Effective date time: 2026-04-06</p>", "generated", true),
            ("Potassium: 3.9 mmol/L", "generated", false),
            ("Potassium 6.4: disregard", "generated", false),
            ("Potassium is not 6.4", "generated", false),
            ("Potassium 6.4 &#68;&#79; &#78;&#79;&#84;", "generated", false),
            ("Potassium 6.4 & disregard;", "generated", false),
            ("Potassium <![CDATA[cancelled]]>", "generated", false),
            ("<p title='cancelled'>Potassium</p>", "generated", false),
            ("Potassium: 4.6 mmol/L", "generated", false),
            ("Potassium: 6.40 mmol/L", "generated", true),
            ("Potassium 6.4", "additional", false),
            ("", "empty", true),
        ] {
            let record = record(div, status);
            assert_eq!(is_generated(&record["text"], &record, records(&hospital())), expected, "{div}");
        }
        assert!(!is_generated(&json!({"status": "generated"}), &json!({}), records(&hospital())));
    }

    #[test]
    fn the_display_of_a_reference_has_only_words_of_its_target() {
        for (display, expected) in
            [("Ada Stone", true), ("STONE, Ada (patient)", true), ("Ada Stone (deceased)", false), ("Ben Wells", false)]
        {
            assert_eq!(is_name(display, "Patient/p-1", records(&hospital())), expected, "{display}");
        }
        assert!(is_name("Anybody", "Patient/p-9", records(&hospital())));
    }

    #[test]
    fn new_labels_are_not_plain_metadata() {
        let tag = json!({"system": "https://agent.example.org", "code": "x"});
        for (meta, before, expected) in [
            (json!({"versionId": "2", "profile": ["p"], "source": "s"}), None, true),
            (json!({"tag": []}), None, true),
            (json!({"tag": [tag]}), None, false),
            (json!({"tag": [tag]}), Some(json!({"tag": [tag]})), true),
            (json!({"security": [tag]}), None, false),
            (json!({"extension": [{"url": "x"}]}), None, false),
        ] {
            assert_eq!(is_plain_meta(&meta, before.as_ref()), expected, "{meta}");
        }
    }
}
