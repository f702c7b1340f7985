//! Three-valued comparison (<https://hl7.org/fhirpath/N1/#comparison>).

use std::cmp::Ordering;

use super::PartialDateTime;

/// Two places on earth differ by no more: from -12:00 to +14:00.
const WIDEST_DIFFERENCE_SECONDS: i64 = 26 * 3_600;

impl PartialDateTime {
    /// Which is earlier; `None` if different precisions or a missing offset leave that open.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        if !(self.has_time() && other.has_time()) {
            return self.compare_fields(other);
        }
        match (self.offset, other.offset) {
            (Some(_), Some(_)) => self.in_utc()?.compare_fields(&other.in_utc()?),
            (None, None) => self.compare_fields(other),
            _ => {
                let difference = self.local_seconds() - other.local_seconds();
                (difference.abs() > WIDEST_DIFFERENCE_SECONDS).then_some(difference.cmp(&0))
            }
        }
    }

    fn compare_fields(&self, other: &Self) -> Option<Ordering> {
        let common = self.precision.min(other.precision) as usize;
        let by_fields = self.fields[..common].cmp(&other.fields[..common]);
        if by_fields != Ordering::Equal {
            return Some(by_fields);
        }
        (self.precision == other.precision).then_some(self.nanoseconds.cmp(&other.nanoseconds))
    }
}
