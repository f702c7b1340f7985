//! The node that takes a message.

use model::FieldErrors;
use serde::Deserialize;

use super::rules::LONGEST_PROMPT;
use crate::authored::{Authored, text};

/// Takes a message; the call ends after it without `next`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voicemail {
    pub prompt: String,
    pub max_seconds: Option<i64>,
    pub next: Option<String>,
}

impl Authored for Voicemail {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, LONGEST_PROMPT);
        if let Some(seconds) = self.max_seconds {
            errors.range("max_seconds", seconds, 1..=3600);
        }
    }
}
