//! Dates, dates with times, and times of day, each as precise as it is written
//! (<https://hl7.org/fhirpath/N1/#date>, `#datetime-arithmetic`, `#comparison`).

use crate::calendar::days;

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};

use super::quantity::CalendarUnit;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MomentKind {
    Date,
    DateTime,
    Time,
}

/// How many of year, month, day, hour, minute and second are said; fractions belong to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precision {
    Year = 1,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    kind: MomentKind,
    precision: Precision,
    /// Year, month, day, hour, minute, second; the least possible where not said.
    parts: [i32; 6],
    nanoseconds: u32,
    /// Of the fraction, as written.
    digits: u8,
    zone_minutes: Option<i16>,
}

const DAY_SECONDS: i64 = 86_400;
/// Two places on earth differ by no more: from -12:00 to +14:00.
const WIDEST_ZONE_SECONDS: i64 = 26 * 3_600;

impl MomentKind {
    /// By the text after the `@`.
    pub(super) fn of_literal(text: &str) -> Self {
        match text.find('T') {
            Some(0) => Self::Time,
            Some(_) => Self::DateTime,
            None => Self::Date,
        }
    }
}

impl Moment {
    /// Reads `2024`, `2024-02`, `2024-02-29`, these with `T` and a time or nothing after it, and times of day.
    pub fn parse(kind: MomentKind, text: &str) -> Option<Self> {
        if !text.is_ascii() {
            return None;
        }
        let mut moment = Self {
            kind,
            precision: Precision::Hour,
            parts: [1, 1, 1, 0, 0, 0],
            nanoseconds: 0,
            digits: 0,
            zone_minutes: None,
        };
        if kind == MomentKind::Time {
            moment.read_time(text)?;
            return Some(moment);
        }
        let (date, time) = match text.split_once('T') {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        moment.read_date(date)?;
        match time.filter(|time| !time.is_empty()) {
            Some(_) if kind == MomentKind::Date || moment.precision < Precision::Day => return None,
            Some(time) => {
                let (time, zone) = time.split_at(time.find(['Z', '+', '-']).unwrap_or(time.len()));
                moment.read_time(time)?;
                moment.zone_minutes = zone_minutes(zone)?;
            }
            None if kind == MomentKind::Date && time.is_some() => return None,
            None => {}
        }
        Some(moment)
    }

    fn read_date(&mut self, text: &str) -> Option<()> {
        let mut parts = text.split('-');
        self.parts[0] = number(parts.next()?, 4, 1..=9999)?;
        self.precision = Precision::Year;
        if let Some(month) = parts.next() {
            self.parts[1] = number(month, 2, 1..=12)?;
            self.precision = Precision::Month;
        }
        if let Some(day) = parts.next() {
            self.parts[2] = number(day, 2, 1..=month_length(self.parts[0], self.parts[1]))?;
            self.precision = Precision::Day;
        }
        parts.next().is_none().then_some(())
    }

    fn read_time(&mut self, text: &str) -> Option<()> {
        let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
        let mut parts = whole.split(':');
        self.parts[3] = number(parts.next()?, 2, 0..=23)?;
        self.precision = Precision::Hour;
        if let Some(minute) = parts.next() {
            self.parts[4] = number(minute, 2, 0..=59)?;
            self.precision = Precision::Minute;
        }
        if let Some(second) = parts.next() {
            self.parts[5] = number(second, 2, 0..=60)?;
            self.precision = Precision::Second;
        }
        if let Some(fraction) = fraction {
            let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
            let kept = fraction.get(..fraction.len().min(9)).filter(|_| is_fraction)?;
            (self.precision == Precision::Second).then_some(())?;
            self.digits = u8::try_from(kept.len()).ok()?;
            self.nanoseconds = kept.parse::<u32>().ok()? * 10_u32.pow(9 - u32::from(self.digits));
        }
        parts.next().is_none().then_some(())
    }

    pub fn kind(&self) -> MomentKind {
        self.kind
    }

    /// The date as the start of a date with time, said as precisely as before.
    pub(super) fn to_date_time(self) -> Option<Self> {
        (self.kind != MomentKind::Time).then_some(Self { kind: MomentKind::DateTime, ..self })
    }

    pub(super) fn to_date(self) -> Option<Self> {
        let precision = self.precision.min(Precision::Day);
        let [year, month, day, ..] = self.parts;
        (self.kind != MomentKind::Time).then_some(Self {
            kind: MomentKind::Date,
            precision,
            parts: [year, month, day, 0, 0, 0],
            nanoseconds: 0,
            digits: 0,
            zone_minutes: None,
        })
    }

    pub(super) fn to_time(self) -> Option<Self> {
        let [.., hour, minute, second] = self.parts;
        let parts = [1, 1, 1, hour, minute, second];
        let has_time = self.precision >= Precision::Hour && self.kind != MomentKind::Date;
        has_time.then_some(Self { kind: MomentKind::Time, parts, zone_minutes: None, ..self })
    }

    /// Whether they stand for times on one scale.
    pub(super) fn is_comparable(&self, other: &Self) -> bool {
        (self.kind == MomentKind::Time) == (other.kind == MomentKind::Time)
    }

    /// Which is earlier; nothing if their precisions or an unsaid zone leave that open.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        let has_time = self.precision >= Precision::Hour && other.precision >= Precision::Hour;
        match (self.zone_minutes, other.zone_minutes) {
            (Some(_), Some(_)) => return self.in_utc()?.compare_parts(&other.in_utc()?),
            (None, None) => {}
            _ if has_time => {
                let apart = self.seconds() - other.seconds();
                return (apart.abs() > WIDEST_ZONE_SECONDS).then_some(apart.cmp(&0));
            }
            _ => {}
        }
        self.compare_parts(other)
    }

    fn compare_parts(&self, other: &Self) -> Option<Ordering> {
        let common = self.precision.min(other.precision) as usize;
        let by_parts = self.parts[..common].cmp(&other.parts[..common]);
        if by_parts != Ordering::Equal {
            return Some(by_parts);
        }
        (self.precision == other.precision).then_some(self.nanoseconds.cmp(&other.nanoseconds))
    }

    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        self.precision == other.precision && self.is_comparable(other) && self.compare(other) == Some(Ordering::Equal)
    }

    /// Seconds since 1970 by what it says, without its zone.
    fn seconds(&self) -> i64 {
        let [year, month, day, hour, minute, second] = self.parts.map(i64::from);
        days(year, month, day) * DAY_SECONDS + hour * 3_600 + minute * 60 + second
    }

    fn in_utc(self) -> Option<Self> {
        let offset = i64::from(self.zone_minutes.unwrap_or(0));
        let shifted = if offset == 0 { self } else { self.shifted(-offset * 60, 0)? };
        Some(Self { zone_minutes: Some(0), ..shifted })
    }

    /// Moves it by an exact time; times of day go round.
    fn shifted(self, seconds: i64, nanoseconds: i64) -> Option<Self> {
        let whole = i64::from(self.nanoseconds) + nanoseconds;
        let total = self.seconds().checked_add(seconds)?.checked_add(whole.div_euclid(1_000_000_000))?;
        let rest = total.rem_euclid(DAY_SECONDS);
        let (year, month, day) = match self.kind {
            MomentKind::Time => (1, 1, 1),
            _ => date_of(total.div_euclid(DAY_SECONDS))?,
        };
        let time = [rest / 3_600, rest / 60 % 60, rest % 60].map(|part| i32::try_from(part).unwrap_or_default());
        let nanoseconds = u32::try_from(whole.rem_euclid(1_000_000_000)).ok()?;
        let digits = self.digits.max(if nanoseconds == 0 { 0 } else { 3 });
        Some(Self { parts: [year, month, day, time[0], time[1], time[2]], nanoseconds, digits, ..self })
    }

    /// Adds calendar time; a day that the month does not have becomes its last. What is finer than the value is said is
    /// dropped to whole units of it.
    pub(super) fn plus(self, amount: i64, unit: CalendarUnit) -> Option<Self> {
        if self.kind == MomentKind::Time && unit.is_longer_than_hour() {
            return None;
        }
        match unit {
            CalendarUnit::Year => self.plus_months(amount.checked_mul(12)?),
            CalendarUnit::Month if self.precision == Precision::Year => self.plus_months(amount / 12 * 12),
            CalendarUnit::Month => self.plus_months(amount),
            CalendarUnit::Millisecond => {
                let seconds = amount.div_euclid(1_000);
                match self.precision {
                    Precision::Second => self.shifted(seconds, amount.rem_euclid(1_000) * 1_000_000),
                    _ => self.plus_seconds(amount / 1_000),
                }
            }
            unit => self.plus_seconds(amount.checked_mul(unit.seconds()?)?),
        }
    }

    fn plus_seconds(self, seconds: i64) -> Option<Self> {
        let whole = |unit: i64| seconds / unit * unit;
        match self.precision {
            Precision::Year => self.plus_months(seconds / (365 * DAY_SECONDS) * 12),
            Precision::Month => self.plus_months(seconds / (30 * DAY_SECONDS)),
            Precision::Day => self.shifted(whole(DAY_SECONDS), 0),
            Precision::Hour => self.shifted(whole(3_600), 0),
            Precision::Minute => self.shifted(whole(60), 0),
            Precision::Second => self.shifted(seconds, 0),
        }
    }

    fn plus_months(self, months: i64) -> Option<Self> {
        let [year, month, day, hour, minute, second] = self.parts;
        let total = (i64::from(year) * 12 + i64::from(month) - 1).checked_add(months)?;
        let year = i32::try_from(total.div_euclid(12)).ok().filter(|year| (1..=9999).contains(year))?;
        let month = i32::try_from(total.rem_euclid(12)).ok()? + 1;
        let day = day.min(month_length(year, month));
        Some(Self { parts: [year, month, day, hour, minute, second], ..self })
    }

    /// As it is written in an expression.
    pub(super) fn literal(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.kind == MomentKind::Time { "@T" } else { "@" })?;
        self.fmt(f)?;
        let lacks_mark = self.kind == MomentKind::DateTime && self.precision < Precision::Hour;
        f.write_str(if lacks_mark { "T" } else { "" })
    }
}

impl Display for Moment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [year, month, day, hour, minute, second] = self.parts;
        let says = |precision: Precision| self.precision >= precision;
        if self.kind != MomentKind::Time {
            write!(f, "{year:04}")?;
            if says(Precision::Month) {
                write!(f, "-{month:02}")?;
            }
            if says(Precision::Day) {
                write!(f, "-{day:02}")?;
            }
            if !says(Precision::Hour) {
                return Ok(());
            }
            f.write_str("T")?;
        }
        write!(f, "{hour:02}")?;
        if says(Precision::Minute) {
            write!(f, ":{minute:02}")?;
        }
        if says(Precision::Second) {
            write!(f, ":{second:02}")?;
        }
        if self.digits > 0 {
            let fraction = format!("{:09}", self.nanoseconds);
            write!(f, ".{}", &fraction[..usize::from(self.digits)])?;
        }
        match self.zone_minutes {
            None => Ok(()),
            Some(0) => f.write_str("Z"),
            Some(zone) => {
                let sign = if zone < 0 { '-' } else { '+' };
                write!(f, "{sign}{:02}:{:02}", zone.abs() / 60, zone.abs() % 60)
            }
        }
    }
}

fn zone_minutes(text: &str) -> Option<Option<i16>> {
    if text.is_empty() {
        return Some(None);
    }
    if text == "Z" {
        return Some(Some(0));
    }
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let offset = number(hours, 2, 0..=14)? * 60 + number(minutes, 2, 0..=59)?;
    let offset = i16::try_from(offset).ok()?;
    Some(Some(if text.starts_with('-') { -offset } else { offset }))
}

fn number(text: &str, length: usize, allowed: std::ops::RangeInclusive<i32>) -> Option<i32> {
    let is_number = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && allowed.contains(number))
}

fn month_length(year: i32, month: i32) -> i32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The date that is so many days after 1970-01-01.
fn date_of(days: i64) -> Option<(i32, i32, i32)> {
    // Eras of 400 years begin with a first of March.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let year = i32::try_from(year).ok().filter(|year| (1..=9999).contains(year))?;
    Some((year, i32::try_from(month).ok()?, i32::try_from(day).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Moment {
        let kind = MomentKind::of_literal(text);
        Moment::parse(kind, text.trim_start_matches('T')).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn days_and_dates_are_inverse() {
        let first = days(1, 1, 1);
        for day in (first..days(9999, 12, 31)).step_by(97) {
            let (year, month, of_month) = date_of(day).unwrap();
            assert_eq!(days(year.into(), month.into(), of_month.into()), day);
        }
    }

    #[test]
    fn comparison_is_open_where_precision_ends() {
        for (left, right, expected) in [
            ("2024", "2025-01", Some(Ordering::Less)),
            ("2024", "2024-01", None),
            ("2024-01-01", "2024-01-01T00:00:00", None),
            ("2024-01-01T10:00:00", "2024-01-01T10:00:00.000", Some(Ordering::Equal)),
            ("2024-01-01T10:00:00Z", "2024-01-01T12:00:00+02:00", Some(Ordering::Equal)),
            ("2024-01-01T10:00:00Z", "2024-01-01T12:00:00", None),
            ("2024-01-01T10:00:00Z", "2024-01-03T12:00:00", Some(Ordering::Less)),
            ("2024-01-01T23:00:00-05:00", "2024-01-02T03:00:00Z", Some(Ordering::Greater)),
            ("T10:30", "T10:30:00", None),
            ("T10:30", "T10:31:00", Some(Ordering::Less)),
        ] {
            assert_eq!(moment(left).compare(&moment(right)), expected, "{left} {right}");
        }
    }

    #[test]
    fn calendar_time_is_added() {
        for (start, amount, unit, expected) in [
            ("2024-01-31", 1, CalendarUnit::Month, "2024-02-29"),
            ("2024-02-29", 1, CalendarUnit::Year, "2025-02-28"),
            ("2024-03-01", -1, CalendarUnit::Day, "2024-02-29"),
            ("2023-12-31T23:59:59Z", 1, CalendarUnit::Second, "2024-01-01T00:00:00Z"),
            ("2024-01-01T00:00:00.000Z", -1, CalendarUnit::Millisecond, "2023-12-31T23:59:59.999Z"),
            ("2024", 24, CalendarUnit::Month, "2026"),
            ("2024", 11, CalendarUnit::Month, "2024"),
            ("2016", 365, CalendarUnit::Day, "2017"),
            ("T23:30", 60, CalendarUnit::Minute, "00:30"),
        ] {
            assert_eq!(moment(start).plus(amount, unit).unwrap().to_string(), expected, "{start}");
        }
        assert_eq!(moment("9999-12-31").plus(1, CalendarUnit::Day), None);
        assert_eq!(moment("2024").plus(i64::MAX, CalendarUnit::Year), None);
    }
}
