//! `first` and `1st` are one word, as far as the days of a month go.

use crate::units::{Unit, word};

const FIRSTS: [&str; 19] = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
];

/// Ordinal words as they are written with digits.
pub(crate) fn ordinals(units: &[Unit]) -> Vec<Unit> {
    let mut written = Vec::with_capacity(units.len());
    let mut at = 0;
    while let Some(unit) = units.get(at) {
        let rest = units.get(at..).unwrap_or_default();
        match ordinal(rest).filter(|_| !unit.is_number) {
            Some((number, length)) if FIRSTS.contains(&word(rest, length - 1)) || length == 1 => {
                let last = rest.get(length - 1).unwrap_or(unit);
                let text = format!("{number}{}", suffix(number));
                written.push(Unit { text, words: (unit.words.0, last.words.1), ..unit.clone() });
                at += length;
            }
            _ => {
                written.push(unit.clone());
                at += 1;
            }
        }
    }
    written
}

/// The ordinal number that the units begin with, and how many they are: `first`, `1st`, `twenty first`.
pub(crate) fn ordinal(units: &[Unit]) -> Option<(usize, usize)> {
    let first = word(units, 0);
    if let Some(place) = FIRSTS.iter().position(|one| *one == first) {
        return Some((place + 1, 1));
    }
    let ones = |at: usize| FIRSTS.iter().take(9).position(|one| *one == word(units, at)).map(|place| place + 1);
    match first {
        "twentieth" => Some((20, 1)),
        "thirtieth" => Some((30, 1)),
        "twenty" => ones(1).map(|one| (20 + one, 2)),
        "thirty" => ones(1).map(|one| (30 + one, 2)),
        written => {
            let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| written.strip_suffix(end))?;
            let number: usize = digits.parse().ok().filter(|_| digits.len() <= 2)?;
            (written == format!("{number}{}", suffix(number))).then_some((number, 1))
        }
    }
}

fn suffix(number: usize) -> &'static str {
    match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}
