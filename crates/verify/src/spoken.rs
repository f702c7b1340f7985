//! Text as it is said: case, accents, punctuation and spacing do not count, numbers are equal however they are said
//! ("4 5 6", "456", "four fifty-six"), and letters may be spelled ("Bravo", "B as in boy").
//!
//! A phrase is found at whole words only. Digits said one by one are one number: "456" is not in "3 4 5 6".

use crate::budget::Budget;

/// What was said, as it stands and with its spelled letters put together.
pub(crate) struct Said {
    readings: Vec<Reading>,
}

/// Letters and digits without spaces; where words start and end, and which word of the text each byte is of.
struct Reading {
    text: String,
    starts: Vec<bool>,
    ends: Vec<bool>,
    words: Vec<(usize, usize)>,
}

/// The words of the text, counted from 0, that a phrase was found in.
pub(crate) type Hit = (usize, usize);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    text: String,
    is_number: bool,
    words: (usize, usize),
}

impl Said {
    pub(crate) fn new(text: &str, budget: &Budget) -> Result<Self, String> {
        budget.spend(4 * text.len() + 1)?;
        let units = units(text);
        let spelled = letters(&units);
        let mut readings = vec![Reading::new(numbers(&units))];
        if spelled != units {
            readings.push(Reading::new(numbers(&spelled)));
        }
        Ok(Self { readings })
    }

    /// The first place of the phrase after a word.
    pub(crate) fn find(&self, phrase: &str, after: Option<usize>, budget: &Budget) -> Result<Option<Hit>, String> {
        let mut found: Option<Hit> = None;
        for wanted in wanted(phrase) {
            for reading in &self.readings {
                let hit = reading.find(&wanted, after, budget)?;
                found = [found, hit].into_iter().flatten().min();
            }
        }
        Ok(found)
    }
}

/// The phrase as it stands, and as letters if it is spelled.
fn wanted(phrase: &str) -> Vec<String> {
    let joined = |units: &[Unit]| numbers(units).into_iter().map(|unit| unit.text).collect::<String>();
    let units = units(phrase);
    let spelled = letters(&units);
    let is_spelled = spelled.iter().filter(|unit| unit.text.chars().count() == 1).count() > 1 && spelled != units;
    let mut wanted = vec![joined(&units)];
    if is_spelled {
        wanted.push(joined(&spelled));
    }
    wanted.retain(|text| !text.is_empty());
    wanted
}

impl Reading {
    fn new(units: Vec<Unit>) -> Self {
        let length = units.iter().map(|unit| unit.text.len()).sum();
        let mut reading = Self {
            text: String::with_capacity(length),
            starts: vec![false; length + 1],
            ends: vec![false; length + 1],
            words: Vec::with_capacity(length),
        };
        for unit in units {
            reading.starts[reading.text.len()] = true;
            reading.text.push_str(&unit.text);
            reading.ends[reading.text.len()] = true;
            reading.words.resize(reading.text.len(), unit.words);
        }
        reading
    }

    fn find(&self, wanted: &str, after: Option<usize>, budget: &Budget) -> Result<Option<Hit>, String> {
        budget.spend(self.text.len())?;
        let is_later = |at: &usize| after.is_none_or(|after| self.words[*at].0 > after);
        for at in (0..self.text.len()).filter(|at| self.starts[*at]).filter(is_later) {
            let end = at + wanted.len();
            budget.spend(1)?;
            if self.ends.get(end) == Some(&true) && self.text.get(at..end) == Some(wanted) {
                return Ok(Some((self.words[at].0, self.words[end - 1].1)));
            }
        }
        Ok(None)
    }
}

/// Runs of letters and digits. A point between digits stays, a comma between thousands goes.
fn units(text: &str) -> Vec<Unit> {
    let letters: Vec<char> = fhir::search::fold(text).chars().collect();
    let mut units = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        if !letters[at].is_alphanumeric() {
            at += 1;
            continue;
        }
        let end = run_end(&letters, at, |c| c.is_alphanumeric());
        let is_number = letters[at..end].iter().all(char::is_ascii_digit);
        let (written, end) =
            if is_number { written_number(&letters, at, end) } else { (letters[at..end].iter().collect(), end) };
        units.push(Unit { text: written, is_number, words: (units.len(), units.len()) });
        at = end;
    }
    units
}

fn run_end(letters: &[char], at: usize, is_meant: impl Fn(char) -> bool) -> usize {
    at + letters[at..].iter().take_while(|c| is_meant(**c)).count()
}

fn written_number(letters: &[char], start: usize, end: usize) -> (String, usize) {
    let digits_after = |sign: char, at: usize| {
        let after = run_end(letters, (at + 1).min(letters.len()), |c| c.is_ascii_digit());
        let is_word = letters.get(after).is_some_and(|c| c.is_alphanumeric());
        (letters.get(at) == Some(&sign) && after > at + 1 && !is_word).then_some(after)
    };
    let mut text: String = letters[start..end].iter().collect();
    let mut end = end;
    let may_have_thousands = text.len() <= 3;
    while let Some(after) = digits_after(',', end).filter(|after| may_have_thousands && after - end == 4) {
        text.extend(&letters[end + 1..after]);
        end = after;
    }
    let follows_point = start >= 2 && letters[start - 1] == '.' && letters[start - 2].is_ascii_digit();
    if let Some(after) = digits_after('.', end).filter(|after| !follows_point && digits_after('.', *after).is_none()) {
        text.extend(&letters[end..after]);
        end = after;
    }
    (text, end)
}

const ALPHABET: [&str; 29] = [
    "alpha", "alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "juliett",
    "kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor",
    "whiskey", "whisky", "xray", "yankee", "zulu",
];

/// Spelled letters as letters: `bravo`, `x ray`, `b as in boy`, `b for boy`, `b like boy`.
fn letters(units: &[Unit]) -> Vec<Unit> {
    let mut spelled = Vec::with_capacity(units.len());
    let mut at = 0;
    while at < units.len() {
        let length = spelled_length(&units[at..]);
        let unit = &units[at];
        let text = if length > 0 { unit.text.chars().take(1).collect() } else { unit.text.clone() };
        let last = at + length.max(1) - 1;
        spelled.push(Unit { text, is_number: unit.is_number, words: (unit.words.0, units[last].words.1) });
        at = last + 1;
    }
    spelled
}

/// How many words spell one letter here.
fn spelled_length(units: &[Unit]) -> usize {
    let word = |at: usize| units.get(at).map_or("", |unit| unit.text.as_str());
    let is_letter = word(0).chars().count() == 1 && !units.first().is_some_and(|unit| unit.is_number);
    let starts_so = |at: usize| word(at).chars().count() > 1 && word(at).starts_with(word(0));
    match (word(1), word(2)) {
        ("ray", _) if word(0) == "x" => 2,
        ("as", "in") if is_letter && starts_so(3) => 4,
        ("for" | "like", _) if is_letter && starts_so(2) => 3,
        _ => usize::from(ALPHABET.contains(&word(0))),
    }
}

/// Number words as digits, and digits said one by one as one number.
fn numbers(units: &[Unit]) -> Vec<Unit> {
    let said = said_numbers(units);
    let mut joined: Vec<Unit> = Vec::with_capacity(said.len());
    let mut was_digit = false;
    for unit in said {
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
    joined
}

fn said_numbers(units: &[Unit]) -> Vec<Unit> {
    let mut said: Vec<Unit> = Vec::with_capacity(units.len());
    let mut at = 0;
    while at < units.len() {
        let is_after_number = said.last().is_some_and(|last| last.is_number);
        let is_before_number =
            units.get(at + 1).is_some_and(|next| next.is_number || below_hundred(&units[at + 1..]).is_some());
        let (texts, length) = match units[at].text.as_str() {
            "oh" | "o" if is_after_number || is_before_number => (vec!["0".to_owned()], 1),
            times @ ("double" | "triple") if one_digit(&units[at + 1..]).is_some() => {
                let digit = one_digit(&units[at + 1..]).unwrap_or_default();
                (vec![digit; if times == "double" { 2 } else { 3 }], 2)
            }
            "point" if is_after_number && is_before_number => {
                at += 1;
                join_decimals(&mut said, units, &mut at);
                continue;
            }
            _ => match whole_number(&units[at..]) {
                Some((number, length)) => (vec![number.to_string()], length),
                None => (Vec::new(), 1),
            },
        };
        let words = (units[at].words.0, units[at + length - 1].words.1);
        if texts.is_empty() {
            said.push(units[at].clone());
        }
        said.extend(texts.into_iter().map(|text| Unit { text, is_number: true, words }));
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
        let digits = match whole_number(&units[*at..]) {
            Some((number, length)) => Some((number.to_string(), length)),
            None if unit.is_number => Some((unit.text.clone(), 1)),
            None => None,
        };
        let Some((digits, length)) = digits.filter(|(digits, _)| is_first || digits.len() == 1) else { break };
        is_first = false;
        last.text.push_str(&digits);
        last.words.1 = units[*at + length - 1].words.1;
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
    let word = units.first()?.text.as_str();
    if word == "niner" { Some(9) } else { ONES.iter().position(|one| *one == word) }
}

fn one_digit(units: &[Unit]) -> Option<String> {
    let unit = units.first()?;
    if unit.is_number && unit.text.len() == 1 {
        return Some(unit.text.clone());
    }
    one(units).filter(|one| *one < 10).map(|one| one.to_string())
}

/// The number and how many words it takes.
fn below_hundred(units: &[Unit]) -> Option<(usize, usize)> {
    if let Some(one) = one(units) {
        return Some((one, 1));
    }
    let tens = 10 * (2 + TENS.iter().position(|tens| *tens == units.first().map_or("", |unit| &unit.text))?);
    match one(&units[1..]).filter(|one| (1..10).contains(one)) {
        Some(one) => Some((tens + one, 2)),
        None => Some((tens, 1)),
    }
}

fn below_thousand(units: &[Unit]) -> Option<(usize, usize)> {
    with_multiple(units, "hundred", 100, below_hundred, below_hundred)
}

fn whole_number(units: &[Unit]) -> Option<(usize, usize)> {
    with_multiple(units, "thousand", 1_000, below_thousand, below_thousand)
}

type Reader = fn(&[Unit]) -> Option<(usize, usize)>;

/// `four hundred and six`: what stands before the word counts so many times, and what stands after it is added.
fn with_multiple(units: &[Unit], word: &str, times: usize, before: Reader, after: Reader) -> Option<(usize, usize)> {
    let (count, length) = before(units)?;
    let is_multiple = units.get(length).is_some_and(|unit| unit.text == word);
    if !is_multiple || count == 0 {
        return Some((count, length));
    }
    let length = length + 1;
    let and = usize::from(units.get(length).is_some_and(|unit| unit.text == "and"));
    match after(&units[(length + and).min(units.len())..]) {
        Some((rest, more)) if rest < times && rest > 0 => Some((count * times + rest, length + and + more)),
        _ => Some((count * times, length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_said(phrase: &str, text: &str) -> bool {
        let budget = Budget::new();
        Said::new(text, &budget).and_then(|said| said.find(phrase, None, &budget)).expect("within the budget").is_some()
    }

    #[test]
    fn phrases_are_found_however_they_are_said() {
        for (phrase, text) in [
            ("date of birth", "What is your DATE-of-birth?"),
            ("Müller", "this is mu\u{308}ller speaking"),
            ("456", "it is 4 5 6"),
            ("456", "it is four five six."),
            ("456", "it is four fifty-six"),
            ("456", "it is four hundred and fifty six"),
            ("4 5 6", "456"),
            ("four fifty-six", "456"),
            ("four fifty-six", "4-5-6"),
            ("2026", "in two thousand twenty-six"),
            ("2026", "twenty twenty six"),
            ("1,200", "twelve hundred"),
            ("1200", "one thousand two hundred"),
            ("123456789", "123,456,789"),
            ("105", "one oh five"),
            ("5500", "double five zero zero"),
            ("7.4", "seven point four"),
            ("7.45", "seven point four five units"),
            ("A1C", "a 1 c"),
            ("XYZ123", "X-ray Yankee Zulu one two three"),
            ("XYZ123", "x y z 1 2 3"),
            ("XB9", "X as in Xylophone, B for boy, niner"),
            ("alpha bravo", "A, B"),
            ("alpha bravo", "Alpha Bravo"),
            ("Victor", "my name is Victor"),
            ("don't", "dont"),
            ("555-010-0199", "five five five oh one oh oh one nine nine"),
        ] {
            assert!(is_said(phrase, text), "{phrase:?} in {text:?}");
        }
    }

    #[test]
    fn other_words_are_not_the_phrase() {
        for (phrase, text) in [
            ("456", "14567"),
            ("456", "3 4 5 6"),
            ("456", "4 5 7"),
            ("XYZ123", "XYZ1234"),
            ("7.4", "74"),
            ("74", "7.4"),
            ("art", "party"),
            ("date of birth", "date of the birth"),
            ("yes", ""),
            ("Victor", "v"),
            ("one", "someone"),
        ] {
            assert!(!is_said(phrase, text), "{phrase:?} in {text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(phrase in ".*", text in ".*",
            words in "(one |oh |double |point |hundred |thousand |and |x |ray |as |in |b |[0-9,.]{1,5} |twenty |niner ){0,12}") {
            is_said(&phrase, &text);
            is_said(&words, &text);
            is_said(&phrase, &words);
            proptest::prop_assert!(words.trim_matches([' ', ',', '.']).is_empty() || is_said(&words, &words), "{words:?}");
        }
    }
}
