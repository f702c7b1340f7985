//! Dates and times with their precision (FHIR R4 `date`, `dateTime`, `instant`; HL7 v2 `DTM`): what a text covers.

use fhir::calendar::days;

/// A span of time: the first and the last millisecond on the writer's own clock, and how far that is from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    first: i64,
    last: i64,
    offset: Option<i64>,
}

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

impl Moment {
    pub(crate) fn read(text: &str) -> Option<Self> {
        let is_date = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | '.' | '+' | 'T' | 'Z');
        if text.len() > 40 || !text.chars().all(is_date) {
            return None;
        }
        if text.get(4..5).is_some_and(|next| next != "-") { read_compact(text) } else { read_extended(text) }
    }

    /// Whether all of this lies in the other. What names no zone is in nothing that names one.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        if other.offset.is_some() && self.offset.is_none() {
            return false;
        }
        let (own, other) = self.on_one_clock(other);
        other.0 <= own.0 && own.1 <= other.1
    }

    pub(crate) fn starts_after(&self, other: &Self) -> bool {
        let (own, other) = self.on_one_clock(other);
        own.0 > other.1
    }

    pub(crate) fn ends_before(&self, other: &Self) -> bool {
        let (own, other) = self.on_one_clock(other);
        own.1 < other.0
    }

    pub(crate) fn starts_with_or_after(&self, other: &Self) -> bool {
        let (own, other) = self.on_one_clock(other);
        own.0 >= other.0
    }

    pub(crate) fn ends_with_or_before(&self, other: &Self) -> bool {
        let (own, other) = self.on_one_clock(other);
        own.1 <= other.1
    }

    /// Instants when both name a zone, else each as its own clock showed it.
    fn on_one_clock(&self, other: &Self) -> ((i64, i64), (i64, i64)) {
        let (own_offset, other_offset) = match (self.offset, other.offset) {
            (Some(own), Some(other)) => (own, other),
            _ => (0, 0),
        };
        let shifted = |moment: &Self, offset: i64| (moment.first - offset, moment.last - offset);
        (shifted(self, own_offset), shifted(other, other_offset))
    }
}

/// `2026`, `2026-03`, `2026-03-31`, `2026-03-31T09:30[:00[.5]][Z|+02:00]`
fn read_extended(text: &str) -> Option<Moment> {
    let Some((day, rest)) = text.split_once('T') else {
        let parts: Vec<&str> = text.split('-').collect();
        let (year, month, day) = match parts.as_slice() {
            [year] => (*year, None, None),
            [year, month] => (*year, Some(*month), None),
            [year, month, day] => (*year, Some(*month), Some(*day)),
            _ => return None,
        };
        return read_day(year, month, day);
    };
    let [year, month, day] = day.split('-').collect::<Vec<_>>().try_into().ok()?;
    let (time, offset) = split_zone(rest, true)?;
    let parts: Vec<&str> = time.split(':').collect();
    match parts.as_slice() {
        [hour, minute] => with_time(read_day(year, Some(month), Some(day))?, hour, Some(minute), None, offset),
        [hour, minute, second] => {
            with_time(read_day(year, Some(month), Some(day))?, hour, Some(minute), Some(second), offset)
        }
        _ => None,
    }
}

/// `YYYY[MM[DD[HH[MM[SS[.S]]]]]][+ZZZZ]`
fn read_compact(text: &str) -> Option<Moment> {
    let (digits, offset) = split_zone(text, false)?;
    let (whole, _) = digits.split_once('.').unwrap_or((digits, ""));
    let part = |at: usize| digits.get(at..at + 2);
    let day = read_day(digits.get(..4)?, part(4), part(6))?;
    match (whole.len(), digits.len() > whole.len()) {
        (4 | 6 | 8, false) => Some(day),
        (10, false) => with_time(day, part(8)?, None, None, offset),
        (12, false) => with_time(day, part(8)?, part(10), None, offset),
        (14, _) => with_time(day, part(8)?, part(10), digits.get(12..), offset),
        _ => None,
    }
}

/// The offset from UTC in milliseconds, if the text ends in one.
fn split_zone(text: &str, has_colon: bool) -> Option<(&str, Option<i64>)> {
    if let Some(time) = text.strip_suffix('Z') {
        return Some((time, Some(0)));
    }
    let Some(at) = text.find(['+', '-']) else { return Some((text, None)) };
    let (time, zone) = text.split_at(at);
    let (hours, minutes) = if has_colon { zone[1..].split_once(':')? } else { zone[1..].split_at_checked(2)? };
    let offset = number(hours, 2, 0..=14)? * HOUR + number(minutes, 2, 0..=59)? * MINUTE;
    Some((time, Some(if zone.starts_with('-') { -offset } else { offset })))
}

fn read_day(year: &str, month: Option<&str>, day: Option<&str>) -> Option<Moment> {
    let year = number(year, 4, 1..=9999)?;
    let month = month.map(|month| number(month, 2, 1..=12).ok_or(())).transpose().ok()?;
    let after = |month: i64| if month == 12 { days(year + 1, 1, 1) } else { days(year, month + 1, 1) };
    let (first, next) = match (month, day) {
        (None, _) => (days(year, 1, 1), days(year + 1, 1, 1)),
        (Some(month), None) => (days(year, month, 1), after(month)),
        (Some(month), Some(day)) => {
            let first = days(year, month, number(day, 2, 1..=31)?);
            (first, (first < after(month)).then_some(first + 1)?)
        }
    };
    Some(Moment { first: first * DAY, last: next * DAY - 1, offset: None })
}

fn with_time(
    day: Moment,
    hour: &str,
    minute: Option<&str>,
    second: Option<&str>,
    offset: Option<i64>,
) -> Option<Moment> {
    let mut first = day.first + number(hour, 2, 0..=23)? * HOUR;
    let mut length = HOUR;
    if let Some(minute) = minute {
        (first, length) = (first + number(minute, 2, 0..=59)? * MINUTE, MINUTE);
    }
    if let Some(second) = second {
        let (whole, fraction) = second.split_once('.').map_or((second, None), |(whole, part)| (whole, Some(part)));
        (first, length) = (first + number(whole, 2, 0..=60)? * SECOND, SECOND);
        if let Some(fraction) = fraction {
            let kept = fraction.get(..fraction.len().min(3))?;
            let is_number = !kept.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
            length = [SECOND, 100, 10, 1][kept.len()];
            first += kept.parse::<i64>().ok().filter(|_| is_number)? * length;
        }
    }
    Some(Moment { first, last: first + length - 1, offset })
}

fn number(text: &str, length: usize, allowed: std::ops::RangeInclusive<i64>) -> Option<i64> {
    let is_number = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && allowed.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_what() {
        for (inner, outer, is_within) in [
            ("2026-04-02", "2026-04-02", true),
            ("2026-04-02T09:30:00Z", "2026-04-02", true),
            ("2026-04-02T23:30:00-05:00", "2026-04-02", true),
            ("2026-04-02", "2026-04", true),
            ("2026-04", "2026-04-02", false),
            ("2026-04-03", "2026-04-02", false),
            ("2026-03-31T07:30:00Z", "2026-03-31T09:30:00+02:00", true),
            ("2026-03-31T09:30:00", "2026-03-31T09:30:00+02:00", false),
            ("2026-03-31T09:30:00.123Z", "2026-03-31T09:30:00Z", true),
            ("20260331", "2026-03-31", true),
            ("202603310930+0200", "2026-03-31T07:30Z", true),
            ("2026033109", "20260331", true),
            ("20260331093000.25", "20260331093000", true),
        ] {
            let read = |text: &str| Moment::read(text).expect(text);
            assert_eq!(read(inner).is_within(&read(outer)), is_within, "{inner} in {outer}");
        }
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "26",
            "2026-",
            "2026-13",
            "2026-02-30",
            "2026-1-1",
            "2026-01-01T",
            "2026-01-01T25:00",
            "tomorrow",
            "20261",
            "2026-01-01T10:00:00.",
            "2026-01-01T10:00+1",
            "2026-01-01 10:00",
            "20260230",
            "2026-01-01T10",
            "é026",
            "20260331093000.x",
            "0000",
            "2026-01-01T10:00:00.+",
            "T",
            "-",
            "2026T10:00",
            "202601011",
        ] {
            assert_eq!(Moment::read(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in ".*", dates in "[0-9TZ:.+-]{0,30}") {
            let _ = (Moment::read(&text), Moment::read(&dates));
        }
    }
}
