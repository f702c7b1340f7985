//! Recognizes dates: `1980-03-01`, `3/1/1980`, `March first, 1980` and `the 1st of March nineteen eighty` are equal.

use clinical::month_length;

use crate::numbers::{below_hundred, whole_number};
use crate::ordinals::ordinal;
use crate::units::{Unit, run_end, word};

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    pub year: u16,
    pub month: u8,
    pub day: u8,
}

impl Date {
    /// A date from 1900 to 2099, if the calendar has it.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let is_month = (1..=12).contains(&month);
        let is_day = is_month && (1..=month_length(year, month.into())).contains(&day.into());
        ((1900..2100).contains(&year) && is_day).then_some(Self { year, month, day })
    }

    /// The date as `1980-03-01`.
    pub fn iso(&self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// The date as `March 1, 1980`.
    pub fn in_words(&self) -> String {
        let month = MONTHS.get(usize::from(self.month.max(1) - 1)).map_or("", |names| names[0]);
        let (first, rest) = month.split_at(1.min(month.len()));
        format!("{}{rest} {}, {}", first.to_uppercase(), self.day, self.year)
    }
}

const MONTHS: [[&str; 2]; 12] = [
    ["january", "jan"],
    ["february", "feb"],
    ["march", "mar"],
    ["april", "apr"],
    ["may", "may"],
    ["june", "jun"],
    ["july", "jul"],
    ["august", "aug"],
    ["september", "sept"],
    ["october", "oct"],
    ["november", "nov"],
    ["december", "dec"],
];

/// A date at the start of a text, possibly without a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DateMatch {
    pub(crate) month: u8,
    pub(crate) day: u8,
    pub(crate) year: Option<u16>,
    /// The number of units of the date.
    pub(crate) length: usize,
}

/// Replaces every date by its month, day and year.
pub(crate) fn dates(units: &[Unit]) -> Vec<Unit> {
    let mut dated = Vec::with_capacity(units.len());
    let mut at = 0;
    while let Some(unit) = units.get(at) {
        let rest = units.get(at..).unwrap_or_default();
        let Some(found) = date_at(rest) else {
            dated.push(Unit { date: None, ..unit.clone() });
            at += 1;
            continue;
        };
        let words = (unit.words.0, rest.get(found.length - 1).unwrap_or(unit).words.1);
        let month = MONTHS.get(usize::from(found.month.max(1) - 1)).map_or("", |names| names[0]);
        // The day has two digits, so that it is not joined with a following digit.
        dated.extend([Unit::word(month, words), Unit::number(format!("{:02}", found.day), words)]);
        dated.extend(found.year.map(|year| Unit::number(year.to_string(), words)));
        at += found.length;
    }
    dated
}

/// The date at the start of the units.
pub(crate) fn date_at(units: &[Unit]) -> Option<DateMatch> {
    if let Some(Date { year, month, day }) = units.first()?.date {
        return Some(DateMatch { month, day, year: Some(year), length: 3 });
    }
    let skips = |at: usize, skipped: &str| usize::from(word(units, at) == skipped);
    let (month, day, length) = if let Some(month) = month(word(units, 0)) {
        let at = 1 + skips(1, "the");
        let (day, length) = day(units.get(at..)?)?;
        (month, day, at + length)
    } else {
        let at = skips(0, "the");
        let (day, length) = day(units.get(at..)?)?;
        let of = at + length + skips(at + length, "of");
        (month(word(units, of))?, day, of + 1)
    };
    let found = year(units.get(length..).unwrap_or_default());
    match found.filter(|(year, _)| Date::new(*year, month, day).is_some()) {
        Some((year, more)) => Some(DateMatch { month, day, year: Some(year), length: length + more }),
        None => Date::new(2000, month, day).map(|_| DateMatch { month, day, year: None, length }),
    }
}

fn month(word: &str) -> Option<u8> {
    let found = MONTHS.iter().position(|names| names.contains(&word) || (word == "sep" && names[1] == "sept"));
    found.and_then(|place| u8::try_from(place + 1).ok())
}

fn day(units: &[Unit]) -> Option<(u8, usize)> {
    let in_digits = || units.first().filter(|unit| unit.is_number && unit.text.len() <= 2)?.text.parse().ok();
    let (day, length) = ordinal(units).or_else(|| in_digits().map(|day| (day, 1))).or_else(|| below_hundred(units))?;
    Some((u8::try_from(day).ok().filter(|day| (1..=31).contains(day))?, length))
}

/// The year at the start of the units, and its length: `1980`, `nineteen eighty`, `nineteen oh five`, `two thousand six`.
pub(crate) fn year(units: &[Unit]) -> Option<(u16, usize)> {
    let is_year = |year: &usize| (1900..2100).contains(year);
    let found = |year: usize, length: usize| Some((u16::try_from(year).ok()?, length)).filter(|_| is_year(&year));
    if let Some(unit) = units.first().filter(|unit| unit.is_number) {
        return unit.text.parse().ok().and_then(|year| found(year, 1)).filter(|_| unit.text.len() == 4);
    }
    let (number, length) = whole_number(units)?;
    if is_year(&number) {
        return found(number, length);
    }
    let after = units.get(length..).unwrap_or_default();
    let rest = match word(after, 0) {
        "oh" | "o" => {
            below_hundred(after.get(1..).unwrap_or_default()).filter(|rest| rest.0 < 10).map(|rest| (rest.0, 2))
        }
        _ => below_hundred(after).filter(|rest| rest.0 >= 10),
    };
    let (rest, more) = rest.filter(|_| number == 19 || number == 20)?;
    found(100 * number + rest, length + more)
}

/// The date in digits at an index: `1980-03-01`, `3/1/1980`, `03-01-1980`, `3/1/80`.
pub(crate) fn numeric_date(chars: &[char], at: usize) -> Option<Date> {
    let is_number_before = at >= 2
        && chars.get(at - 1).is_some_and(|c| matches!(c, '-' | '/' | '.'))
        && chars.get(at - 2).is_some_and(char::is_ascii_digit);
    let (first, end) = digits(chars, at)?;
    let separator = *chars.get(end).filter(|separator| matches!(separator, '-' | '/'))?;
    let (second, end) = digits(chars, end + 1).filter(|_| !is_number_before)?;
    let (third, end) = digits(chars, end + 1).filter(|_| chars.get(end) == Some(&separator))?;
    let goes_on = chars.get(end).is_some_and(|c| c.is_alphanumeric())
        || (chars.get(end) == Some(&separator) && chars.get(end + 1).is_some_and(char::is_ascii_digit));
    if goes_on || second.len() > 2 {
        return None;
    }
    let number = |text: &str| text.parse::<u16>().ok();
    let small = |text: &str| text.parse::<u8>().ok().filter(|_| text.len() <= 2);
    match (first.len(), third.len()) {
        (4, 1..=2) => Date::new(number(&first)?, small(&second)?, small(&third)?),
        (1..=2, 4) => Date::new(number(&third)?, small(&first)?, small(&second)?),
        // Two-digit years from 30 are in the 20th century.
        (1..=2, 2) if separator == '/' => {
            let year = number(&third)?;
            Date::new(year + if year < 30 { 2000 } else { 1900 }, small(&first)?, small(&second)?)
        }
        _ => None,
    }
}

fn digits(chars: &[char], at: usize) -> Option<(String, usize)> {
    let end = run_end(chars, at, |c| c.is_ascii_digit());
    let run = chars.get(at..end).filter(|run| !run.is_empty() && run.len() <= 4)?;
    Some((run.iter().collect(), end))
}
