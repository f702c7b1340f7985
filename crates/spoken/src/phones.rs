//! Finds phone numbers in written or spoken text.

use crate::numbers::numbers;
use crate::units::{Unit, units_with_spans};

/// Digits of a number with its area code.
const NATIONAL: usize = 10;
/// Digits of a number without its area code.
const LOCAL: usize = 7;
/// Words between digits.
const BETWEEN: [&str; 6] = ["dash", "hyphen", "minus", "dot", "space", "then"];
/// The maximum number of parts of a phone number.
const MAX_PARTS: usize = 10;

/// The phone numbers in a text, sorted: `+` and all digits of a number with a country code, else the ten digits of a North
/// American number, or the seven digits of one without an area code.
///
/// `608-555-0142`, `(608) 555 0142`, `6085550142` and "six oh eight, five five five, oh one four two" are the same number.
/// Ten digits in uniform groups (`60 85 55 01 42`, `60855 50142`, `6085 550 142`) also count, unless they are separated by a
/// comma or a slash, or a group is a year.
pub fn phone_numbers(text: &str) -> Vec<String> {
    let international = international(text);
    let mut found = Vec::new();
    let parts = parts(text);
    let mut at = 0;
    while at < parts.len() {
        let rest = parts.get(at..).unwrap_or_default();
        if let Some((number, count)) = number_at(rest) {
            found.push(number);
            at += count;
        } else {
            at += 1;
        }
    }
    // The last digits of a number with another country code do not count as a separate number.
    found.retain(|number: &String| !international.iter().any(|whole| whole.ends_with(number.as_str())));
    found.extend(international);
    found.sort();
    found.dedup();
    found
}

/// A group of digits. An empty one represents a word between groups.
struct Part {
    digits: String,
    /// Whether a comma or a slash is before it, as in a list of values.
    is_listed: bool,
}

fn parts(text: &str) -> Vec<Part> {
    let chars: Vec<char> = fhir::search::fold(text).chars().collect();
    let units_with_spans = units_with_spans(&chars);
    let is_listed = |word: usize| {
        let end = word.checked_sub(1).and_then(|before| units_with_spans.get(before)).map(|(_, span)| span.end);
        let start = units_with_spans.get(word).map(|(_, span)| span.start);
        let between = end.zip(start).and_then(|(end, start)| chars.get(end..start)).unwrap_or_default();
        between.iter().any(|c| matches!(c, ',' | '/'))
    };
    let units: Vec<Unit> = units_with_spans.iter().map(|(unit, _)| unit.clone()).collect();
    let mut parts = Vec::new();
    for unit in numbers(&units).iter().filter(|unit| !BETWEEN.contains(&unit.text.as_str())) {
        if unit.is_number && unit.date.is_none() {
            let is_listed = is_listed(unit.words.0);
            parts.extend(unit.text.split('.').map(|digits| Part { digits: digits.to_owned(), is_listed }));
        } else {
            parts.push(Part { digits: String::new(), is_listed: false });
        }
    }
    parts
}

/// The number that starts with the first part, and how many parts it has.
fn number_at(parts: &[Part]) -> Option<(String, usize)> {
    let is_digits = |part: &&Part| !part.digits.is_empty() && part.digits.bytes().all(|byte| byte.is_ascii_digit());
    let run: Vec<&Part> = parts.iter().take(MAX_PARTS + 1).take_while(is_digits).collect();
    let (first, country) = match run.first()?.digits.as_str() {
        "1" => (1, ""),
        _ => (0, "1"),
    };
    let rest = run.get(first..).unwrap_or_default();
    // One part may include the country code.
    if let Some(whole) = rest.first().filter(|part| part.digits.len() == NATIONAL + 1) {
        let national = whole.digits.strip_prefix(country).filter(|_| first == 0)?;
        return is_national(national).then(|| (national.to_owned(), 1));
    }
    let long = grouped(rest, NATIONAL, &[3, 6]).filter(|(digits, _)| is_national(digits));
    let short = || grouped(rest, LOCAL, &[3]).filter(|(digits, count)| *count > 1 && is_exchange(digits));
    long.or_else(|| uniform_groups(rest)).or_else(short).map(|(digits, count)| (digits, first + count))
}

/// Ten digits in uniform groups at the start of the parts: one, two or five digits each, or three and four.
fn uniform_groups(parts: &[&Part]) -> Option<(String, usize)> {
    let mut digits = String::new();
    let count = parts.iter().position(|part| {
        digits.push_str(&part.digits);
        digits.len() >= NATIONAL
    })? + 1;
    let group = parts.get(..count)?;
    let is_year =
        |part: &&Part| part.digits.len() == 4 && (part.digits.starts_with("19") || part.digits.starts_with("20"));
    let has_form = [1..=1, 2..=2, 3..=4, 5..=5]
        .iter()
        .any(|lengths| group.iter().all(|part| lengths.contains(&part.digits.len()) && !is_year(part)));
    let is_list = group.iter().skip(1).any(|part| part.is_listed);
    (has_form && !is_list && digits.len() == NATIONAL && is_national(&digits)).then_some((digits, count))
}

/// The given number of digits, from whole parts. Several parts must be split at the first boundary, and at the others unless
/// there are only two parts.
fn grouped(parts: &[&Part], length: usize, boundaries: &[usize]) -> Option<(String, usize)> {
    let mut digits = String::new();
    let mut ends = Vec::new();
    for part in parts {
        digits.push_str(&part.digits);
        ends.push(digits.len());
        if digits.len() >= length {
            break;
        }
    }
    let is_whole = ends.len() == 1;
    let has_boundaries = match boundaries {
        [first, rest @ ..] => ends.contains(first) && (ends.len() == 2 || rest.iter().all(|end| ends.contains(end))),
        [] => true,
    };
    (digits.len() == length && (is_whole || has_boundaries)).then_some((digits, ends.len()))
}

/// Whether the area and exchange codes start with 2 to 9.
fn is_national(digits: &str) -> bool {
    is_exchange(digits) && digits.get(3..).is_some_and(is_exchange)
}

fn is_exchange(digits: &str) -> bool {
    digits.bytes().next().is_some_and(|byte| (b'2'..=b'9').contains(&byte))
}

/// Numbers with `+` and a country code other than 1.
fn international(text: &str) -> Vec<String> {
    let numbers = text.split('+').skip(1).map(|after| {
        let is_part = |c: &char| c.is_ascii_digit() || matches!(c, ' ' | '(' | ')' | '-' | '.' | '/' | '\u{a0}');
        after.chars().take_while(is_part).filter(char::is_ascii_digit).take(15).collect::<String>()
    });
    let numbers = numbers.filter(|digits| digits.len() >= 8 && !digits.starts_with(['0', '1']));
    numbers.map(|digits| format!("+{digits}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_found_in_all_spellings() {
        for (text, expected) in [
            ("Call 608-555-0142.", &["6085550142"][..]),
            ("Call (608) 555-0142 today", &["6085550142"]),
            ("608.555.0142", &["6085550142"]),
            ("6085550142", &["6085550142"]),
            ("+1 608 555 0142", &["6085550142"]),
            ("16085550142", &["6085550142"]),
            ("1-608-555-0142", &["6085550142"]),
            ("608 5550142", &["6085550142"]),
            ("six oh eight five five five oh one four two", &["6085550142"]),
            ("608 555 0142 or 900 555 0169", &["6085550142", "9005550169"]),
            ("9 608 555 0142", &["6085550142"]),
            ("our line 555-0142", &["5550142"]),
            ("+44 20 7946 0958", &["+442079460958"]),
            ("due 2026-04-07 at 10:30", &[]),
            ("2026 04 07 10 30", &[]),
            ("MRN 20011034, filler 5550142", &[]),
            ("110 555 0142", &["5550142"]),
            ("take 2 tablets 3 times", &[]),
            ("call 90 05 55 01 69 now", &["9005550169"]),
            ("call 9 0 0 - 5 5 5 - 0 1 6 9", &["9005550169"]),
            ("9005 550 169", &["9005550169"]),
            ("nine zero zero dash five five five dash zero one six nine", &["9005550169"]),
            ("nine hundred dash five five five dash oh one six nine", &["9005550169"]),
            ("1 90 05 55 01 69", &["9005550169"]),
            ("call 90 05 55 01 69 24 hours a day", &["9005550169"]),
            ("room 12, call 90 05 55 01 69", &["9005550169"]),
            ("90055 50169", &["9005550169"]),
            ("BP 210/90, 118/76", &[]),
            ("212, 98, 345, 87", &[]),
            ("212 98 345 87", &[]),
            ("2026 04 07 10", &[]),
            ("", &[]),
        ] {
            let found = phone_numbers(text);
            assert_eq!(found, expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_written_number_is_found_in_any_text(
            before in "[a-z ]{0,20}", after in "[a-z ]{0,20}", area in 200_u16..1000, exchange in 200_u16..1000,
            line in 0_u16..10_000, separator in prop::sample::select(vec!["", " ", "-", "."]),
        ) {
            let number = format!("{area}{separator}{exchange}{separator}{line:04}");
            let digits = format!("{area}{exchange}{line:04}");
            let text = format!("{before} x {number} x {after}");
            prop_assert!(phone_numbers(&text).contains(&digits));
        }

        #[test]
        fn any_text_is_read(text in "\\PC{0,80}") {
            phone_numbers(&text);
        }
    }
}
