//! How deep the JSON may be that comes in. It is shown again deeper inside other things (a Bundle, a page of the state, an
//! event), and a reader commonly stops at 127 levels.

use serde_json::Value;

use super::outcome::Refusal;

const MOST_LEVELS: usize = 100;

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
    fn a_hundred_levels_are_enough() {
        let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!([inner]));
        assert!(check(&nested(MOST_LEVELS)).is_ok());
        assert_eq!(check(&nested(MOST_LEVELS + 1)).unwrap_err().status, 400);
    }
}
