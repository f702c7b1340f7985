//! The node that says a prompt.

use model::FieldErrors;
use serde::Deserialize;

use super::rules::MAX_PROMPT_LENGTH;
use crate::authored::{Authored, text};

/// Says a prompt and continues.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Say {
    pub prompt: String,
    pub next: String,
}

impl Authored for Say {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, MAX_PROMPT_LENGTH);
    }
}
