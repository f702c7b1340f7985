//! What people read beside the coded elements of a record: its narrative, displays and labels.
//!
//! `only` ignores a generated narrative, and the display of an asserted code or reference, because they say the same as the
//! record. A narrative and the display of a reference do if they have no words but those of the record and of what it refers
//! to; the display of a code may have any that do not take it back.

use std::collections::BTreeSet;

use fhir::search::fold;
use serde_json::Value;
use spoken::Said;
use world::Records;

use crate::common_words::{folded, is_common, words};

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

/// Displays of code systems that have such a phrase and take nothing back, as long as they are all that is said.
const STANDARD: [&str; 13] = [
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

/// Longer texts are not looked through, and do not count as saying the same.
const LONGEST: usize = 64 * 1024;

pub(super) fn takes_back(text: &str) -> bool {
    if text.len() > LONGEST {
        return true;
    }
    let shown = fold(&spoken::fold_confusables(text));
    let whole = shown.trim().trim_end_matches("(finding)").trim();
    let said = Said::new(&shown);
    !STANDARD.contains(&whole) && TAKES_BACK.iter().any(|phrase| said.has(phrase))
}

/// The same for a text beside a code or an id, which may itself have such a word: `VOID-1`.
pub(super) fn takes_back_beside(text: &str, code: &str) -> bool {
    let is_code = code.chars().count() > 3 && code.contains(|c: char| c.is_ascii_digit());
    if is_code { takes_back(&text.replace(code, " ; ")) } else { takes_back(text) }
}

/// Whether a narrative that is marked as generated has only words and numbers of the record and of what it refers to.
pub(super) fn is_generated(narrative: &Value, record: &Value, records: &Records) -> bool {
    let status = narrative.get("status").and_then(Value::as_str);
    let Some(div) = narrative.get("div").and_then(Value::as_str) else { return false };
    if !matches!(status, Some("generated" | "empty")) || div.len() > LONGEST {
        return false;
    }
    without_tags(div).is_some_and(|shown| has_only(&shown, &words_of(record, records)))
}

/// Whether the display of a reference has only words and numbers of what it points to. What is not there cannot be told.
pub(super) fn is_name(shown: &str, reference: &str, records: &Records) -> bool {
    let Some(target) = target_of(reference, records) else {
        let id = reference.rsplit('/').next().unwrap_or_default();
        return !reference.starts_with('#') && !takes_back_beside(shown, id);
    };
    shown.len() <= LONGEST && has_only(shown, &words_of(&target, records))
}

/// The words of a record and of what it refers to.
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

/// Of one record so many references are followed.
const MOST_TARGETS: usize = 20;

fn target_of(reference: &str, records: &Records) -> Option<Value> {
    let reference = reference.split_once("/_history/").map_or(reference, |(place, _)| place);
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

/// The words of a record: of its texts and numbers, and of the names of its elements. Its narrative is not among them.
fn collect(value: &Value, known: &mut BTreeSet<String>) {
    // `2026-06-22T09:30` has 22 as well as `22t09`.
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
                // `businessStatus` is shown as "business status" or as it is.
                let spaced: String =
                    key.chars().flat_map(|c| if c.is_uppercase() { vec![' ', c] } else { vec![c] }).collect();
                known.extend(words(&fold(key)).chain(words(&fold(&spaced))).map(ToOwned::to_owned));
                collect(member, known);
            }
        }
        Value::Null => {}
    }
}

/// What stands between the tags; none if something else may be shown: other character references, CDATA, pictures, and texts
/// in attributes.
fn without_tags(div: &str) -> Option<String> {
    const PLAIN: [&str; 8] = ["amp", "lt", "gt", "quot", "apos", "nbsp", "#160", "#xa0"];
    let mut shown = String::with_capacity(div.len());
    let mut rest = div;
    while let Some(start) = rest.find(['<', '&']) {
        let (before, tagged) = rest.split_at(start);
        shown.push_str(before);
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
        shown.push(' ');
        rest = tagged.get(end + 1..).unwrap_or_default();
    }
    Some(shown + rest)
}

/// Whether a record's `meta` is what servers and clients keep there. Security labels, tags and extensions tell others how to
/// use the record.
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
    fn texts_that_take_back() {
        for text in ["Do NOT give", "Chest X-ray (cancelled)", "entered in error", "dо not perform"] {
            assert!(takes_back(text), "{text}");
        }
        for text in [
            "Type 2 diabetes mellitus without complications",
            "Non-small cell carcinoma",
            "Potassium",
            "",
            "Never smoked tobacco (finding)",
            "Never smoker",
        ] {
            assert!(!takes_back(text), "{text}");
        }
        for text in
            ["Never smoked; never give", "Warfarin, never used", "Never used", "Warfarin: never drinks (finding)"]
        {
            assert!(takes_back(text), "{text}");
        }
        assert!(!takes_back_beside("Sample VOID-1", "VOID-1") && takes_back_beside("VOID-1, void", "VOID-1"));
        assert!(takes_back_beside("void", "void"));
    }

    fn hospital() -> Playground {
        let patient = json!({"resourceType": "Patient", "id": "p-1", "name": [{"given": ["Ada"], "family": "Stone"}]});
        Playground::new(&[patient])
    }

    fn records(playground: &Playground) -> &Records {
        &playground.world.sandboxes[&sandbox_id(SimulatorType::Fhir)].records
    }

    #[test]
    fn a_generated_narrative_has_the_words_of_the_record() {
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
    fn the_display_of_a_reference_has_the_words_of_its_target() {
        for (shown, expected) in
            [("Ada Stone", true), ("STONE, Ada (patient)", true), ("Ada Stone (deceased)", false), ("Ben Wells", false)]
        {
            assert_eq!(is_name(shown, "Patient/p-1", records(&hospital())), expected, "{shown}");
        }
        assert!(is_name("Anybody", "Patient/p-9", records(&hospital())));
    }

    #[test]
    fn labels_of_a_record() {
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
