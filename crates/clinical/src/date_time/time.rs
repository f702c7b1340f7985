//! Times of day.

use std::cmp::Ordering;

use super::{PartialDateTime, Precision, UtcOffset};

/// A time of day of any precision: FHIR `time`, HL7 v2 TM, X12 TM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialTime(PartialDateTime);

impl PartialTime {
    /// The date that all times of day are stored with.
    pub(super) const DATE: &'static str = "2000-01-01";

    pub(super) fn of(date_time: PartialDateTime) -> Self {
        let [_, _, _, hour, minute, second] = date_time.fields;
        Self(PartialDateTime { fields: [2000, 1, 1, hour, minute, second], ..date_time })
    }

    pub(super) fn on_fixed_date(&self) -> &PartialDateTime {
        &self.0
    }

    pub fn precision(&self) -> Precision {
        self.0.precision
    }

    pub fn offset(&self) -> Option<UtcOffset> {
        self.0.offset
    }

    /// Which is earlier; `None` if the precisions leave that open.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        self.0.compare(&other.0)
    }

    /// Adds a duration; after midnight the time continues at 00:00.
    pub fn plus(&self, seconds: i64, nanoseconds: i64) -> Option<Self> {
        self.0.plus(seconds % (24 * 3_600), nanoseconds).map(Self::of)
    }
}
