//! The number of a phone line.

use serde_json::Value;

/// The configured number, or one derived from the sandbox's secret. Numbers with area code 555 are not assigned.
pub fn of_line(config: &Value, derive: &dyn Fn(&str) -> Vec<u8>) -> String {
    match config.get("phone_number").and_then(Value::as_str) {
        Some(number) => number.to_owned(),
        None => {
            let digits: String =
                derive("phone number").iter().take(7).map(|byte| char::from(b'0' + byte % 10)).collect();
            format!("+1555{digits}")
        }
    }
}
