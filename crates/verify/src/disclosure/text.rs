//! A sent text, prepared for searches for names, numbers and dates.

use std::collections::BTreeSet;

use fhir::search::fold;
use spoken::{Code, Date, DisguisedText, SpokenText};

use crate::budget::Budget;

/// A text with folded look-alike characters.
pub(crate) struct SearchedText {
    spoken_text: SpokenText,
    disguised: Option<DisguisedText>,
    /// The folded text, and the positions of its words.
    folded: String,
    words: Vec<(usize, usize)>,
    pub(crate) codes: Vec<Code>,
    pub(crate) dates: Vec<Date>,
    /// Words with an `@`.
    pub(crate) emails: Vec<String>,
}

impl SearchedText {
    pub(crate) fn new(text: &str, budget: &Budget) -> Result<Self, String> {
        budget.spend(40 * text.len() + 1)?;
        let disguised = DisguisedText::new(text);
        let text = spoken::fold_confusables(text);
        let folded = fold(&text);
        let words = words(&folded);
        let is_around = |c: char| !c.is_alphanumeric();
        let emails = text.split_whitespace().filter(|word| word.contains('@'));
        let emails = emails.map(|word| word.trim_matches(is_around).to_owned()).collect();
        let (codes, dates) = (spoken::all_codes(&text), spoken::all_dates(&text));
        Ok(Self { spoken_text: SpokenText::new(&text), disguised, folded, words, codes, dates, emails })
    }

    pub(crate) fn has(&self, phrase: &str, budget: &Budget) -> Result<bool, String> {
        let length = self.spoken_text.length() + self.disguised.as_ref().map_or(0, DisguisedText::length);
        budget.spend(2 * length + 1)?;
        let has_words = phrase.chars().any(char::is_alphanumeric);
        Ok(has_words && (self.spoken_text.has(phrase) || self.disguised.as_ref().is_some_and(|text| text.has(phrase))))
    }

    pub(crate) fn word_count(&self) -> usize {
        self.words.len()
    }

    /// A sequence of words, with the characters between them: `o'brien`, `van der berg`.
    pub(crate) fn slice(&self, first: usize, count: usize) -> Option<&str> {
        let (start, _) = self.words.get(first)?;
        let (_, end) = self.words.get(first + count - 1)?;
        self.folded.get(*start..*end)
    }

    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.words.iter().any(|(start, end)| self.folded.get(*start..*end) == Some(word))
    }

    /// House numbers with the next word: `12 main`.
    pub(crate) fn address_starts(&self) -> BTreeSet<String> {
        let is_number = |word: &str| word.len() <= 6 && word.bytes().all(|byte| byte.is_ascii_digit());
        let starts = (0..self.words.len()).filter(|at| self.slice(*at, 1).is_some_and(is_number));
        starts.filter_map(|at| self.slice(at, 2)).map(ToOwned::to_owned).collect()
    }
}

/// The positions of the words of a text. A word may contain an apostrophe (`o'brien`), but does not include a final `'s`.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut words: Vec<(usize, usize)> = Vec::new();
    let mut was_word = false;
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        let follows = text.get(end..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
        let is_word = character.is_alphanumeric() || (character == '\'' && was_word && follows);
        match words.last_mut().filter(|_| was_word) {
            Some(word) if is_word => word.1 = end,
            _ if is_word => words.push((at, end)),
            _ => {}
        }
        was_word = is_word;
    }
    let without_s = |(start, end): (usize, usize)| {
        let word = text.get(start..end).unwrap_or_default();
        (start, start + word.strip_suffix("'s").unwrap_or(word).len())
    };
    words.into_iter().map(without_s).collect()
}
