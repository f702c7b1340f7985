//! How deep the JSON may be that comes in, and how many values it may have. It is shown again deeper inside other things (a Bundle, a page of the state, an
//! event), and a reader commonly stops at 127 levels.

use serde_json::Value;

use super::outcome::Refusal;

const MOST_LEVELS: usize = 100;

/// A value in memory takes many times the bytes of its text: what is small on the wire could fill the machine.
const MOST_VALUES: usize = 1_000_000;

/// Whether the text is too many values to be read at all. It need not be JSON.
pub(crate) fn is_too_much(text: &[u8]) -> bool {
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
    values > MOST_VALUES
}

pub(crate) fn check_text(text: &[u8]) -> Result<(), Refusal> {
    if is_too_much(text) {
        let message = format!("the body has more than {MOST_VALUES} values; send it in parts");
        return Err(Refusal::new(413, "too-long", message));
    }
    Ok(())
}

/// Whether it is too deep to be kept inside something else.
pub fn is_too_deep(value: &Value) -> bool {
    is_deeper(value, MOST_LEVELS)
}

pub(crate) fn check(value: &Value) -> Result<(), Refusal> {
    if is_too_deep(value) {
        return Err(Refusal::bad("too-long", format!("the JSON is nested deeper than {MOST_LEVELS} levels")));
    }
    Ok(())
}

/// Whether a value may be put so many levels below the top.
pub(crate) fn fits(value: &Value, below: usize) -> bool {
    MOST_LEVELS.checked_sub(below).is_some_and(|levels| !is_deeper(value, levels))
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
        assert!(check_text(list(MOST_VALUES - 1).as_bytes()).is_ok());
        assert_eq!(check_text(list(MOST_VALUES + 1).as_bytes()).unwrap_err().status, 413);
        assert!(
            check_text(format!("\"{}\\\"{}\"", ",".repeat(MOST_VALUES), "[".repeat(MOST_VALUES)).as_bytes()).is_ok()
        );
    }

    #[test]
    fn a_hundred_levels_are_enough() {
        let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!([inner]));
        assert!(check(&nested(MOST_LEVELS)).is_ok());
        assert_eq!(check(&nested(MOST_LEVELS + 1)).unwrap_err().status, 400);
        assert!(fits(&nested(MOST_LEVELS - 3), 3) && !fits(&nested(MOST_LEVELS - 3), 4));
        assert!(!fits(&json!(1), MOST_LEVELS + 1));
    }
}
