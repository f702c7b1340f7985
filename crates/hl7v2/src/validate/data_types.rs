//! The data types with a checkable format (HL7 v2.8, chapter 2A): numbers, dates, times.

use clinical::{PartialDateTime, PartialTime};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataType {
    /// TS and DTM: `YYYY[MM[DD[HH[MM[SS[.S[S[S[S]]]]]]]]][+/-ZZZZ]`.
    Timestamp,
    /// DR: one or two timestamps.
    TimeRange,
    Date,
    Time,
    Numeric,
    /// SI: a sequence number.
    Sequence,
}

impl DataType {
    /// The data type with this HL7 name, as used in OBX-2 and in the field table.
    pub(crate) fn read(name: &str) -> Option<Self> {
        match name {
            "TS" | "DTM" => Some(Self::Timestamp),
            "DR" => Some(Self::TimeRange),
            "DT" => Some(Self::Date),
            "TM" => Some(Self::Time),
            "NM" => Some(Self::Numeric),
            "SI" => Some(Self::Sequence),
            _ => None,
        }
    }

    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Timestamp | Self::TimeRange => "a time as YYYYMMDDHHMMSS",
            Self::Date => "a date as YYYYMMDD",
            Self::Time => "a time of day as HHMMSS",
            Self::Numeric => "a number",
            Self::Sequence => "a whole number",
        }
    }

    /// The number of components with this format.
    pub(crate) fn components(self) -> usize {
        if self == Self::TimeRange { 2 } else { 1 }
    }

    /// Whether a value has this format. Trailing spaces are ignored, because early versions allow them in any value.
    pub(crate) fn accepts(self, value: &str) -> bool {
        let value = value.trim_end_matches(' ');
        match self {
            Self::Timestamp | Self::TimeRange => PartialDateTime::parse_hl7v2(value).is_some(),
            Self::Date => PartialDateTime::parse_hl7v2(value).is_some_and(|date| date.is_hl7v2_date()),
            Self::Time => PartialTime::parse_hl7v2(value).is_some(),
            Self::Numeric => is_numeric(value),
            Self::Sequence => !value.is_empty() && is_digits(value),
        }
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_numeric(value: &str) -> bool {
    let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    is_digits(whole) && is_digits(fraction) && !(whole.is_empty() && fraction.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(data_type: DataType, valid: &[&str], invalid: &[&str]) {
        for value in valid {
            assert!(data_type.accepts(value), "{value} is {data_type:?}");
        }
        for value in invalid {
            assert!(!data_type.accepts(value), "{value} is not {data_type:?}");
        }
    }

    #[test]
    fn formats_are_checked() {
        check(
            DataType::Timestamp,
            &["2026", "20260301", "20260301093015.12+0100", "20260301-0500", "20260301  "],
            &["", "20261301", "2026-03-01", "20260301093015.12345", "20260301+2500", "20260301093015+1430", "March"],
        );
        check(DataType::Date, &["2026", "20260301"], &["", "2026030109", "20260001"]);
        check(DataType::Time, &["09", "0930", "093015", "093015.1+0100"], &["", "9", "24", "0960", "09:30"]);
        check(DataType::Numeric, &["1", "-1.5", "+0", ".5", "5.", "007"], &["", ".", "-", "1,5", "1e3", "<5", "1 2"]);
        check(DataType::Sequence, &["1", "0", "12"], &["", "-1", "1.0", "a"]);
    }
}
