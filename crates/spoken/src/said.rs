//! Finding a phrase in what was said.
//!
//! A phrase is found at whole words only. Digits said one by one are one number: "456" is not in "3 4 5 6".

use crate::dates::{date_at, dates};
use crate::letters::letters;
use crate::numbers::numbers;
use crate::units::{Unit, units};

/// What was said: as it stands, with its spelled letters put together, and with its dates in one form.
#[derive(Clone, Debug)]
pub struct Said {
    readings: Vec<Reading>,
}

/// Letters and digits without spaces; where words start and end, and which word of the text each byte is of.
#[derive(Clone, Debug)]
struct Reading {
    text: String,
    starts: Vec<bool>,
    ends: Vec<bool>,
    words: Vec<(usize, usize)>,
}

/// The words of the text, counted from 0, that a phrase was found in.
pub type Hit = (usize, usize);

impl Said {
    pub fn new(text: &str) -> Self {
        let units = units(text);
        let readings = variants(&units).into_iter().map(|units| Reading::new(numbers(&units)));
        Self { readings: readings.collect() }
    }

    /// The first place of the phrase after a word.
    pub fn find(&self, phrase: &str, after: Option<usize>) -> Option<Hit> {
        let wanted = wanted(phrase);
        let hits = self.readings.iter().flat_map(|reading| wanted.iter().map(|wanted| reading.find(wanted, after)));
        hits.flatten().min()
    }

    pub fn has(&self, phrase: &str) -> bool {
        self.find(phrase, None).is_some()
    }

    /// Whether nothing else was said.
    pub fn is(&self, phrase: &str) -> bool {
        let wanted = wanted(phrase);
        self.readings.iter().any(|reading| wanted.contains(&reading.text))
    }

    /// What a look for one phrase may cost, in letters.
    pub fn length(&self) -> usize {
        self.readings.iter().map(|reading| reading.text.len()).sum()
    }
}

/// The ways in which words can be read.
fn variants(units: &[Unit]) -> Vec<Vec<Unit>> {
    let mut variants = vec![units.to_vec()];
    let spelled = letters(units);
    if spelled != units {
        variants.push(spelled);
    }
    let has_date = (0..units.len()).any(|at| units.get(at..).is_some_and(|rest| date_at(rest).is_some()));
    if has_date {
        variants.push(dates(units));
    }
    variants
}

/// The phrase as it stands, as letters if it is spelled, and as other ways of saying the date that it is.
fn wanted(phrase: &str) -> Vec<String> {
    let joined = |units: &[Unit]| numbers(units).into_iter().map(|unit| unit.text).collect::<String>();
    let units = units(phrase);
    let spelled = letters(&units);
    let is_spelled = spelled.iter().filter(|unit| unit.text.chars().count() == 1).count() > 1 && spelled != units;
    let mut wanted = vec![joined(&units)];
    if is_spelled {
        wanted.push(joined(&spelled));
    }
    let dated = dates(&units);
    if (0..units.len()).any(|at| units.get(at..).is_some_and(|rest| date_at(rest).is_some())) {
        wanted.push(joined(&dated));
    }
    // A date that is the whole phrase may also be given in digits alone, as keys are pressed.
    if let Some(found) = date_at(&units).filter(|found| found.length == units.len())
        && let Some(year) = found.year
    {
        let (month, day) = (found.month, found.day);
        wanted.extend([format!("{month:02}{day:02}{year}"), format!("{year}{month:02}{day:02}")]);
        wanted.push(format!("{month}{day}{year}"));
    }
    wanted.retain(|text| !text.is_empty());
    wanted.dedup();
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
            mark(&mut reading.starts, reading.text.len());
            reading.text.push_str(&unit.text);
            mark(&mut reading.ends, reading.text.len());
            reading.words.resize(reading.text.len(), unit.words);
        }
        reading
    }

    fn find(&self, wanted: &str, after: Option<usize>) -> Option<Hit> {
        let is_later = |at: usize| after.is_none_or(|after| self.words.get(at).is_some_and(|words| words.0 > after));
        let starts = self.starts.iter().enumerate().filter(|(_, starts)| **starts).map(|(at, _)| at);
        starts.filter(|at| is_later(*at)).find_map(|at| {
            let end = at + wanted.len();
            let is_here = self.ends.get(end) == Some(&true) && self.text.get(at..end) == Some(wanted);
            is_here.then(|| Some((self.words.get(at)?.0, self.words.get(end - 1)?.1))).flatten()
        })
    }
}

fn mark(places: &mut [bool], at: usize) {
    if let Some(place) = places.get_mut(at) {
        *place = true;
    }
}

#[cfg(test)]
mod tests {
    use crate::Said;

    fn is_said(phrase: &str, text: &str) -> bool {
        Said::new(text).has(phrase)
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
