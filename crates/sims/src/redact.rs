//! What callers send by mistake and the log must not keep.

use model::api_key::masked;
use serde_json::Value;

/// Keys and tokens of ours in any text of it are masked.
pub fn without_secrets(asked: Value) -> Value {
    match asked {
        Value::String(text) => masked(&text).into(),
        Value::Array(items) => items.into_iter().map(without_secrets).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (masked(&name), without_secrets(member))).collect()
        }
        other => other,
    }
}
