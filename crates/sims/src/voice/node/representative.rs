//! The node at which somebody answers by script.

use model::FieldErrors;
use serde::Deserialize;

use super::rules::{LONGEST_PROMPT, NAME_RULE, check_phrases, is_name};
use crate::authored::{Authored, optional_text, text};

/// Somebody who answers by script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Representative {
    pub prompt: String,
    pub beats: Vec<Beat>,
    /// What is said when no beat fits.
    pub fallback: Option<String>,
    /// Where the call goes when the caller has nothing more; without it the representative says goodbye and hangs up.
    pub next: Option<String>,
}

/// Fits when the caller says one of the phrases, or gives what is missing of the fields. What a field holds is told by its
/// name: `…date` and `…dob` a date, `…name` a name, every other a code with a digit in it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beat {
    #[serde(default)]
    pub phrases: Vec<String>,
    #[serde(default)]
    pub fields: Vec<String>,
    pub answer: String,
}

impl Authored for Representative {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, LONGEST_PROMPT);
        optional_text(errors, "fallback", self.fallback.as_ref(), LONGEST_PROMPT);
        if self.beats.is_empty() {
            errors.add("beats", "must not be empty");
        }
        errors.each("beats", &self.beats, 200, |beat, errors| {
            if beat.phrases.is_empty() && beat.fields.is_empty() {
                errors.add("", "must have `phrases` or `fields`");
            }
            check_phrases(errors, &beat.phrases);
            errors.each("fields", &beat.fields, 20, |field, errors| {
                if !is_name(field) {
                    errors.add("", NAME_RULE);
                }
            });
            text(errors, "answer", &beat.answer, LONGEST_PROMPT);
        });
    }
}
