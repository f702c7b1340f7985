//! Amounts in cents, exactly (X12.6: data type R).

use std::fmt;

use serde_json::Value;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cents(pub(super) i64);

/// The largest accepted amount. It keeps sums far from overflow.
const MAX_CENTS: i64 = 100_000_000_000;

impl Cents {
    /// Parses `85`, `85.5`, `85.50` or `-3`. None if the text is not an amount or has more than two decimal places.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let fraction = fraction.trim_end_matches('0');
        if digits.is_empty() || digits == "." || whole.len() > 12 || !is_number(whole) || !is_number(fraction) {
            return None;
        }
        let cents: i64 = match fraction.len() {
            0 => 0,
            1 => fraction.parse::<i64>().ok()? * 10,
            2 => fraction.parse().ok()?,
            _ => return None,
        };
        let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        Some(Self(sign * (whole * 100 + cents))).filter(|amount| amount.0.abs() <= MAX_CENTS)
    }

    /// Reads a FHIR `Money.value` or `Quantity.value`, or an authored number or string.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Self::parse(&number.to_string()),
            Value::String(text) => Self::parse(text),
            _ => None,
        }
    }

    /// Multiplies the amount by a share, rounding half away from zero.
    pub(super) fn times(self, share: Share) -> Self {
        let product = i128::from(self.0) * i128::from(share.0);
        let rounded = (product * 2 + i128::from(SCALE) * product.signum()) / (2 * i128::from(SCALE));
        Self(i64::try_from(rounded).unwrap_or_default())
    }
}

impl std::ops::Add for Cents {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl std::ops::Sub for Cents {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl std::iter::Sum for Cents {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), |sum, amount| sum + amount)
    }
}

/// Without trailing zeros, as the standard requires: `85`, `85.5`.
impl fmt::Display for Cents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, cents) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        match (cents / 100, cents % 100) {
            (whole, 0) => write!(f, "{sign}{whole}"),
            (whole, part) if part % 10 == 0 => write!(f, "{sign}{whole}.{}", part / 10),
            (whole, part) => write!(f, "{sign}{whole}.{part:02}"),
        }
    }
}

/// A share from 0 to 1, in ten-thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share(i64);

const SCALE: i64 = 10_000;

impl Share {
    pub(super) const WHOLE: Self = Self(SCALE);
    pub(super) const NOTHING: Self = Self(0);

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let text = match value {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text.clone(),
            _ => return None,
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let fraction: String = fraction.chars().chain("0000".chars()).take(4).collect();
        let share = whole.parse::<i64>().ok()?.checked_mul(SCALE)?.checked_add(fraction.parse().ok()?)?;
        Some(Self(share)).filter(|share| (0..=SCALE).contains(&share.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn amounts_are_exact() {
        for (text, printed) in
            [("85", "85"), ("85.50", "85.5"), (".05", "0.05"), ("-3.10", "-3.1"), ("0.00", "0"), ("7.", "7")]
        {
            assert_eq!(Cents::parse(text).unwrap().to_string(), printed, "{text}");
        }
        for bad in ["", ".", "-", "1.005", "1e5", "1,0", "9999999999999", "--1", "+1"] {
            assert_eq!(Cents::parse(bad), None, "{bad}");
        }
        assert_eq!(Cents::from_json(&json!(12.34)), Some(Cents(1234)));
    }

    #[test]
    fn shares_are_rounded_once() {
        let share = |value: Value| Share::from_json(&value);
        assert_eq!(Cents(8500).times(share(json!("0.8")).unwrap()), Cents(6800));
        assert_eq!(Cents(5).times(share(json!(0.5)).unwrap()), Cents(3));
        assert_eq!(Cents(8500).times(Share::WHOLE), Cents(8500));
        assert_eq!((share(json!("1.5")), share(json!(-1)), share(json!([]))), (None, None, None));
    }
}
