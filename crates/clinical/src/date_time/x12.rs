//! The notation of X12 (data types DT and TM; formats D8 and RD8 of data element 1250).

use super::fields::FieldTexts;
use super::{PartialDateTime, PartialTime, Precision};

const LAST_SECOND: u16 = 59;

impl PartialDateTime {
    /// Parses D8: `CCYYMMDD`.
    pub fn parse_x12_date(text: &str) -> Option<Self> {
        let mut fields = FieldTexts::default();
        fields.push_compact(text)?;
        fields.read(None, LAST_SECOND, None).filter(|date| date.precision == Precision::Day)
    }

    /// Parses RD8: `CCYYMMDD-CCYYMMDD`, where the first day is not after the last.
    pub fn parse_x12_date_range(text: &str) -> Option<(Self, Self)> {
        let (first, last) = text.split_once('-')?;
        let (first, last) = (Self::parse_x12_date(first)?, Self::parse_x12_date(last)?);
        (first.fields <= last.fields).then_some((first, last))
    }

    /// The day as `CCYYMMDD`; `None` if the date contains no day.
    pub fn to_x12_date(&self) -> Option<String> {
        let [year, month, day, ..] = self.fields;
        (self.precision >= Precision::Day).then(|| format!("{year:04}{month:02}{day:02}"))
    }

    /// The time of day as `HHMM`; `None` if the time contains no minutes.
    pub fn to_x12_time(&self) -> Option<String> {
        let [.., hour, minute, _] = self.fields;
        (self.precision >= Precision::Minute).then(|| format!("{hour:02}{minute:02}"))
    }
}

impl PartialTime {
    /// Parses TM: `HHMM`, `HHMMSS`, `HHMMSSD` or `HHMMSSDD`, where `DD` are hundredths of a second.
    pub fn parse_x12(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_at_checked(6).filter(|(_, rest)| !rest.is_empty()).unwrap_or((text, ""));
        if !matches!(text.len(), 4 | 6 | 7 | 8) {
            return None;
        }
        let mut fields = FieldTexts::default();
        fields.push_separated(Self::DATE, '-', 3)?;
        fields.push_compact(whole)?;
        fields.read(Some(fraction).filter(|digits| !digits.is_empty()), LAST_SECOND, None).map(Self::of)
    }
}
