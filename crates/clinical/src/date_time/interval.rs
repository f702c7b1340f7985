//! The time that a value covers: `2024-02` is all of February.

use super::{DAY, HOUR, MINUTE, PartialDateTime, Precision, SECOND, UtcOffset};
use crate::calendar::{days_since_epoch, month_length};

/// The first and the last millisecond since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeInterval {
    pub first: i64,
    pub last: i64,
}

impl PartialDateTime {
    /// The interval in UTC. A missing offset is UTC.
    pub fn utc_interval(&self) -> TimeInterval {
        let offset = self.offset.map_or(0, UtcOffset::seconds) * SECOND;
        let TimeInterval { first, last } = self.local_interval();
        TimeInterval { first: first - offset, last: last - offset }
    }

    /// The interval on the clock of the writer, as if that were UTC.
    pub fn local_interval(&self) -> TimeInterval {
        let first = self.local_seconds() * SECOND;
        let length = match self.precision {
            Precision::Year => {
                let year = i64::from(self.fields[0]);
                (days_since_epoch(year + 1, 1, 1) - days_since_epoch(year, 1, 1)) * DAY
            }
            Precision::Month => i64::from(month_length(self.fields[0], self.fields[1])) * DAY,
            Precision::Day => DAY,
            Precision::Hour => HOUR,
            Precision::Minute => MINUTE,
            Precision::Second => [SECOND, 100, 10, 1][usize::from(self.fraction_digits.min(3))],
        };
        let first = first + i64::from(self.nanoseconds / 1_000_000);
        TimeInterval { first, last: first + length - 1 }
    }

    /// Whether all of this value lies within the other. A value without an offset lies within none that has one.
    pub fn is_within(&self, other: &Self) -> bool {
        if other.offset.is_some() && self.offset.is_none() {
            return false;
        }
        let (this, other) = self.on_one_clock(other);
        other.first <= this.first && this.last <= other.last
    }

    pub fn starts_after(&self, other: &Self) -> bool {
        let (this, other) = self.on_one_clock(other);
        this.first > other.last
    }

    pub fn ends_before(&self, other: &Self) -> bool {
        let (this, other) = self.on_one_clock(other);
        this.last < other.first
    }

    pub fn starts_with_or_after(&self, other: &Self) -> bool {
        let (this, other) = self.on_one_clock(other);
        this.first >= other.first
    }

    pub fn ends_with_or_before(&self, other: &Self) -> bool {
        let (this, other) = self.on_one_clock(other);
        this.last <= other.last
    }

    /// Intervals in UTC if both have an offset, else each on its writer's clock.
    fn on_one_clock(&self, other: &Self) -> (TimeInterval, TimeInterval) {
        match (self.offset, other.offset) {
            (Some(_), Some(_)) => (self.utc_interval(), other.utc_interval()),
            _ => (self.local_interval(), other.local_interval()),
        }
    }
}
