//! Reading back what was given.

use spoken::SpokenText;

use super::collect::asked;
use super::{Heard, Line};
use crate::voice::node::{Collect, CollectKind};

/// What the line says before it takes a value.
pub(super) fn read_back(kind: CollectKind, value: &str) -> String {
    let said = match kind {
        CollectKind::Digits => spaced(value),
        CollectKind::Date => spoken::date(value).map_or_else(|| value.to_owned(), |date| date.in_words()),
        CollectKind::Name | CollectKind::Free => value.to_owned(),
    };
    format!("I have {said}. Is that right? Say yes or press 1, say no or press 2.")
}

fn spaced(digits: &str) -> String {
    digits.chars().map(String::from).collect::<Vec<_>>().join(" ")
}

const YES: [&str; 8] = ["yes", "yeah", "yep", "correct", "that's right", "right", "affirmative", "sure"];
const NO: [&str; 7] = ["no", "nope", "incorrect", "wrong", "not right", "not correct", "negative"];

impl Line<'_> {
    pub(super) fn confirm(&mut self, collect: &Collect, value: String, heard: &Heard) {
        let answer = match heard {
            Heard::Silence => None,
            Heard::Keys(keys) => match keys.chars().next() {
                Some('1') => Some(true),
                Some('2') => Some(false),
                _ => None,
            },
            Heard::Speech(text) => {
                let said = SpokenText::new(text);
                // "No, that is not right" says both.
                let says = |words: &[&str]| words.iter().any(|word| said.has(word));
                if says(&NO) { Some(false) } else { says(&YES).then_some(true) }
            }
        };
        match answer {
            Some(true) => self.take(collect, value),
            _ => self.ask_again(&asked(collect), heard),
        }
    }
}
