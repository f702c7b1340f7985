//! The node that lets the caller wait.

use model::FieldErrors;
use serde::Deserialize;

use super::rules::LONGEST_PROMPT;
use crate::authored::{Authored, text};

/// Lets the caller wait.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    pub prompt: String,
    pub seconds: i64,
    pub next: String,
}

impl Authored for Hold {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, LONGEST_PROMPT);
        errors.range("seconds", self.seconds, 0..=3600);
    }
}
