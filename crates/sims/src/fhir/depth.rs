//! Limits for the depth and the number of values of received JSON. Resources are later nested inside of other JSON (a
//! Bundle, a page of the state, an event), and many parsers stop at 127 levels.

use serde_json::Value;

use super::outcome::FhirError;

const MAX_LEVELS: usize = 100;

/// Parsed values take many times the memory of their text.
const MAX_VALUES: usize = 1_000_000;

/// Whether the text has too many values to be parsed. It need not be JSON.
pub(crate) fn has_too_many_values(text: &[u8]) -> bool {
    let (mut values, mut in_string, mut is_escaped) = (0usize, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' | b',' if !in_string => values += 1,
            _ => {}
        }
    }
    values > MAX_VALUES
}

pub(crate) fn check_text(text: &[u8]) -> Result<(), FhirError> {
    if has_too_many_values(text) {
        let message = format!("the body has more than {MAX_VALUES} values; send it in parts");
        return Err(FhirError::new(413, "too-long", message));
    }
    Ok(())
}

/// Whether a value is nested too deeply to be stored.
pub fn is_too_deep(value: &Value) -> bool {
    is_deeper(value, MAX_LEVELS)
}

pub(crate) fn check(value: &Value) -> Result<(), FhirError> {
    if is_too_deep(value) {
        return Err(FhirError::bad("too-long", format!("the JSON is nested deeper than {MAX_LEVELS} levels")));
    }
    Ok(())
}

/// Whether a value can be nested at this level.
pub(crate) fn fits(value: &Value, below: usize) -> bool {
    MAX_LEVELS.checked_sub(below).is_some_and(|levels| !is_deeper(value, levels))
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(members) => levels == 0 || members.values().any(|member| is_deeper(member, levels - 1)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_counted_outside_of_strings() {
        let list = |count: usize| format!("[{}]", vec!["1"; count].join(","));
        assert!(check_text(list(MAX_VALUES - 1).as_bytes()).is_ok());
        assert_eq!(check_text(list(MAX_VALUES + 1).as_bytes()).unwrap_err().status, 413);
        assert!(check_text(format!("\"{}\\\"{}\"", ",".repeat(MAX_VALUES), "[".repeat(MAX_VALUES)).as_bytes()).is_ok());
    }

    #[test]
    fn depth_is_limited() {
        let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!([inner]));
        assert!(check(&nested(MAX_LEVELS)).is_ok());
        assert_eq!(check(&nested(MAX_LEVELS + 1)).unwrap_err().status, 400);
        assert!(fits(&nested(MAX_LEVELS - 3), 3) && !fits(&nested(MAX_LEVELS - 3), 4));
        assert!(!fits(&json!(1), MAX_LEVELS + 1));
    }
}
