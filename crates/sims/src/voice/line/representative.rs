//! Somebody who answers by script.

use spoken::SpokenText;

use super::{Heard, Line, UNHEARD};
use crate::voice::node::{Beat, Representative};

const FALLBACK: &str = "I'm sorry, could you say that again?";
const FAREWELL: &str = "Thank you for calling. Goodbye.";

/// How people say that they have nothing more.
pub(in crate::voice) const CLOSINGS: [&str; 13] = [
    "goodbye",
    "bye",
    "that's all",
    "that is all",
    "that's everything",
    "that is everything",
    "that will be all",
    "nothing else",
    "nothing more",
    "no thank you",
    "no thanks",
    "i'm all set",
    "have a good day",
];

impl Line<'_> {
    pub(super) fn talk(&mut self, representative: &Representative, heard: &Heard) {
        let text = match heard {
            Heard::Speech(text) => text,
            Heard::Silence => return self.miss(representative),
            // Nobody hears what keys mean.
            Heard::Keys(_) => return self.fall_back(representative),
        };
        self.state.tries = 0;
        let said = SpokenText::new(text);
        for beat in &representative.beats {
            let gives = self.given(beat, text);
            let is_said = beat.phrases.iter().any(|phrase| said.has(phrase));
            if is_said || gives.is_some() {
                self.state.fields.extend(gives.into_iter().flatten());
                return self.say(&beat.answer);
            }
        }
        if CLOSINGS.iter().any(|closing| said.has(closing)) {
            if representative.next.is_none() {
                self.utter(FAREWELL.to_owned());
            }
            return self.go_on(representative.next.as_deref());
        }
        self.fall_back(representative);
    }

    fn fall_back(&mut self, representative: &Representative) {
        self.say(representative.fallback.as_deref().unwrap_or(FALLBACK));
    }

    /// Somebody who says nothing for long has gone.
    fn miss(&mut self, representative: &Representative) {
        self.wait(None);
        self.state.tries += 1;
        if self.state.tries <= self.ivr.retries.unwrap_or(super::RETRIES) {
            return self.utter(UNHEARD.to_owned());
        }
        self.utter(FAREWELL.to_owned());
        self.go_on(representative.next.as_deref());
    }

    /// The fields of a beat, if all are known with what was said now and at least one was said now.
    fn given(&self, beat: &Beat, text: &str) -> Option<Vec<(String, String)>> {
        if beat.fields.is_empty() {
            return None;
        }
        let mut codes = spoken::codes(text).into_iter();
        let date = spoken::date(text).map(|date| date.iso());
        let mut given = Vec::new();
        for field in &beat.fields {
            let now = match FieldKind::of(field) {
                FieldKind::Date => date.clone(),
                FieldKind::Name => spoken::name(text).filter(|name| name.split(' ').count() <= 5),
                FieldKind::Code => codes.next(),
            };
            match now {
                Some(value) => given.push((field.clone(), value)),
                None if self.state.fields.contains_key(field) => {}
                None => return None,
            }
        }
        (!given.is_empty()).then_some(given)
    }
}

/// What a field holds, as its name says.
enum FieldKind {
    Date,
    Name,
    Code,
}

impl FieldKind {
    fn of(field: &str) -> Self {
        let field = field.to_ascii_lowercase();
        if field.ends_with("date") || field.ends_with("dob") || field.ends_with("birthday") {
            Self::Date
        } else if field.ends_with("name") {
            Self::Name
        } else {
            Self::Code
        }
    }
}
