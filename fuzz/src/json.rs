//! JSON inputs, and the same JSON written otherwise.

use serde_json::{Map, Value};

pub(crate) fn read(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes).ok()
}

/// With the members of every object in the other order.
pub(crate) fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(reversed).collect()),
        Value::Object(members) => Value::Object(
            members.iter().rev().map(|(key, member)| (key.clone(), reversed(member))).collect::<Map<_, _>>(),
        ),
        value => value.clone(),
    }
}

/// The first line, and the rest.
pub(crate) fn first_line(bytes: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(bytes).ok()?;
    Some(text.split_once('\n').unwrap_or((text, "")))
}
