//! Adding durations (<https://hl7.org/fhirpath/N1/#datetime-arithmetic>).

use super::{PartialDateTime, Precision, UtcOffset, fields_of};
use crate::calendar::month_length;

const DAY_SECONDS: i64 = 86_400;
const NANOSECONDS: i64 = 1_000_000_000;

impl PartialDateTime {
    /// Adds months; a day that the month does not have becomes its last day. Less than a year is dropped from a value that
    /// is precise to the year.
    pub fn plus_months(&self, months: i64) -> Option<Self> {
        let months = if self.precision == Precision::Year { months / 12 * 12 } else { months };
        let [year, month, day, rest @ ..] = self.fields;
        let total = (i64::from(year) * 12 + i64::from(month) - 1).checked_add(months)?;
        let year = u16::try_from(total.div_euclid(12)).ok().filter(|year| (1..=9999).contains(year))?;
        let month = u16::try_from(total.rem_euclid(12)).ok()? + 1;
        let [hour, minute, second] = rest;
        Some(Self { fields: [year, month, day.min(month_length(year, month)), hour, minute, second], ..*self })
    }

    /// Adds a duration. What is finer than the precision of the value is dropped, so that it stays as precise as it is: a
    /// month counts 30 days, a year 365.
    pub fn plus(&self, seconds: i64, nanoseconds: i64) -> Option<Self> {
        let total = i128::from(seconds) * i128::from(NANOSECONDS) + i128::from(nanoseconds);
        let seconds = i64::try_from(total / i128::from(NANOSECONDS)).ok()?;
        let whole = |unit: i64| seconds / unit * unit;
        match self.precision {
            Precision::Year => self.plus_months(seconds / (365 * DAY_SECONDS) * 12),
            Precision::Month => self.plus_months(seconds / (30 * DAY_SECONDS)),
            Precision::Day => self.shifted(whole(DAY_SECONDS), 0),
            Precision::Hour => self.shifted(whole(3_600), 0),
            Precision::Minute => self.shifted(whole(60), 0),
            Precision::Second => self.shifted(seconds, i64::try_from(total % i128::from(NANOSECONDS)).ok()?),
        }
    }

    /// The same time in UTC. A missing offset is UTC.
    pub(super) fn in_utc(&self) -> Option<Self> {
        let seconds = self.offset.map_or(0, UtcOffset::seconds);
        let shifted = if seconds == 0 { *self } else { self.shifted(-seconds, 0)? };
        Some(Self { offset: Some(UtcOffset::UTC), ..shifted })
    }

    fn shifted(&self, seconds: i64, nanoseconds: i64) -> Option<Self> {
        let fraction = i64::from(self.nanoseconds) + nanoseconds;
        let carried = fraction.div_euclid(NANOSECONDS);
        let total = self.local_seconds().checked_add(seconds)?.checked_add(carried)?;
        let nanoseconds = u32::try_from(fraction.rem_euclid(NANOSECONDS)).ok()?;
        let fields = fields_of(total.div_euclid(DAY_SECONDS), total.rem_euclid(DAY_SECONDS))?;
        let fraction_digits = self.fraction_digits.max(if nanoseconds == 0 { 0 } else { 3 });
        Some(Self { fields, nanoseconds, fraction_digits, ..*self })
    }
}
