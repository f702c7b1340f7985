//! What the line says: authored texts with what the call knows. What is filled in is never read as a template.

use serde_json::Value;

/// What stands for a member that the record does not have.
const UNKNOWN: &str = "not on file";

/// The text with `{{field.…}}` and `{{record.…}}` filled in by `value`.
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
        if filled.len() > MOST_BYTES {
            return shortest(filled);
        }
    }
    filled.push_str(rest);
    shortest(filled)
}

/// A record may hold a book.
const MOST_BYTES: usize = 20_000;

fn shortest(mut text: String) -> String {
    if text.len() > MOST_BYTES {
        let end = (0..=MOST_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

/// A value of a record by its dotted path, as words.
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
    fn what_is_filled_in_is_not_filled_again() {
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
        assert!(fill("{{field.a}}", |_, _| Some("é".repeat(100_000))).len() <= MOST_BYTES);
    }
}
