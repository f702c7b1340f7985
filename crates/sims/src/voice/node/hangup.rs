//! The node that ends the call.

use model::FieldErrors;
use serde::Deserialize;

use super::rules::MAX_PROMPT_LENGTH;
use crate::authored::{Authored, optional_text};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hangup {
    pub prompt: Option<String>,
}

impl Authored for Hangup {
    fn validate(&self, errors: &mut FieldErrors) {
        optional_text(errors, "prompt", self.prompt.as_ref(), MAX_PROMPT_LENGTH);
    }
}
