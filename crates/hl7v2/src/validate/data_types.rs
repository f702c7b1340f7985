//! The data types with a checkable format (HL7 v2.8, chapter 2A): numbers, dates, times.

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
            Self::Timestamp | Self::TimeRange => is_timestamp(value),
            Self::Date => is_date(value),
            Self::Time => is_time(value),
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

fn is_timestamp(value: &str) -> bool {
    let (local, zone) = split_zone(value);
    if !local.is_ascii() {
        return false;
    }
    let (date, time) = local.split_at(local.len().min(8));
    is_date(date) && is_zone(zone) && (time.is_empty() || is_local_time(time))
}

fn is_time(value: &str) -> bool {
    let (local, zone) = split_zone(value);
    is_local_time(local) && is_zone(zone)
}

fn split_zone(value: &str) -> (&str, &str) {
    value.split_at(value.find(['+', '-']).unwrap_or(value.len()))
}

/// Whether a time zone is `+HHMM`, `-HHMM` or empty.
fn is_zone(zone: &str) -> bool {
    zone.is_empty() || (zone.len() == 5 && is_below(&zone[1..], 0..2, 24) && is_below(&zone[1..], 2..4, 60))
}

fn is_date(date: &str) -> bool {
    if !matches!(date.len(), 4 | 6 | 8) || !is_digits(date) {
        return false;
    }
    let number = |range: std::ops::Range<usize>| date.get(range).and_then(|digits| digits.parse::<u32>().ok());
    let (year, month, day) = (number(0..4).unwrap_or(0), number(4..6).unwrap_or(1), number(6..8).unwrap_or(1));
    let is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Whether a time has the format `HH[MM[SS[.S[S[S[S]]]]]]`.
fn is_local_time(time: &str) -> bool {
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_fraction = (1..=4).contains(&fraction.len()) && is_digits(fraction);
    let has_fraction = whole.len() < time.len();
    let in_range = is_below(whole, 0..2, 24)
        && (whole.len() < 4 || is_below(whole, 2..4, 60))
        && (whole.len() < 6 || is_below(whole, 4..6, 60));
    is_digits(whole)
        && matches!(whole.len(), 2 | 4 | 6)
        && in_range
        && is_fraction
        && (!has_fraction || whole.len() == 6)
}

fn is_below(text: &str, range: std::ops::Range<usize>, limit: u32) -> bool {
    let digits = text.get(range).filter(|digits| is_digits(digits));
    digits.and_then(|digits| digits.parse::<u32>().ok()).is_some_and(|number| number < limit)
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
            &[
                "2026",
                "202603",
                "20260301",
                "2026030109",
                "202603010930",
                "20260301093015",
                "20260301093015.1234",
                "20260301093015.12+0100",
                "20240229",
                "20260301-0500",
                "20260301  ",
            ],
            &[
                "",
                "26",
                "20261",
                "20261301",
                "20260230",
                "2026-03-01",
                "20260301T09",
                "2026030124",
                "202603010960",
                "20260301093015.",
                "20260301093015.12345",
                "2026030109.5",
                "20260301+01",
                "20260301+2500",
                "20260301+é00",
                "March",
                "2026é301",
                "+0100",
            ],
        );
        check(DataType::Date, &["2026", "20260301"], &["", "2026030109", "20260001"]);
        check(DataType::Time, &["09", "0930", "093015", "093015.1+0100"], &["", "9", "24", "0960", "09:30"]);
        check(DataType::Numeric, &["1", "-1.5", "+0", ".5", "5.", "007"], &["", ".", "-", "1,5", "1e3", "<5", "1 2"]);
        check(DataType::Sequence, &["1", "0", "12"], &["", "-1", "1.0", "a"]);
    }
}
