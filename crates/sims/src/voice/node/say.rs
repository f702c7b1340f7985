//! The node that speaks and goes on.

use model::FieldErrors;
use serde::Deserialize;

use super::rules::LONGEST_PROMPT;
use crate::authored::{Authored, text};

/// Speaks and goes on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Say {
    pub prompt: String,
    pub next: String,
}

impl Authored for Say {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, LONGEST_PROMPT);
    }
}
