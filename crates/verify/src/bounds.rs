//! Limits and normalizes evidence: long values are cut to their start, length and hash, and keys are sorted.

use model::canonical;
use serde_json::{Map, Value};

use crate::evidence::object;

/// Candidates that the evidence lists. The details have their number.
pub(crate) const MOST_LISTED: usize = 20;
const LONGEST_TEXT: usize = 1_000;
const LONGEST_VALUE_BYTES: usize = 4_000;
const SHOWN_CHARACTERS: usize = 200;

/// The value, or if it is too long `{start, length, sha256}`, with the length in bytes.
pub(crate) fn bounded(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > LONGEST_TEXT => cut(text),
        Value::Array(_) | Value::Object(_) => {
            let text = canonical::to_string(value);
            if text.len() > LONGEST_VALUE_BYTES { cut(&text) } else { sorted(value) }
        }
        value => {
            let text = value.to_string();
            if text.len() > LONGEST_VALUE_BYTES { cut(&text) } else { value.clone() }
        }
    }
}

/// As [`bounded`], with a lower limit, for lists of many values.
pub(crate) fn brief(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        value => canonical::to_string(value),
    };
    if text.len() > SHOWN_CHARACTERS { cut(&text) } else { sorted(value) }
}

fn cut(text: &str) -> Value {
    object([
        ("start", text.chars().take(SHOWN_CHARACTERS).collect::<String>().into()),
        ("length", text.len().into()),
        ("sha256", canonical::sha256_hex(text.as_bytes()).into()),
    ])
}

/// Shortens a name for a sentence or a list.
pub(crate) fn short(text: &str) -> String {
    model::reading::shortened(text, SHOWN_CHARACTERS)
}

/// Sorts the members of every object by name.
pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(key, member)| (key.clone(), sorted(member))).collect();
            members.sort_by(|left, right| left.0.cmp(&right.0));
            Value::Object(members.into_iter().collect::<Map<_, _>>())
        }
        value => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_values_are_cut_and_keys_sorted() {
        assert_eq!(
            bounded(&json!({"b": 1, "a": {"d": [], "c": null}})).to_string(),
            r#"{"a":{"c":null,"d":[]},"b":1}"#
        );
        let long = bounded(&json!("é".repeat(600)));
        assert_eq!(
            (long["length"].as_u64(), long["start"].as_str().map(|s| s.chars().count())),
            (Some(1200), Some(200))
        );
        assert_eq!(long["sha256"].as_str().map(str::len), Some(64));
        assert!(bounded(&json!(vec!["x"; 10_000])).to_string().len() < 1_000);
    }
}
