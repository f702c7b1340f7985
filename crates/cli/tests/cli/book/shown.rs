//! Whether an answer that a page shows is true.

use serde_json::Value;

/// `…` stands for anything. JSON is compared as values, and may have more members than are shown; text line by line.
pub(super) fn is_true(shown: &str, actual: &str) -> bool {
    match (serde_json::from_str(shown), values(actual)) {
        (Ok(shown), actual) if !actual.is_empty() => actual.iter().any(|actual| holds(&shown, actual)),
        _ => lines_hold(&lines(shown), &lines(actual)),
    }
}

/// An answer may stand among others, of which not each ends its line.
fn values(text: &str) -> Vec<Value> {
    let of_line = |line| serde_json::Deserializer::from_str(line).into_iter().map_while(Result::ok);
    match serde_json::from_str(text) {
        Ok(value) => vec![value],
        Err(_) => text.lines().flat_map(of_line).collect(),
    }
}

fn holds(shown: &Value, actual: &Value) -> bool {
    match (shown, actual) {
        (Value::String(shown), _) if shown == "…" => true,
        (Value::String(shown), Value::String(actual)) => text_holds(shown, actual),
        (Value::Object(shown), Value::Object(actual)) => {
            shown.iter().all(|(name, shown)| actual.get(name).is_some_and(|actual| holds(shown, actual)))
        }
        (Value::Array(shown), Value::Array(actual)) => match shown.split_last() {
            Some((Value::String(rest), first)) if rest == "…" => {
                actual.len() >= first.len() && first.iter().zip(actual).all(|(shown, actual)| holds(shown, actual))
            }
            _ => shown.len() == actual.len() && shown.iter().zip(actual).all(|(shown, actual)| holds(shown, actual)),
        },
        _ => shown == actual,
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

/// A line that is `…` alone stands for any number of lines.
fn lines_hold(shown: &[&str], actual: &[&str]) -> bool {
    match shown.split_first() {
        None => actual.is_empty(),
        Some((&"…", rest)) => (0..=actual.len()).any(|skipped| lines_hold(rest, &actual[skipped..])),
        Some((first, rest)) => match actual.split_first() {
            Some((line, others)) => text_holds(first, line) && lines_hold(rest, others),
            None => false,
        },
    }
}

fn text_holds(shown: &str, actual: &str) -> bool {
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
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    true
}

#[test]
fn what_is_shown_is_held_against_what_was_said() {
    for (shown, actual) in [
        ("a … c\n", "a b c\n"),
        ("…\nlast\n", "first\nsecond\n\nlast\n"),
        (r#"{"a": "x…", "b": [1, "…"]}"#, r#"{"a":"xyz","b":[1,2,3],"c":0}"#),
        (r#"{"a": 1}"#, "{\"z\":2}{\"y\":2}\n{\"a\":1}\n"),
        ("key vk_…\n", "key vk_123\n"),
    ] {
        assert!(is_true(shown, actual), "{shown} {actual}");
    }
    for (shown, actual) in [
        ("a … c\n", "a b d\n"),
        ("first\n", "first\nsecond\n"),
        ("first\n…\nthird\n", "first\nsecond\n"),
        (r#"{"a": 1}"#, r#"{"a":2}"#),
        (r#"{"a": [1]}"#, r#"{"a":[1,2]}"#),
        (r#"{"a": 1}"#, "{}"),
    ] {
        assert!(!is_true(shown, actual), "{shown} {actual}");
    }
}
