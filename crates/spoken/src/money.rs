//! Recognizes amounts: `$45.50`, `45 dollars and 50 cents` and `45.50 dollars` are equal.

use crate::units::{Unit, word};

/// Replaces amounts by a number and the word `dollars`. Number words must have been converted to digits before.
pub(crate) fn amounts(units: &[Unit]) -> Vec<Unit> {
    let mut amounts = Vec::with_capacity(units.len());
    let mut at = 0;
    while let Some(unit) = units.get(at) {
        let rest = units.get(at..).unwrap_or_default();
        let Some((amount, length)) = amount(rest).filter(|_| unit.is_number) else {
            amounts.push(unit.clone());
            at += 1;
            continue;
        };
        let words = (unit.words.0, rest.get(length - 1).unwrap_or(unit).words.1);
        amounts.extend([Unit::number(amount, words), Unit::word("dollars", words)]);
        at += length;
    }
    amounts
}

/// The amount at the start of the units, and its length.
fn amount(units: &[Unit]) -> Option<(String, usize)> {
    let number = word(units, 0);
    match word(units, 1) {
        "cents" | "cent" => cents(units, 0).map(|cents| (with_cents("0", cents), 2)),
        "dollars" | "dollar" | "bucks" => {
            // `$45` was already converted to `45 dollars`, and may be followed by another `dollars`.
            let length = if matches!(word(units, 2), "dollars" | "dollar") { 3 } else { 2 };
            let and = usize::from(word(units, length) == "and");
            let has_unit = matches!(word(units, length + and + 1), "cents" | "cent");
            match cents(units, length + and).filter(|_| has_unit && !number.contains('.')) {
                Some(cents) => Some((with_cents(number, cents), length + and + 2)),
                None => Some((without_trailing_zeros(number), length)),
            }
        }
        _ => None,
    }
}

fn cents(units: &[Unit], at: usize) -> Option<u8> {
    let unit = units.get(at).filter(|unit| unit.is_number && unit.text.len() <= 2)?;
    unit.text.parse().ok()
}

fn with_cents(dollars: &str, cents: u8) -> String {
    without_trailing_zeros(&format!("{dollars}.{cents:02}"))
}

/// Removes trailing zeros: `45.50` is `45.5`, `45.00` is `45`.
fn without_trailing_zeros(number: &str) -> String {
    match number.split_once('.') {
        Some(_) => number.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => number.to_owned(),
    }
}
