//! Recognizes ordinal numbers up to 39: `first` and `1st` are equal.

use crate::units::{Unit, word};

const ORDINAL_WORDS: [&str; 19] = [
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

/// Replaces ordinal words by digits with a suffix.
pub(crate) fn ordinals(units: &[Unit]) -> Vec<Unit> {
    let mut numeric = Vec::with_capacity(units.len());
    let mut at = 0;
    while let Some(unit) = units.get(at) {
        let rest = units.get(at..).unwrap_or_default();
        match ordinal(rest).filter(|_| !unit.is_number) {
            Some((number, length)) if ORDINAL_WORDS.contains(&word(rest, length - 1)) || length == 1 => {
                let last = rest.get(length - 1).unwrap_or(unit);
                let text = format!("{number}{}", suffix(number));
                numeric.push(Unit { text, words: (unit.words.0, last.words.1), ..unit.clone() });
                at += length;
            }
            _ => {
                numeric.push(unit.clone());
                at += 1;
            }
        }
    }
    numeric
}

/// The ordinal number at the start of the units, and its length: `first`, `1st`, `twenty first`.
pub(crate) fn ordinal(units: &[Unit]) -> Option<(usize, usize)> {
    let first = word(units, 0);
    if let Some(index) = ORDINAL_WORDS.iter().position(|one| *one == first) {
        return Some((index + 1, 1));
    }
    let ones = |at: usize| ORDINAL_WORDS.iter().take(9).position(|one| *one == word(units, at)).map(|index| index + 1);
    match first {
        "twentieth" => Some((20, 1)),
        "thirtieth" => Some((30, 1)),
        "twenty" => ones(1).map(|one| (20 + one, 2)),
        "thirty" => ones(1).map(|one| (30 + one, 2)),
        numeric => {
            let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| numeric.strip_suffix(end))?;
            let number: usize = digits.parse().ok().filter(|_| digits.len() <= 2)?;
            (numeric == format!("{number}{}", suffix(number))).then_some((number, 1))
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
