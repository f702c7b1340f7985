//! A criterion's weight: an exact decimal above zero, so that scores can be added without rounding.

use std::str::FromStr;

use rust_decimal::Decimal;

/// A weight above 0, at most 1000000, with at most six decimal places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(Decimal);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be a number above 0 and at most 1000000, with at most 6 decimal places")]
pub struct InvalidWeight;

impl Weight {
    pub const ONE: Weight = Weight(Decimal::ONE);

    pub fn decimal(self) -> Decimal {
        self.0
    }
}

impl FromStr for Weight {
    type Err = InvalidWeight;

    fn from_str(text: &str) -> Result<Self, InvalidWeight> {
        // Valid weights are short; do not parse a megabyte of digits.
        if text.len() > 40 {
            return Err(InvalidWeight);
        }
        let decimal =
            Decimal::from_str_exact(text).or_else(|_| Decimal::from_scientific(text)).map_err(|_| InvalidWeight)?;
        let decimal = decimal.normalize();
        let is_valid = decimal > Decimal::ZERO && decimal <= Decimal::from(1_000_000) && decimal.scale() <= 6;
        if is_valid { Ok(Self(decimal)) } else { Err(InvalidWeight) }
    }
}

impl std::fmt::Display for Weight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl serde::Serialize for Weight {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = serde_json::Number::from_str(&self.0.to_string()).map_err(serde::ser::Error::custom)?;
        number.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Weight {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        number.to_string().parse().map_err(serde::de::Error::custom)
    }
}

impl utoipa::PartialSchema for Weight {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::Number)
            .exclusive_minimum(Some(0.0))
            .maximum(Some(1_000_000.0))
            .multiple_of(Some(0.000_001))
            .into()
    }
}
impl utoipa::ToSchema for Weight {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_exact_and_positive() {
        for (text, expected) in
            [("1", "1"), ("0.30", "0.3"), ("1e3", "1000"), ("1000000", "1000000"), ("0.000001", "0.000001")]
        {
            assert_eq!(serde_json::to_string(&text.parse::<Weight>().unwrap()).unwrap(), expected);
        }
        for bad in ["0", "-1", "1000000.1", "0.0000001", "1e400", "NaN", "", &"9".repeat(100_000)] {
            assert!(bad.parse::<Weight>().is_err(), "{bad}");
        }
    }
}
