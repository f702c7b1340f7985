//! Decimal numbers and their precision (<https://hl7.org/fhir/R4/search.html#number>).

use rust_decimal::Decimal;
use serde_json::Value;

use super::Range;

/// Parses a FHIR decimal, if it fits (about 28 digits).
pub(super) fn decimal(text: &str) -> Option<Decimal> {
    let is_number = (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
    if !is_number {
        return None;
    }
    if text.contains(['e', 'E']) { Decimal::from_scientific(text).ok() } else { text.parse().ok() }
}

/// Reads a JSON number from its own digits.
pub(super) fn json_decimal(value: &Value) -> Option<Decimal> {
    decimal(value.as_number()?.as_str())
}

/// The range that the digits imply, with an exclusive upper end: `100` is 99.5 to 100.5, `100.00` is 99.995 to 100.005,
/// `1e2` is 95 to 105.
pub(super) fn written_range(text: &str, value: Decimal) -> Range {
    let half = half_step(text).unwrap_or_default();
    Range { low: value.checked_sub(half), high: value.checked_add(half) }
}

/// Half of the last digit's value. R4 gives `1e2` one digit more than it is written with.
fn half_step(text: &str) -> Option<Decimal> {
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, Some(exponent.parse::<i32>().ok()?)),
        None => (text, None),
    };
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let decimals = if exponent.is_some() { decimals.max(1) } else { decimals };
    let power = exponent.unwrap_or_default().checked_sub(i32::try_from(decimals).ok()?)?;
    Decimal::from_scientific(&format!("5e{}", power.checked_sub(1)?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_imply_the_precision() {
        for (text, low, high) in [
            ("100", "99.5", "100.5"),
            ("100.00", "99.995", "100.005"),
            ("1e2", "95", "105"),
            ("1.0e2", "95", "105"),
            ("-5", "-5.5", "-4.5"),
            ("5.40e-3", "0.005395", "0.005405"),
            ("0", "-0.5", "0.5"),
        ] {
            let value = decimal(text).unwrap();
            let range = Range { low: decimal(low), high: decimal(high) };
            assert_eq!(written_range(text, value), range, "{text}");
        }
    }

    #[test]
    fn invalid_and_too_large_numbers_are_none() {
        for text in ["", "-", ".", "e", "1e", "1e99", "x", "1,5", "0x10", "1_000", "NaN", "1e1e1", &"9".repeat(40)] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }
}
