//! Finds phrases in spoken text.
//!
//! A phrase matches whole words only. Single digits are joined to one number: "456" is not in "3 4 5 6".

use crate::dates::{date_at, dates};
use crate::numbers::numbers;
use crate::spelling::spelled_letters;
use crate::units::{Unit, units};

/// A text in several readings: as it is, with spelled letters joined, and with normalized dates.
#[derive(Clone, Debug)]
pub struct SpokenText {
    readings: Vec<Reading>,
}

/// Letters and digits without spaces. By byte: whether a word starts or ends here, and the words of the text that it is from.
#[derive(Clone, Debug)]
struct Reading {
    text: String,
    starts: Vec<bool>,
    ends: Vec<bool>,
    words: Vec<(usize, usize)>,
}

/// The first and last word of an occurrence, counted from 0.
pub type Hit = (usize, usize);

impl SpokenText {
    pub fn new(text: &str) -> Self {
        let units = units(text);
        let readings = readings_of(&units).into_iter().map(|units| Reading::new(numbers(&units)));
        Self { readings: readings.collect() }
    }

    /// The first occurrence of the phrase after a word.
    pub fn find(&self, phrase: &str, after: Option<usize>) -> Option<Hit> {
        let search_texts = search_texts(phrase);
        let hits = self
            .readings
            .iter()
            .flat_map(|reading| search_texts.iter().map(|search_texts| reading.find(search_texts, after)));
        hits.flatten().min()
    }

    pub fn has(&self, phrase: &str) -> bool {
        self.find(phrase, None).is_some()
    }

    /// Whether the whole text is the phrase.
    pub fn is(&self, phrase: &str) -> bool {
        let search_texts = search_texts(phrase);
        self.readings.iter().any(|reading| search_texts.contains(&reading.text))
    }

    /// The cost of searching for one phrase, in characters.
    pub fn length(&self) -> usize {
        self.readings.iter().map(|reading| reading.text.len()).sum()
    }
}

/// The readings of a text.
fn readings_of(units: &[Unit]) -> Vec<Vec<Unit>> {
    let mut readings = vec![units.to_vec()];
    let spelled = spelled_letters(units);
    if spelled != units {
        readings.push(spelled);
    }
    let has_date = (0..units.len()).any(|at| units.get(at..).is_some_and(|rest| date_at(rest).is_some()));
    if has_date {
        readings.push(dates(units));
    }
    readings
}

/// The texts to search for: the phrase as it is, its letters if it is spelled, and the other forms of a date.
fn search_texts(phrase: &str) -> Vec<String> {
    let joined = |units: &[Unit]| numbers(units).into_iter().map(|unit| unit.text).collect::<String>();
    let units = units(phrase);
    let spelled = spelled_letters(&units);
    let is_spelled = spelled.iter().filter(|unit| unit.text.chars().count() == 1).count() > 1 && spelled != units;
    let mut search_texts = vec![joined(&units)];
    if is_spelled {
        search_texts.push(joined(&spelled));
    }
    let dated = dates(&units);
    if (0..units.len()).any(|at| units.get(at..).is_some_and(|rest| date_at(rest).is_some())) {
        search_texts.push(joined(&dated));
    }
    // If the whole phrase is a date, it may also be entered as digits.
    if let Some(found) = date_at(&units).filter(|found| found.length == units.len())
        && let Some(year) = found.year
    {
        let (month, day) = (found.month, found.day);
        search_texts.extend([format!("{month:02}{day:02}{year}"), format!("{year}{month:02}{day:02}")]);
        search_texts.push(format!("{month}{day}{year}"));
    }
    search_texts.retain(|text| !text.is_empty());
    search_texts.dedup();
    search_texts
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
            set(&mut reading.starts, reading.text.len());
            reading.text.push_str(&unit.text);
            set(&mut reading.ends, reading.text.len());
            reading.words.resize(reading.text.len(), unit.words);
        }
        reading
    }

    fn find(&self, search_texts: &str, after: Option<usize>) -> Option<Hit> {
        let is_later = |at: usize| after.is_none_or(|after| self.words.get(at).is_some_and(|words| words.0 > after));
        let starts = self.starts.iter().enumerate().filter(|(_, starts)| **starts).map(|(at, _)| at);
        starts.filter(|at| is_later(*at)).find_map(|at| {
            let end = at + search_texts.len();
            let is_here = self.ends.get(end) == Some(&true) && self.text.get(at..end) == Some(search_texts);
            is_here.then(|| Some((self.words.get(at)?.0, self.words.get(end - 1)?.1))).flatten()
        })
    }
}

fn set(flags: &mut [bool], at: usize) {
    if let Some(flag) = flags.get_mut(at) {
        *flag = true;
    }
}

#[cfg(test)]
mod tests {
    use crate::SpokenText;

    fn occurs(phrase: &str, text: &str) -> bool {
        SpokenText::new(text).has(phrase)
    }

    #[test]
    fn phrases_are_found_in_all_spellings() {
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
            assert!(occurs(phrase, text), "{phrase:?} in {text:?}");
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
            assert!(!occurs(phrase, text), "{phrase:?} in {text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(phrase in ".*", text in ".*",
            words in "(one |oh |double |point |hundred |thousand |and |x |ray |as |in |b |[0-9,.]{1,5} |twenty |niner ){0,12}") {
            occurs(&phrase, &text);
            occurs(&words, &text);
            occurs(&phrase, &words);
            proptest::prop_assert!(words.trim_matches([' ', ',', '.']).is_empty() || occurs(&words, &words), "{words:?}");
        }
    }
}
