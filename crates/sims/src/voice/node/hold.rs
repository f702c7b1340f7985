//! The node that puts the caller on hold.

use model::FieldErrors;
use serde::Deserialize;

use super::rules::MAX_PROMPT_LENGTH;
use crate::authored::{Authored, text};

/// Puts the caller on hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    pub prompt: String,
    pub seconds: i64,
    pub next: String,
}

impl Authored for Hold {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, MAX_PROMPT_LENGTH);
        errors.range("seconds", self.seconds, 0..=3600);
    }
}
