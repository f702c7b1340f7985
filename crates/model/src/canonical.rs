//! Canonical JSON: equal values have the same text, whatever the order of their keys, so that its hash identifies the
//! content.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Writes a value with keys sorted by code point, without white space, and with numbers and strings as serde_json
/// writes them.
pub fn to_string(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS[usize::from(value)];
    let text: Vec<u8> = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
    String::from_utf8(text).unwrap_or_default()
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|left, right| left.0.cmp(right.0));
            text.push('{');
            for (index, (key, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(member, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_order_does_not_matter_and_numbers_keep_their_digits() {
        let left: Value = serde_json::from_str(r#"{"b":[1.0,{"y":1,"x":"é\n"}],"a":null}"#).unwrap();
        let right: Value = serde_json::from_str(r#"{"a":null,"b":[1.0,{"x":"é\n","y":1}]}"#).unwrap();
        assert_eq!(to_string(&left), to_string(&right));
        assert_eq!(to_string(&left), r#"{"a":null,"b":[1.0,{"x":"é\n","y":1}]}"#);
    }
}
