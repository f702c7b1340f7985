//! Fixed wording: compares whole texts word by word.
//!
//! Ignores case, accents, punctuation and the spelling of numbers, dates and amounts. Word and number boundaries count: `1-2`
//! is not `12`, and `the rapist` is not `therapist`. Only codes and phone numbers may be grouped differently. Signs next to
//! digits count, as in `-2.5` and `1/2`.

use std::collections::BTreeSet;

use crate::dates::{date_at, dates};
use crate::money::amounts;
use crate::numbers::{convert_number_words, join_letters};
use crate::ordinals::ordinals;
use crate::spelling::spelled_letters;
use crate::units::{Unit, units_with_spans};

/// The maximum number of words of a code.
const MAX_CODE_LENGTH: usize = 14;

/// A text in several readings: as it is, with spelled letters joined, and with normalized dates.
pub struct WordedText(Vec<Vec<WordedUnit>>);

#[derive(Clone, Debug)]
struct WordedUnit {
    unit: Unit,
    /// The signs next to a number.
    signs: String,
}

impl WordedText {
    pub fn new(text: &str) -> Self {
        let chars: Vec<char> = fhir::search::fold(text).chars().collect();
        let (units, signs) = units_and_signs(&chars);
        let mut readings = vec![units.clone(), spelled_letters(&units)];
        if (0..units.len()).any(|at| date_at(units.get(at..).unwrap_or_default()).is_some()) {
            readings.push(dates(&units));
        }
        readings.dedup();
        let mut readings: Vec<Vec<WordedUnit>> = readings.iter().map(|units| worded_units(units, &signs)).collect();
        readings.extend(keyed_date(&units));
        Self(readings)
    }

    /// Whether a text has the same wording. Calls `spend` for each step.
    pub fn matches<E>(&self, text: &Self, spend: impl Fn(usize) -> Result<(), E>) -> Result<bool, E> {
        for reading in &text.0 {
            if !reading.is_empty() && self.ends(reading, 0, &spend)?.contains(&reading.len()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The ends of this text in a reading of another text that has it at `start`.
    fn ends<E>(
        &self,
        reading: &[WordedUnit],
        start: usize,
        spend: impl Fn(usize) -> Result<(), E>,
    ) -> Result<BTreeSet<usize>, E> {
        let mut ends = BTreeSet::new();
        for line in self.0.iter().filter(|line| !line.is_empty()) {
            let mut reached = BTreeSet::from([(0, start)]);
            while let Some((own, other)) = reached.pop_first() {
                spend(8)?;
                if own == line.len() {
                    ends.insert(other);
                    continue;
                }
                let (own_rest, rest) = (line.get(own..).unwrap_or_default(), reading.get(other..).unwrap_or_default());
                let steps = equal_starts(own_rest, rest);
                reached.extend(steps.into_iter().map(|(length, other_length)| (own + length, other + other_length)));
            }
        }
        Ok(ends)
    }
}

/// Whether a text is a sequence of the lines, in any order and number.
pub fn is_made_of<E>(
    text: &WordedText,
    lines: &[WordedText],
    spend: impl Fn(usize) -> Result<(), E>,
) -> Result<bool, E> {
    for reading in text.0.iter().filter(|reading| !reading.is_empty()) {
        let mut reached = BTreeSet::from([0]);
        while let Some(at) = reached.pop_first().filter(|at| *at < reading.len()) {
            for line in lines {
                reached.extend(line.ends(reading, at, &spend)?);
            }
            if reached.contains(&reading.len()) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The units of a text, and the signs next to each number.
fn units_and_signs(chars: &[char]) -> (Vec<Unit>, Vec<String>) {
    let units_with_spans = units_with_spans(chars);
    let mut signs = Vec::with_capacity(units_with_spans.len());
    let (mut end, mut was_number) = (0, false);
    for (unit, span) in &units_with_spans {
        let starts_with_digit = unit.text.starts_with(|c: char| c.is_ascii_digit());
        let between = chars.get(end..span.start).unwrap_or_default();
        let mut own = String::new();
        if starts_with_digit && was_number {
            let is_joined = !between.contains(&' ');
            own.extend(between.iter().filter_map(|c| sign(*c).or(Some(*c).filter(|c| is_joined && ",.".contains(*c)))));
        } else if starts_with_digit {
            let is_adjacent = between.last() != Some(&' ');
            // A hyphen after a letter is part of a word, as in `COVID-19`.
            let is_hyphen = |c: char| c == '-' && end > 0 && between.len() == 1;
            let last = between.iter().rev().find(|c| **c != ' ').and_then(|c| sign(*c));
            own.extend(last.filter(|c| !is_hyphen(*c) && (is_adjacent || "<>≤≥≠±~≈".contains(*c))));
        }
        let has_plus = unit.is_number && chars.get(span.end) == Some(&'+');
        own.extend(Some('p').filter(|_| has_plus));
        signs.push(own);
        (end, was_number) = (span.end, unit.text.ends_with(|c: char| c.is_ascii_digit()));
    }
    (units_with_spans.into_iter().map(|(unit, _)| unit).collect(), signs)
}

/// Normalizes a sign that changes the meaning of a number.
fn sign(c: char) -> Option<char> {
    match c {
        '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
        '/' | '\u{2044}' | '\u{2215}' => Some('/'),
        '+' | '<' | '>' | '≤' | '≥' | '≠' | '±' | '~' | '≈' | '×' | '÷' | '*' | '^' => Some(c),
        _ => None,
    }
}

/// Converts number words to digits. Does not join single digits.
fn worded_units(units: &[Unit], signs: &[String]) -> Vec<WordedUnit> {
    let units = join_letters(&amounts(&convert_number_words(&ordinals(units))));
    let signs = |unit: &Unit| signs.get(unit.words.0).cloned().unwrap_or_default();
    units.into_iter().map(|unit| WordedUnit { signs: signs(&unit), unit }).collect()
}

/// If the whole text is a date, it may also be entered as digits.
fn keyed_date(units: &[Unit]) -> Vec<Vec<WordedUnit>> {
    let found = date_at(units).filter(|found| found.length == units.len());
    let Some((found, year)) = found.and_then(|found| Some((found, found.year?))) else { return Vec::new() };
    let (month, day) = (found.month, found.day);
    let keys =
        [format!("{month:02}{day:02}{year}"), format!("{year}{month:02}{day:02}"), format!("{month}{day}{year}")];
    let unit = |text: String| WordedUnit { unit: Unit::number(text, (0, 0)), signs: String::new() };
    keys.into_iter().map(|text| vec![unit(text)]).collect()
}

/// The lengths of equal starts of both sides: one unit of each, or the units of a code or phone number.
fn equal_starts(one: &[WordedUnit], two: &[WordedUnit]) -> Vec<(usize, usize)> {
    let (Some(first), Some(second)) = (one.first(), two.first()) else { return Vec::new() };
    let mut equal = Vec::new();
    if first.unit.text == second.unit.text && first.signs == second.signs {
        equal.push((1, 1));
    }
    let (mut left, mut right) = (first.unit.text.clone(), second.unit.text.clone());
    let (mut length, mut other) = (1, 1);
    while length < MAX_CODE_LENGTH && other < MAX_CODE_LENGTH && (left.starts_with(&right) || right.starts_with(&left))
    {
        let (extends_left, extends_right) = (left.len() <= right.len(), right.len() <= left.len());
        if extends_left {
            let Some(next) = one.get(length) else { break };
            left.push_str(&next.unit.text);
            length += 1;
        }
        if extends_right {
            let Some(next) = two.get(other) else { break };
            right.push_str(&next.unit.text);
            other += 1;
        }
        let sides = (one.get(..length).unwrap_or_default(), two.get(..other).unwrap_or_default());
        if left == right && is_code(&left, sides.0, sides.1) {
            equal.push((length, other));
        }
    }
    equal
}

/// Whether the parts are a code or phone number, which may be grouped differently.
fn is_code(joined: &str, one: &[WordedUnit], two: &[WordedUnit]) -> bool {
    let is_digits = joined.bytes().all(|byte| byte.is_ascii_digit());
    let is_phone = is_digits && (joined.len() == 10 || (joined.len() == 11 && joined.starts_with('1')));
    (is_phone || one.len() == 1 || two.len() == 1) && [one, two].iter().all(|parts| may_be_joined(joined, parts))
}

fn may_be_joined(joined: &str, parts: &[WordedUnit]) -> bool {
    let digits = joined.bytes().filter(u8::is_ascii_digit).count();
    let lengths = || parts.iter().map(|part| part.unit.text.chars().count());
    let is_id = digits >= 4 || (joined.len() >= 5 && joined.starts_with(char::is_alphabetic));
    let is_one_by_one = is_id && parts.iter().all(|part| !part.unit.is_number || part.unit.text.len() == 1);
    // The country code of a phone number may be separate.
    let skipped = usize::from(digits == 11 && joined.starts_with('1') && lengths().next() == Some(1));
    let is_grouped = digits >= 7 && lengths().skip(skipped).all(|length| (2..=4).contains(&length) || length == 7);
    parts.iter().zip(parts.iter().skip(1)).all(|(part, next)| {
        let (before, after) = (part.unit.text.chars().last(), next.unit.text.chars().next());
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        match (is_digit(before), is_digit(after)) {
            (true, true) => !joined.contains('.') && (is_one_by_one || is_grouped),
            (false, false) => part.unit.is_letter() && next.unit.is_letter(),
            _ => next.signs.is_empty() || next.signs == "-",
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(wording: &str, text: &str) -> bool {
        WordedText::new(wording).matches(&WordedText::new(text), |_| Ok::<(), ()>(())).unwrap()
    }

    #[test]
    fn the_same_wording() {
        for (wording, text) in [
            ("Take 1-2 tablets", "take 1–2 tablets."),
            ("Take 5 mg", "Take 5mg"),
            ("Take 1,000 mg", "take one thousand mg"),
            ("Call (608) 555-0142.", "call 608.555.0142"),
            ("Call (608) 555-0142.", "call six oh eight five five five oh one four two"),
            ("Call (608) 555-0142.", "call 6085550142"),
            ("Call 1-608-555-0142", "Call +16085550142"),
            ("Member XYZ123", "member X-ray Yankee Zulu one two three"),
            ("MRN 20011034", "MRN 2001 1034"),
            ("Code 4102", "code 4 1 0 2"),
            ("On 2026-04-07 at 9:30 AM", "On April 7, 2026 at nine thirty AM"),
            ("1980-03-01", "0 3 0 1 1 9 8 0"),
            ("$45.50 is due", "45 dollars and 50 cents is due"),
            ("COVID-19 test", "COVID 19 test"),
            ("T-score -2.5", "T-score: −2.5"),
            ("don't", "Don’t"),
        ] {
            assert!(is(wording, text), "{wording:?} is {text:?}");
        }
    }

    #[test]
    fn another_wording() {
        for (wording, text) in [
            ("Take 1-2 tablets", "Take 12 tablets"),
            ("Take 1-2 tablets", "Take 1 2 tablets"),
            ("Take 1-2 tablets", "Take 1/2 tablets"),
            ("Take 2 10 mg tablets", "Take 210 mg tablets"),
            ("Take 2 10mg tablets", "Take 210mg tablets"),
            ("Take 5 150000 units", "Take 5150000 units"),
            ("15 mg", "1,5 mg"),
            ("T-score -2.5", "T-score 2.5"),
            ("T-score 2.5", "T-score -2.5"),
            ("potassium > 5.5", "potassium 5.5"),
            ("potassium >5.5", "potassium 5.5"),
            ("3+ edema", "3 edema"),
            ("10 mg/5 mL", "10 mg 5 mL"),
            ("Ask the therapist", "Ask the the rapist"),
            ("Ask the therapist", "Ask the the rap is t"),
            ("Hello", "Hello Hello"),
            ("Hello", ""),
        ] {
            assert!(!is(wording, text), "{wording:?} is not {text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_matches_itself(text in "([a-z]{1,4}|[0-9]{1,4}|[-+<>/., ]){0,20}") {
            proptest::prop_assert!(WordedText::new(&text).0[0].is_empty() || is(&text, &text));
        }
    }
}
