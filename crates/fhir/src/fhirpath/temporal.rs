//! The System types Date, DateTime and Time (<https://hl7.org/fhirpath/N1/#date>, `#datetime-arithmetic`, `#comparison`).

use std::cmp::Ordering;
use std::fmt;

use clinical::{PartialDateTime, PartialTime, Precision};

use super::quantity::CalendarUnit;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemporalType {
    Date,
    DateTime,
    Time,
}

/// A value of one of the three types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temporal {
    /// Without a time.
    Date(PartialDateTime),
    DateTime(PartialDateTime),
    Time(PartialTime),
}

impl Temporal {
    /// Parses the text after the `@` of a literal, where `T` marks a DateTime or, at the start, a Time.
    pub(super) fn parse_literal(text: &str) -> Option<Self> {
        match text.find('T') {
            Some(0) => Self::parse(TemporalType::Time, &text[1..]),
            Some(_) => Self::parse(TemporalType::DateTime, text),
            None => Self::parse(TemporalType::Date, text),
        }
    }

    /// Parses a value as FHIR writes it. A DateTime may end with a `T` that no time follows.
    pub fn parse(temporal_type: TemporalType, text: &str) -> Option<Self> {
        match temporal_type {
            TemporalType::Date => {
                PartialDateTime::parse_fhirpath(text).filter(PartialDateTime::is_fhir_date).map(Self::Date)
            }
            TemporalType::DateTime => {
                let date = text.strip_suffix('T').filter(|date| !date.contains('T'));
                PartialDateTime::parse_fhirpath(date.unwrap_or(text)).map(Self::DateTime)
            }
            TemporalType::Time => PartialTime::parse_fhirpath(text).map(Self::Time),
        }
    }

    pub fn temporal_type(&self) -> TemporalType {
        match self {
            Self::Date(_) => TemporalType::Date,
            Self::DateTime(_) => TemporalType::DateTime,
            Self::Time(_) => TemporalType::Time,
        }
    }

    fn precision(&self) -> Precision {
        match self {
            Self::Date(date) | Self::DateTime(date) => date.precision(),
            Self::Time(time) => time.precision(),
        }
    }

    /// The date as the start of a DateTime of the same precision.
    pub(super) fn to_date_time(self) -> Option<Self> {
        match self {
            Self::Date(date) | Self::DateTime(date) => Some(Self::DateTime(date)),
            Self::Time(_) => None,
        }
    }

    pub(super) fn to_date(self) -> Option<Self> {
        match self {
            Self::Date(date) | Self::DateTime(date) => Some(Self::Date(date.date())),
            Self::Time(_) => None,
        }
    }

    /// Whether both are dates, or both are times of day.
    pub(super) fn is_comparable(&self, other: &Self) -> bool {
        matches!(self, Self::Time(_)) == matches!(other, Self::Time(_))
    }

    /// Which is earlier; `None` if different precisions or a missing offset leave that open.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Time(left), Self::Time(right)) => left.compare(right),
            (Self::Date(left) | Self::DateTime(left), Self::Date(right) | Self::DateTime(right)) => left.compare(right),
            _ => None,
        }
    }

    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        self.precision() == other.precision() && self.compare(other) == Some(Ordering::Equal)
    }

    /// Adds calendar time. A Time has no units longer than an hour.
    pub(super) fn plus(self, amount: i64, unit: CalendarUnit) -> Option<Self> {
        let months = match unit {
            CalendarUnit::Year => Some(amount.checked_mul(12)?),
            CalendarUnit::Month => Some(amount),
            _ => None,
        };
        let (seconds, nanoseconds) = match unit {
            CalendarUnit::Millisecond => (amount / 1_000, amount % 1_000 * 1_000_000),
            unit => (amount.checked_mul(unit.seconds().unwrap_or(0))?, 0),
        };
        let sum = |date: PartialDateTime| match months {
            Some(months) => date.plus_months(months),
            None => date.plus(seconds, nanoseconds),
        };
        match self {
            Self::Date(date) => sum(date).map(Self::Date),
            Self::DateTime(date) => sum(date).map(Self::DateTime),
            Self::Time(_) if unit.is_longer_than_hour() => None,
            Self::Time(time) => time.plus(seconds, nanoseconds).map(Self::Time),
        }
    }

    /// Writes the value as a literal.
    pub(super) fn literal(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(f, "@T{time}"),
            Self::DateTime(date) if !date.has_time() => write!(f, "@{date}T"),
            Self::Date(date) | Self::DateTime(date) => write!(f, "@{date}"),
        }
    }
}

impl fmt::Display for Temporal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Date(date) | Self::DateTime(date) => date.fmt(f),
            Self::Time(time) => time.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(text: &str) -> Temporal {
        Temporal::parse_literal(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn a_literal_has_the_type_that_its_t_marks() {
        for (text, expected) in [
            ("2024", TemporalType::Date),
            ("2024-02-29", TemporalType::Date),
            ("2024T", TemporalType::DateTime),
            ("2024-02-29T10", TemporalType::DateTime),
            ("2024-02-29T10:00:00.5+14:00", TemporalType::DateTime),
            ("T10", TemporalType::Time),
        ] {
            assert_eq!(literal(text).temporal_type(), expected, "{text}");
        }
        for text in ["", "T", "TT", "2024TT", "2024-02-29T10T", "2023-02-29", "T10Z", "2024-02-29T10:00:00+14:30"] {
            assert_eq!(Temporal::parse_literal(text), None, "{text}");
        }
        assert_eq!(Temporal::parse(TemporalType::Date, "2024-01-01T"), None);
    }

    #[test]
    fn dates_and_times_of_day_are_not_compared() {
        assert!(literal("2024").is_comparable(&literal("2024T")) && !literal("2024").is_comparable(&literal("T10")));
        assert_eq!(literal("2024T").compare(&literal("2024")), Some(Ordering::Equal));
        assert!(
            literal("2024T").is_equivalent(&literal("2024")) && !literal("2024").is_equivalent(&literal("2024-01"))
        );
        assert_eq!(literal("T10:30").compare(&literal("T10:30:00")), None);
    }

    #[test]
    fn calendar_time_is_added() {
        for (start, amount, unit, expected) in [
            ("2024-01-31", 1, CalendarUnit::Month, "2024-02-29"),
            ("2024-02-29", 1, CalendarUnit::Year, "2025-02-28"),
            ("2024-03-01", -1, CalendarUnit::Day, "2024-02-29"),
            ("2023-12-31T23:59:59Z", 1, CalendarUnit::Second, "2024-01-01T00:00:00Z"),
            ("2024-01-01T00:00:00.000Z", -1, CalendarUnit::Millisecond, "2023-12-31T23:59:59.999Z"),
            ("2024", 24, CalendarUnit::Month, "2026"),
            ("2024", 11, CalendarUnit::Month, "2024"),
            ("2016", 365, CalendarUnit::Day, "2017"),
            ("T23:30", 60, CalendarUnit::Minute, "00:30"),
        ] {
            assert_eq!(literal(start).plus(amount, unit).unwrap().to_string(), expected, "{start}");
        }
        assert_eq!(literal("9999-12-31").plus(1, CalendarUnit::Day), None);
        assert_eq!(literal("2024").plus(i64::MAX, CalendarUnit::Year), None);
        assert_eq!(literal("T10").plus(1, CalendarUnit::Day), None);
    }
}
