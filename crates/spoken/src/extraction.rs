//! Extracts values from what a person says: digits, dates, names and codes.

use crate::dates::{Date, date_at};
use crate::numbers::{convert_number_words, numbers};
use crate::ordinals::ordinals;
use crate::spelling::spelled_letters;
use crate::units::{Unit, units};

/// Words that people say between digits.
const BETWEEN: [&str; 8] = ["and", "dash", "hyphen", "then", "uh", "um", "er", "space"];

/// The longest sequence of digits: `it's four five six, thanks` is `456`.
pub fn digits(text: &str) -> Option<String> {
    let units = numbers(&units(text));
    let mut rows = vec![String::new()];
    for unit in &units {
        let is_row = unit.is_number && unit.text.bytes().all(|byte| byte.is_ascii_digit());
        match rows.last_mut() {
            Some(row) if is_row => row.push_str(&unit.text),
            Some(row) if !row.is_empty() && !BETWEEN.contains(&unit.text.as_str()) => rows.push(String::new()),
            _ => {}
        }
    }
    // Reversed, because `max_by_key` returns the last of several maxima.
    rows.into_iter().rev().max_by_key(String::len).filter(|row| !row.is_empty())
}

/// The first complete date, in words or digits.
pub fn date(text: &str) -> Option<Date> {
    let units = units(text);
    let in_words = (0..units.len()).find_map(|at| {
        let found = date_at(units.get(at..)?)?;
        Date::new(found.year?, found.month, found.day)
    });
    in_words.or_else(|| in_numbers(&units)).or_else(|| digits(text).and_then(|digits| in_digits(&digits)))
}

/// A date as numbers: `three, one, nineteen eighty`.
fn in_numbers(units: &[Unit]) -> Option<Date> {
    let numbers: Vec<u16> = convert_number_words(&ordinals(units))
        .iter()
        .filter(|unit| unit.is_number)
        .filter_map(|unit| unit.text.parse().ok())
        .collect();
    let small = |number: &u16| u8::try_from(*number).ok();
    match numbers.as_slice() {
        [month, day, year] => Date::new(*year, small(month)?, small(day)?),
        [month, day, century @ (19 | 20), year @ 0..100] => Date::new(100 * century + year, small(month)?, small(day)?),
        _ => None,
    }
}

/// A date as eight digits: `03011980` or `19800301`.
fn in_digits(digits: &str) -> Option<Date> {
    let part = |from: usize, to: usize| digits.get(from..to)?.parse::<u16>().ok();
    let small = |from: usize, to: usize| part(from, to).and_then(|number| u8::try_from(number).ok());
    if digits.len() != 8 {
        return None;
    }
    let keyed = || Date::new(part(4, 8)?, small(0, 2)?, small(2, 4)?);
    keyed().or_else(|| Date::new(part(0, 4)?, small(4, 6)?, small(6, 8)?))
}

/// Phrases before a name.
const BEFORE_A_NAME: [&[&str]; 11] = [
    &["the", "name", "is"],
    &["my", "name", "is"],
    &["the", "patients", "name", "is"],
    &["name", "is"],
    &["this", "is"],
    &["it", "is"],
    &["that", "is"],
    &["i", "am"],
    &["its"],
    &["thats"],
    &["im"],
];

/// A name, with spelled letters joined: `Ada Stone, S T O N E` is `Ada Stone`.
pub fn name(text: &str) -> Option<String> {
    let plain = text.replace(['\'', '’'], "");
    let units = spelled_letters(&units(&plain));
    let words: Vec<&str> = units.iter().filter(|unit| !unit.is_number).map(|unit| unit.text.as_str()).collect();
    let before = BEFORE_A_NAME.iter().find(|before| words.starts_with(before)).map_or(0, |before| before.len());
    let mut parts: Vec<String> = Vec::new();
    let mut was_letter = false;
    for word in words.get(before..).unwrap_or_default() {
        let is_letter = word.chars().count() == 1;
        match parts.last_mut().filter(|_| is_letter && was_letter) {
            Some(spelled) => spelled.push_str(word),
            None => parts.push((*word).to_owned()),
        }
        was_letter = is_letter;
    }
    let mut name_parts: Vec<String> = Vec::new();
    for part in parts {
        // Skips a part that is spelled after it was said.
        if !name_parts.contains(&part) {
            name_parts.push(part);
        }
    }
    let capitalized: Vec<String> = name_parts.iter().map(|part| capitalize(part)).collect();
    (!capitalized.is_empty()).then(|| capitalized.join(" "))
}

fn capitalize(word: &str) -> String {
    let mut spelled_letters = word.chars();
    spelled_letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(spelled_letters).collect())
}

/// Words with a digit, with spelled letters and digits joined: `code J as in John 0 1 2 3` has `J0123`.
pub fn codes(text: &str) -> Vec<String> {
    let units = numbers(&spelled_letters(&units(text)));
    let mut rows: Vec<Vec<&Unit>> = vec![Vec::new()];
    for unit in &units {
        let has_digit = unit.text.bytes().any(|byte| byte.is_ascii_digit());
        // A unit of several words without a digit is spelled.
        if has_digit || unit.is_letter() || unit.words.0 < unit.words.1 {
            if let Some(row) = rows.last_mut() {
                row.push(unit);
            }
        } else {
            rows.push(Vec::new());
        }
    }
    let codes = rows.iter().map(|row| {
        // `a 70551` is not `A70551`.
        let is_article =
            matches!(row.as_slice(), [first, second] if matches!(&*first.text, "a" | "i") && second.text.len() > 2);
        row.iter().skip(usize::from(is_article)).map(|unit| unit.text.to_uppercase()).collect::<String>()
    });
    codes.filter(|code| code.bytes().any(|byte| byte.is_ascii_digit())).collect()
}

/// Letters and digits that may be a number or an identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code {
    /// In capitals, without separators.
    pub text: String,
    /// Whether a label precedes it: `MRN 00412`.
    pub is_labeled: bool,
}

/// Labels of identifiers.
const LABELS: [&str; 12] =
    ["mrn", "id", "number", "no", "record", "member", "chart", "patient", "ssn", "identifier", "account", "subscriber"];
/// The maximum number of parts of a code.
const MAX_PARTS: usize = 10;
const MAX_CODE_LENGTH: usize = 32;

/// All sequences of adjacent parts with digits, joined: `123-45-6789` has `123456789`, and also `12345`.
pub fn all_codes(text: &str) -> Vec<Code> {
    let units = numbers(&spelled_letters(&units(text)));
    let is_part = |unit: &Unit| {
        unit.text.bytes().any(|byte| byte.is_ascii_digit()) || unit.is_letter() || unit.words.0 < unit.words.1
    };
    let mut codes = Vec::new();
    for first in 0..units.len() {
        let before = units.get(first.saturating_sub(2)..first).unwrap_or_default();
        let is_labeled = before.iter().any(|unit| LABELS.contains(&unit.text.as_str()));
        let mut text = String::new();
        for unit in units.iter().skip(first).take(MAX_PARTS).take_while(|unit| is_part(unit)) {
            text.extend(unit.text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase));
            if text.len() > MAX_CODE_LENGTH {
                break;
            }
            if text.bytes().any(|byte| byte.is_ascii_digit()) {
                codes.push(Code { text: text.clone(), is_labeled });
            }
        }
    }
    codes.sort();
    codes.dedup();
    codes
}

/// All complete dates, in words or digits.
pub fn all_dates(text: &str) -> Vec<Date> {
    let units = units(text);
    let in_words = (0..units.len()).filter_map(|at| {
        let found = date_at(units.get(at..)?)?;
        Date::new(found.year?, found.month, found.day)
    });
    let keyed = numbers(&units).into_iter().filter(|unit| unit.is_number).filter_map(|unit| in_digits(&unit.text));
    let mut dates: Vec<Date> = in_words.chain(keyed).collect();
    dates.sort_unstable();
    dates.dedup();
    dates
}

/// The whole text as one word: `W 1 2 dash 3` is `W123`.
pub fn compact(text: &str) -> String {
    numbers(&spelled_letters(&units(text))).iter().map(|unit| unit.text.to_uppercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_extracted() {
        for (text, name_parts) in [
            ("it's four five six, thanks", Some("456")),
            ("456", Some("456")),
            ("my number is 1 2 3 dash 4 5 6", Some("123456")),
            ("two of them have 998877", Some("998877")),
            ("double five, triple seven", Some("55777")),
            ("I don't know", None),
            ("", None),
        ] {
            assert_eq!(digits(text).as_deref(), name_parts, "{text}");
        }
    }

    #[test]
    fn dates_are_extracted() {
        for text in [
            "March first nineteen eighty",
            "it's the 1st of March, 1980",
            "03/01/1980",
            "1980-03-01",
            "3/1/80",
            "three one nineteen eighty",
            "oh three oh one nineteen eighty",
            "03011980",
            "19800301",
        ] {
            assert_eq!(date(text).map(|date| date.iso()).as_deref(), Some("1980-03-01"), "{text}");
        }
        for text in ["", "February 30, 1980", "March first", "13/40/1980", "12345678", "yesterday"] {
            assert_eq!(date(text), None, "{text}");
        }
        assert_eq!(date("feb 29 2024").map(|date| date.in_words()).as_deref(), Some("February 29, 2024"));
    }

    #[test]
    fn all_codes_and_dates_are_found() {
        for (text, code, is_labeled) in [
            ("SSN 123-45-6789", "123456789", true),
            ("it is one two three, four five, six seven eight nine", "123456789", false),
            ("MRN-00412", "00412", true),
            ("the MRN is 00412.", "00412", true),
            ("zip 53703", "53703", false),
            ("member HLX318800274", "HLX318800274", true),
            ("H L X 3 1 8", "HLX318", false),
            ("call (608) 555-0142 today", "6085550142", false),
        ] {
            let found = all_codes(text);
            assert!(found.contains(&Code { text: code.to_owned(), is_labeled }), "{text}: {found:?}");
        }
        assert_eq!(all_codes("nothing here"), []);
        let dates = all_dates("born 3/1/1980, seen on the 2nd of April 2026, keyed 12311999");
        assert_eq!(dates.iter().map(Date::iso).collect::<Vec<_>>(), ["1980-03-01", "1999-12-31", "2026-04-02"]);
    }

    #[test]
    fn names_and_codes_are_extracted() {
        for (text, name_parts) in [
            ("Ada Stone", "Ada Stone"),
            ("My name is Ada Stone, S T O N E", "Ada Stone"),
            ("it's John, S as in Sam, M as in Mary, I, T, H", "John Smith"),
            ("this is bravo oscar", "Bo"),
        ] {
            assert_eq!(name(text).as_deref(), Some(name_parts), "{text}");
        }
        assert_eq!(name(" ?"), None);
        assert_eq!(codes("procedure 7 0 5 5 1 for M54.50 and J as in John 0 1 2 3"), ["70551", "M54.50", "J0123"]);
        assert_eq!(codes("a 70551 please"), ["70551"]);
        assert_eq!(compact("W 1 2 dash 3"), "W123");
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in ".*",
            words in "(one |oh |double |first |of |march |may |19|80 |3/1/|/|-|a |dollars |cents |[0-9]{1,4} |twenty |x |as in ){0,14}") {
            for text in [&text, &words] {
                let _ = (digits(text), date(text), name(text), codes(text), compact(text));
            }
        }
    }
}
