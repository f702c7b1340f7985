//! Numbers by their own digits.

use rust_decimal::Decimal;

/// A number if all of its digits can be kept.
pub(super) fn decimal(text: &str) -> Option<Decimal> {
    let is_number = (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
    if !is_number {
        return None;
    }
    if text.contains(['e', 'E']) { Decimal::from_scientific(text).ok() } else { Decimal::from_str_exact(text).ok() }
}
