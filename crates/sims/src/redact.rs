//! Removes secrets that callers send by mistake, so that they are not logged.

use model::api_key::masked;
use serde_json::Value;

/// Masks API keys and tokens in all strings of a JSON value.
pub fn without_secrets(value: Value) -> Value {
    match value {
        Value::String(text) => masked(&text).into(),
        Value::Array(items) => items.into_iter().map(without_secrets).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (masked(&name), without_secrets(member))).collect()
        }
        other => other,
    }
}
