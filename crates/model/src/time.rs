//! Timestamps: milliseconds since the Unix epoch, written as RFC 3339 in UTC with milliseconds.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    pub fn milliseconds(self) -> i64 {
        self.0
    }

    pub fn plus_milliseconds(self, milliseconds: i64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `to_string` panics on an error, so values outside of jiff's range print as its end. Nanoseconds, because jiff
        // rejects the last second of its range in milliseconds.
        let end = if self.0 < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        let instant = jiff::Timestamp::from_nanosecond(i128::from(self.0) * 1_000_000).unwrap_or(end);
        write!(f, "{instant:.3}")
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
        let instant: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
        Ok(Self(instant.as_millisecond()))
    }
}

impl utoipa::PartialSchema for Timestamp {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        use utoipa::openapi::schema::{KnownFormat, SchemaFormat, Type};
        utoipa::openapi::ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .examples([serde_json::json!("2026-04-23T12:00:00.000Z")])
            .into()
    }
}
impl utoipa::ToSchema for Timestamp {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_have_three_digits() {
        assert_eq!(Timestamp(1_776_945_600_000).to_string(), "2026-04-23T12:00:00.000Z");
        assert_eq!(Timestamp(1_776_945_600_070).to_string(), "2026-04-23T12:00:00.070Z");
        let parsed: Timestamp = serde_json::from_str("\"2026-04-23T12:00:00.070Z\"").unwrap();
        assert_eq!(parsed, Timestamp(1_776_945_600_070));
    }

    #[test]
    fn every_timestamp_prints() {
        let end = "9999-12-30T22:00:00.999Z";
        assert_eq!(Timestamp(i64::MAX).to_string(), end);
        assert_eq!(Timestamp(i64::MIN).to_string(), "-009999-01-02T01:59:59.000Z");
        for text in [end, "9999-12-30T22:00:00.920Z", "-009999-01-02T01:59:59.000Z"] {
            let timestamp: Timestamp = serde_json::from_value(text.into()).unwrap();
            assert_eq!(timestamp.to_string(), text);
        }
    }
}
