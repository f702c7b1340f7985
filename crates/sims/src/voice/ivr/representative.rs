//! A representative who answers by script.

use spoken::SpokenText;

use super::{AgentInput, IvrSession, NOT_HEARD};
use crate::voice::node::{Beat, Representative};

const FALLBACK: &str = "I'm sorry, could you say that again?";
const FAREWELL: &str = "Thank you for calling. Goodbye.";

/// Phrases that end a conversation.
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

impl IvrSession<'_> {
    pub(super) fn talk(&mut self, representative: &Representative, input: &AgentInput) {
        let text = match input {
            AgentInput::Speech(text) => text,
            AgentInput::Silence => return self.handle_silence(representative),
            // A person does not understand keys.
            AgentInput::Keys(_) => return self.say_fallback(representative),
        };
        self.state.tries = 0;
        let speech = SpokenText::new(text);
        for beat in &representative.beats {
            let fields = self.fields_from_speech(beat, text);
            let has_phrase = beat.phrases.iter().any(|phrase| speech.has(phrase));
            if has_phrase || fields.is_some() {
                self.state.fields.extend(fields.into_iter().flatten());
                return self.say(&beat.answer);
            }
        }
        if CLOSINGS.iter().any(|closing| speech.has(closing)) {
            if representative.next.is_none() {
                self.utter(FAREWELL.to_owned());
            }
            return self.go_to_or_end(representative.next.as_deref());
        }
        self.say_fallback(representative);
    }

    fn say_fallback(&mut self, representative: &Representative) {
        self.say(representative.fallback.as_deref().unwrap_or(FALLBACK));
    }

    /// After repeated silence the caller is assumed to have hung up.
    fn handle_silence(&mut self, representative: &Representative) {
        self.add_silence(None);
        self.state.tries += 1;
        if self.state.tries <= self.ivr.retries.unwrap_or(super::DEFAULT_RETRIES) {
            return self.utter(NOT_HEARD.to_owned());
        }
        self.utter(FAREWELL.to_owned());
        self.go_to_or_end(representative.next.as_deref());
    }

    /// The new values of a beat's fields. None if a field stays unknown or no value is new.
    fn fields_from_speech(&self, beat: &Beat, text: &str) -> Option<Vec<(String, String)>> {
        if beat.fields.is_empty() {
            return None;
        }
        let mut codes = spoken::codes(text).into_iter();
        let date = spoken::date(text).map(|date| date.iso());
        let mut new_values = Vec::new();
        for field in &beat.fields {
            let value = match FieldKind::of(field) {
                FieldKind::Date => date.clone(),
                FieldKind::Name => spoken::name(text).filter(|name| name.split(' ').count() <= 5),
                FieldKind::Code => codes.next(),
            };
            match value {
                Some(value) => new_values.push((field.clone(), value)),
                None if self.state.fields.contains_key(field) => {}
                None => return None,
            }
        }
        (!new_values.is_empty()).then_some(new_values)
    }
}

/// The kind of a field, which is derived from its name.
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
