//! Recognizes spelled letters: `bravo`, `x ray`, `b as in boy`, `b for boy`, `double t`.

use crate::numbers::below_hundred;
use crate::units::{Unit, word};

const ALPHABET: [&str; 29] = [
    "alpha", "alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "juliett",
    "kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor",
    "whiskey", "whisky", "xray", "yankee", "zulu",
];

/// Words for separators in a code, which are not part of it.
const SEPARATORS: [&str; 4] = ["dash", "hyphen", "slash", "underscore"];

/// Replaces spelled letters by the letters themselves.
pub(crate) fn spelled_letters(units: &[Unit]) -> Vec<Unit> {
    let mut spelled: Vec<Unit> = Vec::with_capacity(units.len());
    let mut at = 0;
    while let Some(unit) = units.get(at) {
        let rest = units.get(at..).unwrap_or_default();
        if let Some(times) = repetitions(rest) {
            if let Some(letter) = rest.get(1) {
                let words = (unit.words.0, letter.words.1);
                spelled.extend(std::iter::repeat_n(Unit { words, ..letter.clone() }, times));
            }
            at += 2;
            continue;
        }
        if SEPARATORS.contains(&unit.text.as_str()) && spelled.last().is_some_and(is_code_part) {
            at += 1;
            continue;
        }
        let length = spelled_length(rest);
        let last = rest.get(length.max(1) - 1).unwrap_or(unit);
        let text = if length > 0 { unit.text.chars().take(1).collect() } else { unit.text.clone() };
        spelled.push(Unit { text, words: (unit.words.0, last.words.1), ..unit.clone() });
        at += length.max(1);
    }
    spelled
}

fn is_code_part(unit: &Unit) -> bool {
    let is_number = unit.is_number || below_hundred(std::slice::from_ref(unit)).is_some();
    is_number || unit.is_letter() || unit.text.chars().any(|c| c.is_ascii_digit())
}

/// How often the letter after `double` and `triple` is repeated.
fn repetitions(units: &[Unit]) -> Option<usize> {
    let is_letter = units.get(1).is_some_and(Unit::is_letter);
    match word(units, 0) {
        "double" if is_letter => Some(2),
        "triple" if is_letter => Some(3),
        _ => None,
    }
}

/// The number of words that spell the letter at the start of the units. 0 if none is spelled.
fn spelled_length(units: &[Unit]) -> usize {
    let is_letter = units.first().is_some_and(Unit::is_letter);
    let starts_so = |at: usize| word(units, at).chars().count() > 1 && word(units, at).starts_with(word(units, 0));
    match (word(units, 1), word(units, 2)) {
        ("ray", _) if word(units, 0) == "x" => 2,
        ("as", "in") if is_letter && starts_so(3) => 4,
        ("for" | "like", _) if is_letter && starts_so(2) => 3,
        _ => usize::from(ALPHABET.contains(&word(units, 0))),
    }
}
