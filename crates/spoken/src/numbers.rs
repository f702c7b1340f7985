//! Number words as digits.

use crate::money::amounts;
use crate::ordinals::ordinals;
use crate::units::{Unit, word};

/// Number words as digits, digits said one by one as one number, and amounts in one form.
pub(crate) fn numbers(units: &[Unit]) -> Vec<Unit> {
    let mut joined: Vec<Unit> = Vec::with_capacity(units.len());
    let mut was_digit = false;
    for unit in said_numbers(&ordinals(units)) {
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
    spelled(&amounts(&joined))
}

/// As many letters in a row are a word that is spelled.
const SPELLED: usize = 3;

/// Letters said one by one as one word, as digits are one number: `STON` is not in `S T O N E`.
pub(crate) fn spelled(units: &[Unit]) -> Vec<Unit> {
    let mut words: Vec<Unit> = Vec::with_capacity(units.len());
    for run in units.chunk_by(|left, right| left.is_letter() && right.is_letter()) {
        match run {
            [first, .., last] if run.len() >= SPELLED => {
                let text: String = run.iter().map(|unit| unit.text.as_str()).collect();
                words.push(Unit::word(&text, (first.words.0, last.words.1)));
            }
            _ => words.extend_from_slice(run),
        }
    }
    words
}

/// Number words as digits; digits that were said one by one stay apart.
pub(crate) fn said_numbers(units: &[Unit]) -> Vec<Unit> {
    let mut said: Vec<Unit> = Vec::with_capacity(units.len());
    let mut at = 0;
    while let Some(unit) = units.get(at) {
        let (rest, after) = (units.get(at..).unwrap_or_default(), units.get(at + 1..).unwrap_or_default());
        let is_after_number = said.last().is_some_and(|last| last.is_number);
        let is_before_number = after.first().is_some_and(|next| next.is_number) || below_hundred(after).is_some();
        let (texts, length) = match (unit.text.as_str(), one_digit(after)) {
            ("oh" | "o", _) if is_after_number || is_before_number => (vec!["0".to_owned()], 1),
            ("double", Some(digit)) => (vec![digit; 2], 2),
            ("triple", Some(digit)) => (vec![digit; 3], 2),
            ("point" | "dot", _) if is_after_number && is_before_number => {
                at += 1;
                join_decimals(&mut said, units, &mut at);
                continue;
            }
            _ => match whole_number(rest) {
                Some((number, length)) => (vec![number.to_string()], length),
                None => (Vec::new(), 1),
            },
        };
        let words = (unit.words.0, rest.get(length - 1).unwrap_or(unit).words.1);
        if texts.is_empty() {
            said.push(unit.clone());
        }
        said.extend(texts.into_iter().map(|text| Unit::number(text, words)));
        at += length;
    }
    said
}

/// `seven point four five`: the digits after `point` belong to the number before it.
fn join_decimals(said: &mut [Unit], units: &[Unit], at: &mut usize) {
    let Some(last) = said.last_mut() else { return };
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

/// The number and how many words it takes.
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

/// `four hundred and six`: what stands before the word counts so many times, and what stands after it is added.
fn with_multiple(units: &[Unit], (multiple, times): (&str, usize), below: Reader) -> Option<(usize, usize)> {
    let (count, length) = below(units).or_else(|| lone(units, multiple))?;
    if word(units, length) != multiple || count == 0 {
        return Some((count, length));
    }
    let length = length + 1;
    let and = usize::from(word(units, length) == "and");
    let after = units.get(length + and..).unwrap_or_default();
    // What has the multiple itself is a number of its own.
    match below(after) {
        // Digits after it are said one by one: `eight hundred, five five five`.
        Some((rest, more)) if and == 0 && rest < 10 && is_digit(after.get(more..).unwrap_or_default()) => {
            Some((count * times, length))
        }
        Some((rest, more)) if rest < times && rest > 0 && word(after, more) != multiple => {
            Some((count * times + rest, length + and + more))
        }
        _ => Some((count * times, length)),
    }
}

fn is_digit(units: &[Unit]) -> bool {
    matches!(word(units, 0), "oh" | "o") || below_hundred(units).is_some_and(|(number, _)| number < 10)
}

/// `a hundred`, `12 hundred`: only before the word are they counted.
fn lone(units: &[Unit], multiple: &str) -> Option<(usize, usize)> {
    let first = units.first().filter(|_| word(units, 1) == multiple)?;
    let count = if first.text == "a" { 1 } else { first.text.parse().ok().filter(|_| first.is_number)? };
    (1..1000).contains(&count).then_some((count, 1))
}
