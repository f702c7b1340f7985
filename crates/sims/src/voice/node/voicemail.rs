//! The node that records a voicemail.

use model::FieldErrors;
use serde::Deserialize;

use super::rules::MAX_PROMPT_LENGTH;
use crate::authored::{Authored, text};

/// Records a voicemail. Without `next`, the call ends afterwards.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voicemail {
    pub prompt: String,
    pub max_seconds: Option<i64>,
    pub next: Option<String>,
}

impl Authored for Voicemail {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, MAX_PROMPT_LENGTH);
        if let Some(seconds) = self.max_seconds {
            errors.range("max_seconds", seconds, 1..=3600);
        }
    }
}
