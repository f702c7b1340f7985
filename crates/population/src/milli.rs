//! Decimals as integer thousandths. Avoids floating point, so that the digits are the same everywhere.

use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Milli(pub(crate) i64);

impl Milli {
    fn parse(text: &str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let negative = whole.starts_with('-');
        let thousandths: i64 = format!("{part:0<3}").get(..3)?.parse().ok()?;
        let whole: i64 = whole.parse().ok()?;
        let size = whole.checked_abs()?.checked_mul(1000)?.checked_add(thousandths)?;
        Some(Self(if negative { -size } else { size }))
    }

    /// Rounds to a number of decimal places, with halves away from zero.
    pub(crate) fn rounded(self, digits: u32) -> Self {
        let step = 10_i64.pow(3_u32.saturating_sub(digits));
        let half = if self.0 < 0 { -step / 2 } else { step / 2 };
        Self((self.0 + half) / step * step)
    }

    pub(crate) fn text(self, digits: u32) -> String {
        let Self(value) = self.rounded(digits);
        let sign = if value < 0 { "-" } else { "" };
        let (whole, part) = (value.abs() / 1000, format!("{:03}", value.abs() % 1000));
        match digits {
            0 => format!("{sign}{whole}"),
            digits => format!("{sign}{whole}.{}", part.get(..digits as usize).unwrap_or(&part)),
        }
    }

    /// A JSON number with exactly these decimal places.
    pub(crate) fn number(self, digits: u32) -> Value {
        self.text(digits).parse::<Number>().map_or(Value::Null, Value::Number)
    }
}

impl<'de> Deserialize<'de> for Milli {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Number::deserialize(deserializer)?.to_string();
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not a decimal")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_digits() {
        for (text, digits, expected) in
            [("5.45", 1, "5.5"), ("-1.4", 1, "-1.4"), ("0.05", 2, "0.05"), ("137", 0, "137"), ("4", 1, "4.0")]
        {
            assert_eq!(Milli::parse(text).unwrap().text(digits), expected);
        }
        assert_eq!(Milli(4200).number(1).to_string(), "4.2");
        for text in ["-9223372036854775808", "9223372036854775807", "1e400", "1.5e3"] {
            assert_eq!(Milli::parse(text), None, "{text}");
        }
    }
}
