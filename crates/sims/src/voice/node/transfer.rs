//! The node that hands the call to another line.

use model::FieldErrors;
use serde::Deserialize;

use super::rules::LONGEST_PROMPT;
use crate::authored::{Authored, text};
use crate::contact_points;

/// Passes the call on, to a number outside or to another node.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    pub prompt: String,
    pub number: Option<String>,
    pub next: Option<String>,
}

impl Authored for Transfer {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, LONGEST_PROMPT);
        if let Some(number) = &self.number {
            contact_points::check_phone_number(errors, "number", number);
            if self.next.is_some() {
                errors.add("next", "a call that goes to a `number` does not come back");
            }
        }
    }
}
