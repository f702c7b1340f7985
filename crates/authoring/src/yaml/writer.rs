//! Writes values as YAML. `parse` reads them back unchanged.

use serde_json::Value;

/// Formats a value in block style. Scalars and empty containers are written like JSON.
pub fn to_string(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(members) if !members.is_empty() => mapping(value, 0, &mut text),
        Value::Array(items) if !items.is_empty() => list(items, 0, &mut text),
        other => {
            text.push_str(&scalar(other, 0));
            text.push('\n');
        }
    }
    text
}

fn mapping(value: &Value, depth: usize, text: &mut String) {
    let members = value.as_object().into_iter().flatten();
    for (index, (key, member)) in members.enumerate() {
        if index > 0 || !text.ends_with("- ") {
            indent(depth, text);
        }
        text.push_str(&plain(key).map_or_else(|| quoted(key), str::to_owned));
        text.push(':');
        nested(member, depth, text);
    }
}

fn list(items: &[Value], depth: usize, text: &mut String) {
    for item in items {
        indent(depth, text);
        text.push('-');
        match item {
            Value::Object(members) if !members.is_empty() => {
                text.push(' ');
                mapping(item, depth + 1, text);
            }
            other => nested(other, depth, text),
        }
    }
}

/// Writes the value after a key or a dash.
fn nested(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            text.push('\n');
            mapping(value, depth + 1, text);
        }
        Value::Array(items) if !items.is_empty() => {
            text.push('\n');
            list(items, depth + 1, text);
        }
        other => {
            text.push(' ');
            text.push_str(&scalar(other, depth + 1));
            text.push('\n');
        }
    }
}

fn indent(depth: usize, text: &mut String) {
    (0..depth).for_each(|_| text.push_str("  "));
}

fn scalar(value: &Value, depth: usize) -> String {
    match value {
        Value::String(string) => match plain(string) {
            Some(plain) => plain.to_owned(),
            None => block(string, depth).unwrap_or_else(|| quoted(string)),
        },
        other => other.to_string(),
    }
}

/// Formats a double-quoted string: a JSON string with escapes for characters that YAML does not allow.
fn quoted(string: &str) -> String {
    let json = Value::String(string.to_owned()).to_string();
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                text.push_str(&format!("\\u{:04x}", character as u32));
            }
            other => text.push(other),
        }
    }
    text
}

/// Formats several lines as a literal block, if no character needs an escape.
fn block(string: &str, depth: usize) -> Option<String> {
    let body = string.strip_suffix('\n').unwrap_or(string);
    let is_simple = |line: &str| !line.starts_with(char::is_whitespace) && !line.ends_with(char::is_whitespace);
    let is_printable = |c: char| {
        c == '\n' || (!c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'))
    };
    let fits = body.contains('\n')
        && body.split('\n').all(is_simple)
        && body.chars().all(is_printable)
        && !body.starts_with('\n')
        && !body.ends_with('\n');
    if !fits {
        return None;
    }
    let mut text = String::from(if string.ends_with('\n') { "|" } else { "|-" });
    for line in body.split('\n') {
        text.push('\n');
        if !line.is_empty() {
            indent(depth, &mut text);
            text.push_str(line);
        }
    }
    Some(text)
}

/// The text, if it needs no quotes.
fn plain(string: &str) -> Option<&str> {
    let mut characters = string.chars();
    let first = characters.next()?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.' | '-' | '(' | ')' | '+');
    let fits = (first.is_ascii_alphabetic() || first == '_')
        && string.chars().all(|c| is_word(c) || c == ' ')
        && !string.ends_with(' ')
        && !matches!(string, "null" | "true" | "false");
    // Other YAML parsers read more words as booleans than this one.
    let is_reserved = ["yes", "no", "on", "off", "y", "n", "true", "false", "null"]
        .iter()
        .any(|word| string.eq_ignore_ascii_case(word));
    (fits && !is_reserved).then_some(string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;
    use proptest::prelude::*;
    use serde_json::json;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(|number| json!(number)),
            "[ -~\n\t]{0,20}".prop_map(Value::String),
            "\\PC{0,8}".prop_map(Value::String),
            any::<String>().prop_map(Value::String),
            prop::sample::select(vec![
                "no",
                "007",
                "1.50",
                "- a",
                "a: b",
                "# c",
                "|x",
                "{{entity.a}}",
                "a\n b\n",
                "x\ny\n",
                "\n"
            ])
            .prop_map(|text| json!(text)),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
                prop::collection::vec(("[a-z0-9_. -]{1,6}", inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn written_values_are_read_back_unchanged(value in value()) {
            let text = to_string(&value);
            let read = parse(&text);
            prop_assert_eq!(read.as_ref(), Ok(&value), "{}", text);
        }
    }
}
