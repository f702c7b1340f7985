//! Fills in the templates of prompts. Values are never read as templates.

use serde_json::Value;

/// The text for a value that does not exist.
const UNKNOWN: &str = "not on file";

/// Fills in `{{field.…}}` and `{{record.…}}` with the results of `value`.
pub(super) fn fill(text: &str, value: impl Fn(&str, &str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let (inside, after) = after.split_once("}}").unwrap_or((after, ""));
        let (root, path) = inside.trim().split_once('.').unwrap_or_default();
        let found = value(root, path).filter(|found| !found.is_empty());
        filled.push_str(found.as_deref().unwrap_or(UNKNOWN));
        rest = after;
        if filled.len() > MAX_BYTES {
            return truncated(filled);
        }
    }
    filled.push_str(rest);
    truncated(filled)
}

/// The maximum length of a prompt. Values of records may be longer.
const MAX_BYTES: usize = 20_000;

fn truncated(mut text: String) -> String {
    if text.len() > MAX_BYTES {
        let end = (0..=MAX_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

/// A value of a record by its dotted path, as text.
pub(super) fn member(record: &Value, path: &str) -> Option<String> {
    let found = path.split('.').try_fold(record, |value, name| match value {
        Value::Object(members) => members.get(name),
        Value::Array(items) => name.parse::<usize>().ok().and_then(|index| items.get(index)),
        _ => None,
    });
    match found? {
        Value::String(text) => Some(text.clone()),
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Bool(false) => Some("no".to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_not_read_as_templates() {
        let record = json!({"name": [{"family": "Stone"}], "active": true, "balance": 12.5, "list": [1]});
        let value = |root: &str, path: &str| match root {
            "field" => Some("{{record.name.0.family}}".to_owned()),
            _ => member(&record, path),
        };
        for (text, filled) in [
            ("Hello {{record.name.0.family}}.", "Hello Stone."),
            ("{{field.a}}", "{{record.name.0.family}}"),
            ("{{ record.active }} {{record.balance}}", "yes 12.5"),
            ("{{record.none}}, {{record.list}}", "not on file, not on file"),
            ("a {{", "a not on file"),
        ] {
            assert_eq!(fill(text, value), filled);
        }
        assert!(fill("{{field.a}}", |_, _| Some("é".repeat(100_000))).len() <= MAX_BYTES);
    }
}
