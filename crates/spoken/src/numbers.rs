//! Converts number words to digits.

use crate::money::amounts;
use crate::ordinals::ordinals;
use crate::units::{Unit, word};

/// Converts number words to digits, joins single digits to one number, and normalizes amounts.
pub(crate) fn numbers(units: &[Unit]) -> Vec<Unit> {
    let mut joined: Vec<Unit> = Vec::with_capacity(units.len());
    let mut was_digit = false;
    for unit in convert_number_words(&ordinals(units)) {
        let is_digit = unit.is_number && unit.text.len() == 1;
        match joined.last_mut().filter(|_| is_digit && was_digit) {
            Some(last) => {
                last.text.push_str(&unit.text);
                last.words.1 = unit.words.1;
            }
            None => joined.push(unit),
        }
        was_digit = is_digit;
    }
    join_letters(&amounts(&joined))
}

/// The minimum number of consecutive letters that are joined to one word.
const MIN_SPELLED_LETTERS: usize = 3;

/// Joins single letters to one word, as digits are joined to one number: `STON` is not in `S T O N E`.
pub(crate) fn join_letters(units: &[Unit]) -> Vec<Unit> {
    let mut words: Vec<Unit> = Vec::with_capacity(units.len());
    for run in units.chunk_by(|left, right| left.is_letter() && right.is_letter()) {
        match run {
            [first, .., last] if run.len() >= MIN_SPELLED_LETTERS => {
                let text: String = run.iter().map(|unit| unit.text.as_str()).collect();
                words.push(Unit::word(&text, (first.words.0, last.words.1)));
            }
            _ => words.extend_from_slice(run),
        }
    }
    words
}

/// Converts number words to digits. Does not join single digits.
pub(crate) fn convert_number_words(units: &[Unit]) -> Vec<Unit> {
    let mut converted: Vec<Unit> = Vec::with_capacity(units.len());
    let mut at = 0;
    while let Some(unit) = units.get(at) {
        let (rest, after) = (units.get(at..).unwrap_or_default(), units.get(at + 1..).unwrap_or_default());
        let is_after_number = converted.last().is_some_and(|last| last.is_number);
        let is_before_number = after.first().is_some_and(|next| next.is_number) || below_hundred(after).is_some();
        let (texts, length) = match (unit.text.as_str(), one_digit(after)) {
            ("oh" | "o", _) if is_after_number || is_before_number => (vec!["0".to_owned()], 1),
            ("double", Some(digit)) => (vec![digit; 2], 2),
            ("triple", Some(digit)) => (vec![digit; 3], 2),
            ("point" | "dot", _) if is_after_number && is_before_number => {
                at += 1;
                join_decimals(&mut converted, units, &mut at);
                continue;
            }
            _ => match whole_number(rest) {
                Some((number, length)) => (vec![number.to_string()], length),
                None => (Vec::new(), 1),
            },
        };
        let words = (unit.words.0, rest.get(length - 1).unwrap_or(unit).words.1);
        if texts.is_empty() {
            converted.push(unit.clone());
        }
        converted.extend(texts.into_iter().map(|text| Unit::number(text, words)));
        at += length;
    }
    converted
}

/// Adds the digits after `point` to the number before it: `seven point four five`.
fn join_decimals(converted: &mut [Unit], units: &[Unit], at: &mut usize) {
    let Some(last) = converted.last_mut() else { return };
    last.text.push('.');
    let mut is_first = true;
    while let Some(unit) = units.get(*at) {
        let rest = units.get(*at..).unwrap_or_default();
        let digits = match whole_number(rest) {
            Some((number, length)) => Some((number.to_string(), length)),
            None if unit.is_number => Some((unit.text.clone(), 1)),
            None if matches!(unit.text.as_str(), "oh" | "o") => Some(("0".to_owned(), 1)),
            None => None,
        };
        let Some((digits, length)) = digits.filter(|(digits, _)| is_first || digits.len() == 1) else { break };
        is_first = false;
        last.text.push_str(&digits);
        last.words.1 = rest.get(length - 1).unwrap_or(unit).words.1;
        *at += length;
    }
}

const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

fn one(units: &[Unit]) -> Option<usize> {
    match units.first()?.text.as_str() {
        "niner" => Some(9),
        word => ONES.iter().position(|one| *one == word),
    }
}

fn one_digit(units: &[Unit]) -> Option<String> {
    let unit = units.first()?;
    if unit.is_number && unit.text.len() == 1 {
        return Some(unit.text.clone());
    }
    if matches!(unit.text.as_str(), "oh" | "o") {
        return Some("0".to_owned());
    }
    one(units).filter(|one| *one < 10).map(|one| one.to_string())
}

/// The number at the start of the units, and its length.
pub(crate) fn below_hundred(units: &[Unit]) -> Option<(usize, usize)> {
    if let Some(one) = one(units) {
        return Some((one, 1));
    }
    let tens = 10 * (2 + TENS.iter().position(|tens| *tens == word(units, 0))?);
    match one(units.get(1..).unwrap_or_default()).filter(|one| (1..10).contains(one)) {
        Some(one) => Some((tens + one, 2)),
        None => Some((tens, 1)),
    }
}

fn below_thousand(units: &[Unit]) -> Option<(usize, usize)> {
    with_multiple(units, ("hundred", 100), below_hundred)
}

fn below_million(units: &[Unit]) -> Option<(usize, usize)> {
    with_multiple(units, ("thousand", 1_000), below_thousand)
}

pub(crate) fn whole_number(units: &[Unit]) -> Option<(usize, usize)> {
    with_multiple(units, ("million", 1_000_000), below_million)
}

type Reader = fn(&[Unit]) -> Option<(usize, usize)>;

/// A number with a multiple such as `hundred`: the number before it is multiplied, and the number after it is added, as in
/// `four hundred and six`.
fn with_multiple(units: &[Unit], (multiple, factor): (&str, usize), below: Reader) -> Option<(usize, usize)> {
    let (count, length) = below(units).or_else(|| count_before(units, multiple))?;
    if word(units, length) != multiple || count == 0 {
        return Some((count, length));
    }
    let length = length + 1;
    let and = usize::from(word(units, length) == "and");
    let after = units.get(length + and..).unwrap_or_default();
    // A second number with the same multiple is a separate number.
    match below(after) {
        // Single digits after it are not added: `eight hundred, five five five`.
        Some((rest, more)) if and == 0 && rest < 10 && is_digit(after.get(more..).unwrap_or_default()) => {
            Some((count * factor, length))
        }
        Some((rest, more)) if rest < factor && rest > 0 && word(after, more) != multiple => {
            Some((count * factor + rest, length + and + more))
        }
        _ => Some((count * factor, length)),
    }
}

fn is_digit(units: &[Unit]) -> bool {
    matches!(word(units, 0), "oh" | "o") || below_hundred(units).is_some_and(|(number, _)| number < 10)
}

/// The count before a multiple that is not a number word: `a hundred`, `12 hundred`.
fn count_before(units: &[Unit], multiple: &str) -> Option<(usize, usize)> {
    let first = units.first().filter(|_| word(units, 1) == multiple)?;
    let count = if first.text == "a" { 1 } else { first.text.parse().ok().filter(|_| first.is_number)? };
    (1..1000).contains(&count).then_some((count, 1))
}
