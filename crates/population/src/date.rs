//! Days of the proleptic Gregorian calendar, counted from 1970-01-01.

use std::fmt;

use clinical::{civil_date, days_since_epoch};
use serde::{Deserialize, Deserializer};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Date(i64);

impl Date {
    pub(crate) fn new(year: i64, month: i64, day: i64) -> Self {
        Self(days_since_epoch(year, month, day))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = |range| text.get(range).filter(|part: &&str| part.bytes().all(|byte| byte.is_ascii_digit()));
        let number = |range| digits(range).and_then(|part| part.parse::<i64>().ok());
        let is_shaped = text.len() == 10 && text.get(4..5) == Some("-") && text.get(7..8) == Some("-");
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let date = Self::new(year, month, day);
        (is_shaped && date.parts() == (year, month, day)).then_some(date)
    }

    /// The date as year, month and day.
    pub(crate) fn parts(self) -> (i64, i64, i64) {
        civil_date(self.0)
    }

    pub(crate) fn plus(self, days: i64) -> Self {
        Self(self.0 + days)
    }

    pub(crate) fn plus_months(self, months: i64) -> Self {
        self.plus(months * 30_437 / 1000)
    }

    pub(crate) fn plus_years(self, years: i64) -> Self {
        self.plus(years * 36_525 / 100)
    }

    pub(crate) fn since(self, earlier: Self) -> i64 {
        self.0 - earlier.0
    }

    /// Full years between two dates.
    pub(crate) fn years_since(self, earlier: Self) -> i64 {
        let ((year, month, day), (born, born_month, born_day)) = (self.parts(), earlier.parts());
        year - born - i64::from((month, day) < (born_month, born_day))
    }

    pub(crate) fn months_since(self, earlier: Self) -> i64 {
        self.since(earlier) * 1000 / 30_437
    }

    /// This day, or the next Monday if it is on a weekend.
    pub(crate) fn workday(self) -> Self {
        match (self.0 + 3).rem_euclid(7) {
            5 => self.plus(2),
            6 => self.plus(1),
            _ => self,
        }
    }

    /// A time of the day in US Central time. Simplifies daylight saving time to April to October.
    pub(crate) fn at(self, minute: i64) -> String {
        let offset = if (4..=10).contains(&self.parts().1) { "-05:00" } else { "-06:00" };
        format!("{self}T{:02}:{:02}:00{offset}", minute / 60 % 24, minute % 60)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.parts();
        write!(formatter, "{year:04}-{month:02}-{day:02}")
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not a date as 2026-06-30")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_round_trip() {
        for text in ["1970-01-01", "2000-02-29", "1924-12-31", "2026-06-30"] {
            assert_eq!(Date::parse(text).unwrap().to_string(), text);
        }
        let hostile =
            ["9223372036854775807-01-01", "2026-9223372036854775807-1", "2026-+6-30", "+026-06-30", "2026-06é3"];
        for text in ["2026-02-30", "2026-13-01", "26-01-01", "2026-1-1", "x"].into_iter().chain(hostile) {
            assert_eq!(Date::parse(text), None, "{text}");
        }
        let date = Date::parse("2026-06-30").unwrap();
        assert_eq!(date.years_since(Date::parse("1960-07-01").unwrap()), 65);
        assert_eq!(date.plus(4).workday().to_string(), "2026-07-06");
        assert_eq!(date.at(545), "2026-06-30T09:05:00-05:00");
    }
}
