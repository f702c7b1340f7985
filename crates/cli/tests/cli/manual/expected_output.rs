//! Compares output that a page shows with actual output.

use serde_json::Value;

/// `…` stands for anything. JSON is compared as values, and may have more members than are shown; text line by line.
pub(super) fn matches(shown: &str, actual: &str) -> bool {
    match (serde_json::from_str(shown), values(actual)) {
        (Ok(shown), actual) if !actual.is_empty() => actual.iter().any(|actual| value_matches(&shown, actual)),
        _ => lines_match(&lines(shown), &lines(actual)),
    }
}

/// All JSON values of a text, which may be several per line.
fn values(text: &str) -> Vec<Value> {
    let values_of_line = |line| serde_json::Deserializer::from_str(line).into_iter().map_while(Result::ok);
    match serde_json::from_str(text) {
        Ok(value) => vec![value],
        Err(_) => text.lines().flat_map(values_of_line).collect(),
    }
}

fn value_matches(shown: &Value, actual: &Value) -> bool {
    match (shown, actual) {
        (Value::String(shown), _) if shown == "…" => true,
        (Value::String(shown), Value::String(actual)) => text_matches(shown, actual),
        (Value::Object(shown), Value::Object(actual)) => {
            shown.iter().all(|(name, shown)| actual.get(name).is_some_and(|actual| value_matches(shown, actual)))
        }
        (Value::Array(shown), Value::Array(actual)) => match shown.split_last() {
            Some((Value::String(rest), first)) if rest == "…" => {
                actual.len() >= first.len()
                    && first.iter().zip(actual).all(|(shown, actual)| value_matches(shown, actual))
            }
            _ => {
                shown.len() == actual.len()
                    && shown.iter().zip(actual).all(|(shown, actual)| value_matches(shown, actual))
            }
        },
        _ => shown == actual,
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

/// A line that is `…` alone stands for any number of lines.
fn lines_match(shown: &[&str], actual: &[&str]) -> bool {
    match shown.split_first() {
        None => actual.is_empty(),
        Some((&"…", rest)) => (0..=actual.len()).any(|skipped| lines_match(rest, &actual[skipped..])),
        Some((first, rest)) => match actual.split_first() {
            Some((line, others)) => text_matches(first, line) && lines_match(rest, others),
            None => false,
        },
    }
}

fn text_matches(shown: &str, actual: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = actual.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(position) => rest = &rest[position + part.len()..],
            None => return false,
        }
    }
    true
}

#[test]
fn shown_output_is_compared_with_actual_output() {
    for (shown, actual) in [
        ("a … c\n", "a b c\n"),
        ("…\nlast\n", "first\nsecond\n\nlast\n"),
        (r#"{"a": "x…", "b": [1, "…"]}"#, r#"{"a":"xyz","b":[1,2,3],"c":0}"#),
        (r#"{"a": 1}"#, "{\"z\":2}{\"y\":2}\n{\"a\":1}\n"),
        ("key vk_…\n", "key vk_123\n"),
    ] {
        assert!(matches(shown, actual), "{shown} {actual}");
    }
    for (shown, actual) in [
        ("a … c\n", "a b d\n"),
        ("first\n", "first\nsecond\n"),
        ("first\n…\nthird\n", "first\nsecond\n"),
        (r#"{"a": 1}"#, r#"{"a":2}"#),
        (r#"{"a": [1]}"#, r#"{"a":[1,2]}"#),
        (r#"{"a": 1}"#, "{}"),
    ] {
        assert!(!matches(shown, actual), "{shown} {actual}");
    }
}
