//! Confirmation of a collected value.

use spoken::SpokenText;

use super::collect::retry_policy;
use super::{AgentInput, IvrSession};
use crate::voice::node::{Collect, CollectKind};

/// The question whether a value is right.
pub(super) fn read_back(kind: CollectKind, value: &str) -> String {
    let text = match kind {
        CollectKind::Digits => spaced(value),
        CollectKind::Date => spoken::date(value).map_or_else(|| value.to_owned(), |date| date.in_words()),
        CollectKind::Name | CollectKind::Free => value.to_owned(),
    };
    format!("I have {text}. Is that right? Say yes or press 1, say no or press 2.")
}

fn spaced(digits: &str) -> String {
    digits.chars().map(String::from).collect::<Vec<_>>().join(" ")
}

const YES: [&str; 8] = ["yes", "yeah", "yep", "correct", "that's right", "right", "affirmative", "sure"];
const NO: [&str; 7] = ["no", "nope", "incorrect", "wrong", "not right", "not correct", "negative"];

impl IvrSession<'_> {
    pub(super) fn confirm(&mut self, collect: &Collect, value: String, input: &AgentInput) {
        let answer = match input {
            AgentInput::Silence => None,
            AgentInput::Keys(keys) => match keys.chars().next() {
                Some('1') => Some(true),
                Some('2') => Some(false),
                _ => None,
            },
            AgentInput::Speech(text) => {
                let speech = SpokenText::new(text);
                // "No, that is not right" contains words of both lists.
                let says = |words: &[&str]| words.iter().any(|word| speech.has(word));
                if says(&NO) { Some(false) } else { says(&YES).then_some(true) }
            }
        };
        match answer {
            Some(true) => self.accept(collect, value),
            _ => self.ask_again(&retry_policy(collect), input),
        }
    }
}
