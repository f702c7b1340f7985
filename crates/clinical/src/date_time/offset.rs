//! The offset of a local time from UTC.

use std::fmt;

use super::fields::number;

/// Minutes east of UTC, at most 14 hours either way. FHIR states that limit
/// (<https://hl7.org/fhir/R4/datatypes.html#dateTime>); HL7 v2 restricts offsets to legally defined time zones
/// (chapter 2A, DTM and TM), which end at +14:00.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UtcOffset(i16);

impl UtcOffset {
    pub const UTC: Self = Self(0);
    const MOST_MINUTES: i16 = 14 * 60;

    pub fn minutes(self) -> i16 {
        self.0
    }

    pub(super) fn seconds(self) -> i64 {
        i64::from(self.0) * 60
    }

    /// `Z`, `+02:00` or `-05:30`.
    pub(super) fn parse_extended(text: &str) -> Option<Self> {
        if text == "Z" {
            return Some(Self::UTC);
        }
        let (hours, minutes) = text.get(1..)?.split_once(':')?;
        Self::signed(text, hours, minutes)
    }

    /// `+0200` or `-0530`.
    pub(super) fn parse_compact(text: &str) -> Option<Self> {
        let (hours, minutes) = text.get(1..)?.split_at_checked(2)?;
        Self::signed(text, hours, minutes)
    }

    fn signed(text: &str, hours: &str, minutes: &str) -> Option<Self> {
        let (hours, minutes) = (number(hours, 2)?, number(minutes, 2).filter(|minutes| *minutes < 60)?);
        let offset = i16::try_from(hours * 60 + minutes).ok().filter(|offset| *offset <= Self::MOST_MINUTES)?;
        match text.as_bytes().first()? {
            b'+' => Some(Self(offset)),
            b'-' => Some(Self(-offset)),
            _ => None,
        }
    }
}

/// `Z`, `+02:00` or `-05:30`.
impl fmt::Display for UtcOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("Z");
        }
        let sign = if self.0 < 0 { '-' } else { '+' };
        write!(f, "{sign}{:02}:{:02}", self.0.abs() / 60, self.0.abs() % 60)
    }
}
