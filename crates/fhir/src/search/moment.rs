//! The time that a date stands for (<https://hl7.org/fhir/R4/search.html#date>): `2024-02` is all of February.
//! What names no zone is read as UTC.

use crate::calendar::days;

use super::Span;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Reads `2024`, `2024-02`, `2024-02-29`, and these with a time to the minute, the second or a fraction of it, with or
/// without a zone.
pub fn span(text: &str) -> Option<Span> {
    if !text.is_ascii() {
        return None;
    }
    match text.split_once('T') {
        None => date(text),
        Some((day, rest)) if day.len() == 10 => {
            let (time, zone) = rest.split_at(rest.find(['Z', '+', '-', ' ']).unwrap_or(rest.len()));
            let (offset, length) = time_of_day(time)?;
            let first = date(day)?.first + offset - zone_offset(zone)?;
            Some(Span { first, last: first + length - 1 })
        }
        Some(_) => None,
    }
}

fn date(text: &str) -> Option<Span> {
    let year = i64::from(number(text.get(..4)?, 1..=9999)?);
    let (first, next) = match text.len() {
        4 => (days(year, 1, 1), days(year + 1, 1, 1)),
        7 | 10 => {
            let month = i64::from(number(text.get(4..7)?.strip_prefix('-')?, 1..=12)?);
            let next = if month == 12 { days(year + 1, 1, 1) } else { days(year, month + 1, 1) };
            match text.get(7..).filter(|day| !day.is_empty()) {
                None => (days(year, month, 1), next),
                Some(day) => {
                    let first = days(year, month, i64::from(number(day.strip_prefix('-')?, 1..=31)?));
                    (first, (first < next).then_some(first + 1)?)
                }
            }
        }
        _ => return None,
    };
    Some(Span { first: first * DAY, last: next * DAY - 1 })
}

/// Milliseconds since midnight, and how many of them the text covers.
fn time_of_day(text: &str) -> Option<(i64, i64)> {
    let part = |range: std::ops::Range<usize>, most: u32| Some(i64::from(number(text.get(range)?, 0..=most)?));
    let is_parted = text.bytes().skip(2).step_by(3).take(2).all(|byte| byte == b':');
    let minutes = part(0..2, 23)? * HOUR + part(3..5, 59)? * MINUTE;
    match text.len() {
        5 => is_parted.then_some((minutes, MINUTE)),
        8 => is_parted.then_some((minutes + part(6..8, 60)? * 1_000, 1_000)),
        10.. => {
            let digits = text.get(8..)?.strip_prefix('.').filter(|_| is_parted)?;
            let (fraction, length) = milliseconds(digits)?;
            Some((minutes + part(6..8, 60)? * 1_000 + fraction, length))
        }
        _ => None,
    }
}

/// Of a fraction of a second; what is finer is cut off.
fn milliseconds(digits: &str) -> Option<(i64, i64)> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let kept = digits.get(..digits.len().min(3)).filter(|_| is_number)?;
    let length = [1_000, 100, 10, 1][kept.len()];
    Some((kept.parse::<i64>().ok()? * length, length))
}

/// A space is a `+` that was not escaped in an address.
fn zone_offset(text: &str) -> Option<i64> {
    if matches!(text, "" | "Z") {
        return Some(0);
    }
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let offset = i64::from(number(hours, 0..=14)?) * HOUR + i64::from(number(minutes, 0..=59)?) * MINUTE;
    Some(if text.starts_with('-') { -offset } else { offset })
}

fn number(text: &str, allowed: std::ops::RangeInclusive<u32>) -> Option<u32> {
    let is_number = matches!(text.len(), 2 | 4) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && allowed.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_covers_all_that_it_does_not_say() {
        for (text, first, last) in [
            ("1970", 0, 365 * DAY - 1),
            ("1970-01", 0, 31 * DAY - 1),
            ("1970-01-02", DAY, 2 * DAY - 1),
            ("2024-02-29", 1_709_164_800_000, 1_709_251_199_999),
            ("2024-02", 1_706_745_600_000, 1_709_251_199_999),
            ("0001-01-01", -62_135_596_800_000, -62_135_510_400_001),
            ("9999-12-31", 253_402_214_400_000, 253_402_300_799_999),
            ("1970-01-01T01:00", HOUR, HOUR + MINUTE - 1),
            ("1970-01-01T01:00:00Z", HOUR, HOUR + 999),
            ("1970-01-01T01:00:00.5Z", HOUR + 500, HOUR + 599),
            ("1970-01-01T01:00:00.1234567Z", HOUR + 123, HOUR + 123),
            ("1970-01-01T01:00:00+01:00", 0, 999),
            ("1970-01-01T01:00:00 01:00", 0, 999),
            ("1970-01-01T00:00:00-05:30", 5 * HOUR + 30 * MINUTE, 5 * HOUR + 30 * MINUTE + 999),
        ] {
            assert_eq!(span(text), Some(Span { first, last }), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "x",
            "24",
            "0000",
            "2024-",
            "2024-13",
            "2024-1",
            "2023-02-29",
            "2024-01-32",
            "2024-01-00",
            "2024-01-01T",
            "2024-01-01T10",
            "2024-01-01T10:0",
            "2024-01-01T24:00",
            "2024-01-01T10:60",
            "2024-01-01T10:00:61",
            "2024-01-01T10:00:00.",
            "2024-01-01T10:00:00.x",
            "2024-01-01T10:00:00+1",
            "2024-01-01T10:00:00+15:00",
            "2024-01T10:00",
            "2024-01-01 10:00",
            "２０２４",
            "2024/01/01",
            "+024",
            "2024-01-01T10-00:00",
        ] {
            assert_eq!(span(text), None, "{text}");
        }
    }

    #[test]
    fn days_follow_each_other() {
        let mut next = days(1, 1, 1);
        for year in 1..=2_800 {
            for (month, length) in (1..).zip([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
                let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
                assert_eq!(days(year, month, 1), next, "{year}-{month}");
                next += length + i64::from(is_leap && month == 2);
            }
        }
    }
}
