//! The node with a representative who answers by script.

use model::FieldErrors;
use serde::Deserialize;

use super::rules::{MAX_PROMPT_LENGTH, NAME_RULE, check_phrases, is_name};
use crate::authored::{Authored, optional_text, text};

/// A representative who answers by script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Representative {
    pub prompt: String,
    pub beats: Vec<Beat>,
    /// The answer if no beat matches.
    pub fallback: Option<String>,
    /// Where the call continues when the caller says goodbye. Without it, the representative says goodbye and hangs up.
    pub next: Option<String>,
}

/// One part of the script. It matches if the caller says one of the phrases, or the missing values of the fields. The name of a
/// field decides its kind: `…date` and `…dob` are dates, `…name` is a name, and all others are codes that contain a digit.
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
        text(errors, "prompt", &self.prompt, MAX_PROMPT_LENGTH);
        optional_text(errors, "fallback", self.fallback.as_ref(), MAX_PROMPT_LENGTH);
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
            text(errors, "answer", &beat.answer, MAX_PROMPT_LENGTH);
        });
    }
}
