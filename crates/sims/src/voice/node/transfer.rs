//! The node that transfers the call.

use model::FieldErrors;
use serde::Deserialize;

use super::rules::MAX_PROMPT_LENGTH;
use crate::authored::{Authored, text};
use crate::contact_points;

/// Transfers the call to an external number or to another node.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    pub prompt: String,
    pub number: Option<String>,
    pub next: Option<String>,
}

impl Authored for Transfer {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, MAX_PROMPT_LENGTH);
        if let Some(number) = &self.number {
            contact_points::check_phone_number(errors, "number", number);
            if self.next.is_some() {
                errors.add("next", "cannot be combined with `number`");
            }
        }
    }
}
