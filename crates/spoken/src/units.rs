//! Splits text into units: sequences of letters and digits, each with its words in the text.

use std::ops::Range;

use crate::dates::{Date, numeric_date};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) text: String,
    pub(crate) is_number: bool,
    /// The first and last word of the text that it represents.
    pub(crate) words: (usize, usize),
    /// The date that this number and the next two form, such as `3/1/1980`.
    pub(crate) date: Option<Date>,
}

impl Unit {
    pub(crate) fn word(text: &str, words: (usize, usize)) -> Self {
        Self { text: text.to_owned(), is_number: false, words, date: None }
    }

    pub(crate) fn number(text: String, words: (usize, usize)) -> Self {
        Self { text, is_number: true, words, date: None }
    }

    /// Whether the unit is a single letter.
    pub(crate) fn is_letter(&self) -> bool {
        !self.is_number && self.text.chars().count() == 1
    }
}

/// The text of the unit at an index, or an empty text.
pub(crate) fn word(units: &[Unit], at: usize) -> &str {
    units.get(at).map_or("", |unit| unit.text.as_str())
}

/// Splits a text into units. Keeps a decimal point, drops a thousands separator, and converts `$` and `%` to words.
pub(crate) fn units(text: &str) -> Vec<Unit> {
    let chars: Vec<char> = fhir::search::fold(text).chars().collect();
    units_with_spans(&chars).into_iter().map(|(unit, _)| unit).collect()
}

/// The units of folded text, each with its range of characters.
pub(crate) fn units_with_spans(chars: &[char]) -> Vec<(Unit, Range<usize>)> {
    let mut units: Vec<(Unit, Range<usize>)> = Vec::new();
    let mut at = 0;
    while let Some(letter) = chars.get(at) {
        let words = (units.len(), units.len());
        if !letter.is_alphanumeric() {
            if *letter == '%' {
                units.push((Unit::word("percent", words), at..at + 1));
            }
            at += 1;
            continue;
        }
        let end = run_end(chars, at, char::is_alphanumeric);
        let is_amount = at > 0 && chars.get(at - 1) == Some(&'$');
        let (unit, end) = run(chars, at, end, words);
        let is_number = unit.is_number;
        units.push((unit, at..end));
        if is_amount && is_number {
            units.push((Unit::word("dollars", words), end..end));
        }
        at = end;
    }
    units
}

/// The unit that starts at an index, and its end.
fn run(chars: &[char], at: usize, end: usize, words: (usize, usize)) -> (Unit, usize) {
    let run = chars.get(at..end).unwrap_or_default();
    if !run.iter().all(char::is_ascii_digit) {
        let (text, end) = code_at(chars, run, end);
        return (Unit { text, is_number: false, words, date: None }, end);
    }
    // The parts of a date are separate numbers.
    if let Some(date) = numeric_date(chars, at) {
        return (Unit { text: run.iter().collect(), is_number: true, words, date: Some(date) }, end);
    }
    let (text, end) = number_at(chars, at, end);
    (Unit { text, is_number: true, words, date: None }, end)
}

pub(crate) fn run_end(chars: &[char], at: usize, is_part: impl Fn(char) -> bool) -> usize {
    at + chars.iter().skip(at).take_while(|c| is_part(**c)).count()
}

/// A code and its end. Keeps the point of codes such as `M54.50`.
fn code_at(chars: &[char], run: &[char], end: usize) -> (String, usize) {
    let mut text: String = run.iter().collect();
    let is_code = run.first().is_some_and(|c| c.is_ascii_alphabetic()) && run.last().is_some_and(char::is_ascii_digit);
    let has_more = chars.get(end) == Some(&'.') && chars.get(end + 1).is_some_and(char::is_ascii_digit);
    if !is_code || !has_more {
        return (text, end);
    }
    let after = run_end(chars, end + 1, char::is_alphanumeric);
    text.extend(chars.get(end..after).unwrap_or_default());
    (text, after)
}

fn number_at(chars: &[char], start: usize, end: usize) -> (String, usize) {
    let digits_after = |separator: char, at: usize| {
        let after = run_end(chars, at + 1, |c| c.is_ascii_digit());
        let is_word = chars.get(after).is_some_and(|c| c.is_alphanumeric());
        (chars.get(at) == Some(&separator) && after > at + 1 && !is_word).then_some(after)
    };
    let part = |from: usize, to: usize| chars.get(from..to).unwrap_or_default();
    let mut text: String = part(start, end).iter().collect();
    let mut end = end;
    let may_have_thousands = text.len() <= 3;
    while let Some(after) = digits_after(',', end).filter(|after| may_have_thousands && after - end == 4) {
        text.extend(part(end + 1, after));
        end = after;
    }
    let follows_point =
        start >= 2 && chars.get(start - 1) == Some(&'.') && chars.get(start - 2).is_some_and(char::is_ascii_digit);
    if let Some(after) = digits_after('.', end).filter(|after| !follows_point && digits_after('.', *after).is_none()) {
        text.extend(part(end, after));
        end = after;
    }
    (text, end)
}
