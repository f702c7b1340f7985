//! Dates and times with the precision in which they are written.

mod arithmetic;
mod compare;
mod fhir;
mod fields;
mod hl7v2;
mod interval;
mod offset;
mod time;
mod x12;

pub use interval::TimeInterval;
pub use offset::UtcOffset;
pub use time::PartialTime;

use crate::calendar::{civil_date, days_since_epoch};

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The smallest unit that a date or time contains. Fractions belong to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    Year = 1,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

impl Precision {
    const ALL: [Self; 6] = [Self::Year, Self::Month, Self::Day, Self::Hour, Self::Minute, Self::Second];
}

/// A date, or a date with a time, of any precision: FHIR `date`, `dateTime` and `instant`, HL7 v2 DTM, X12 D8. Years are
/// 1 to 9999. Values are equal if they are written equally, except for the notation; [`Self::compare`] compares times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialDateTime {
    precision: Precision,
    /// Year, month, day, hour, minute, second; the first valid value of a unit that is not written.
    fields: [u16; 6],
    nanoseconds: u32,
    /// Number of digits of the fraction, at most 9.
    fraction_digits: u8,
    offset: Option<UtcOffset>,
}

impl PartialDateTime {
    pub fn precision(&self) -> Precision {
        self.precision
    }

    pub fn offset(&self) -> Option<UtcOffset> {
        self.offset
    }

    pub fn has_time(&self) -> bool {
        self.precision >= Precision::Hour
    }

    /// The date without the time and the offset.
    #[must_use]
    pub fn date(&self) -> Self {
        let [year, month, day, ..] = self.fields;
        Self {
            precision: self.precision.min(Precision::Day),
            fields: [year, month, day, 0, 0, 0],
            nanoseconds: 0,
            fraction_digits: 0,
            offset: None,
        }
    }

    /// The time of day without the date and the offset; `None` for a date.
    pub fn time(&self) -> Option<PartialTime> {
        self.has_time().then(|| PartialTime::of(Self { offset: None, ..*self }))
    }

    /// A time in UTC, to the millisecond; `None` outside of the years 1 to 9999.
    pub fn from_unix_milliseconds(milliseconds: i64) -> Option<Self> {
        let of_day = milliseconds.rem_euclid(DAY);
        Some(Self {
            precision: Precision::Second,
            fields: fields_of(milliseconds.div_euclid(DAY), of_day / SECOND)?,
            nanoseconds: u32::try_from(of_day % SECOND).ok()? * 1_000_000,
            fraction_digits: 3,
            offset: Some(UtcOffset::UTC),
        })
    }

    /// Seconds since 1970-01-01 on the writer's clock.
    fn local_seconds(&self) -> i64 {
        let [year, month, day, hour, minute, second] = self.fields.map(i64::from);
        (days_since_epoch(year, month, day) * DAY + hour * HOUR + minute * MINUTE + second * SECOND) / SECOND
    }
}

/// Fields of a day since 1970-01-01 and a second of that day; `None` outside of the years 1 to 9999.
fn fields_of(days: i64, second_of_day: i64) -> Option<[u16; 6]> {
    let (year, month, day) = civil_date(days);
    if !(1..=9999).contains(&year) {
        return None;
    }
    let [year, month, day, hour, minute, second] =
        [year, month, day, second_of_day / 3_600, second_of_day / 60 % 60, second_of_day % 60].map(u16::try_from);
    Some([year.ok()?, month.ok()?, day.ok()?, hour.ok()?, minute.ok()?, second.ok()?])
}

#[cfg(test)]
mod tests;
