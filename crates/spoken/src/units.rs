//! Runs of letters and digits, with the word of the text that each comes from.

use std::ops::Range;

use crate::dates::{Date, written_date};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) text: String,
    pub(crate) is_number: bool,
    /// The first and the last word of the text that it stands for.
    pub(crate) words: (usize, usize),
    /// The date that this and the two numbers after it write, as `3/1/1980` does.
    pub(crate) date: Option<Date>,
}

impl Unit {
    pub(crate) fn word(text: &str, words: (usize, usize)) -> Self {
        Self { text: text.to_owned(), is_number: false, words, date: None }
    }

    pub(crate) fn number(text: String, words: (usize, usize)) -> Self {
        Self { text, is_number: true, words, date: None }
    }

    /// One letter, which may be one that is spelled.
    pub(crate) fn is_letter(&self) -> bool {
        !self.is_number && self.text.chars().count() == 1
    }
}

/// The unit there as text, or nothing.
pub(crate) fn word(units: &[Unit], at: usize) -> &str {
    units.get(at).map_or("", |unit| unit.text.as_str())
}

/// A point between digits stays, a comma between thousands goes; `$` and `%` are words.
pub(crate) fn units(text: &str) -> Vec<Unit> {
    let letters: Vec<char> = fhir::search::fold(text).chars().collect();
    spanned(&letters).into_iter().map(|(unit, _)| unit).collect()
}

/// The units of folded text, each with the characters that it was read from.
pub(crate) fn spanned(letters: &[char]) -> Vec<(Unit, Range<usize>)> {
    let mut units: Vec<(Unit, Range<usize>)> = Vec::new();
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        let words = (units.len(), units.len());
        if !letter.is_alphanumeric() {
            if *letter == '%' {
                units.push((Unit::word("percent", words), at..at + 1));
            }
            at += 1;
            continue;
        }
        let end = run_end(letters, at, char::is_alphanumeric);
        let is_amount = at > 0 && letters.get(at - 1) == Some(&'$');
        let (unit, end) = run(letters, at, end, words);
        let is_number = unit.is_number;
        units.push((unit, at..end));
        if is_amount && is_number {
            units.push((Unit::word("dollars", words), end..end));
        }
        at = end;
    }
    units
}

/// The unit that starts at a place, and where it ends.
fn run(letters: &[char], at: usize, end: usize, words: (usize, usize)) -> (Unit, usize) {
    let run = letters.get(at..end).unwrap_or_default();
    if !run.iter().all(char::is_ascii_digit) {
        let (text, end) = written_code(letters, run, end);
        return (Unit { text, is_number: false, words, date: None }, end);
    }
    // The parts of a date are numbers of their own, whatever stands between them.
    if let Some(date) = written_date(letters, at) {
        return (Unit { text: run.iter().collect(), is_number: true, words, date: Some(date) }, end);
    }
    let (text, end) = written_number(letters, at, end);
    (Unit { text, is_number: true, words, date: None }, end)
}

pub(crate) fn run_end(letters: &[char], at: usize, is_meant: impl Fn(char) -> bool) -> usize {
    at + letters.iter().skip(at).take_while(|c| is_meant(**c)).count()
}

/// A code such as `M54.50` keeps its point: without it, it is another code.
fn written_code(letters: &[char], run: &[char], end: usize) -> (String, usize) {
    let mut text: String = run.iter().collect();
    let is_code = run.first().is_some_and(|c| c.is_ascii_alphabetic()) && run.last().is_some_and(char::is_ascii_digit);
    let has_more = letters.get(end) == Some(&'.') && letters.get(end + 1).is_some_and(char::is_ascii_digit);
    if !is_code || !has_more {
        return (text, end);
    }
    let after = run_end(letters, end + 1, char::is_alphanumeric);
    text.extend(letters.get(end..after).unwrap_or_default());
    (text, after)
}

fn written_number(letters: &[char], start: usize, end: usize) -> (String, usize) {
    let digits_after = |sign: char, at: usize| {
        let after = run_end(letters, at + 1, |c| c.is_ascii_digit());
        let is_word = letters.get(after).is_some_and(|c| c.is_alphanumeric());
        (letters.get(at) == Some(&sign) && after > at + 1 && !is_word).then_some(after)
    };
    let part = |from: usize, to: usize| letters.get(from..to).unwrap_or_default();
    let mut text: String = part(start, end).iter().collect();
    let mut end = end;
    let may_have_thousands = text.len() <= 3;
    while let Some(after) = digits_after(',', end).filter(|after| may_have_thousands && after - end == 4) {
        text.extend(part(end + 1, after));
        end = after;
    }
    let follows_point =
        start >= 2 && letters.get(start - 1) == Some(&'.') && letters.get(start - 2).is_some_and(char::is_ascii_digit);
    if let Some(after) = digits_after('.', end).filter(|after| !follows_point && digits_after('.', *after).is_none()) {
        text.extend(part(end, after));
        end = after;
    }
    (text, end)
}
