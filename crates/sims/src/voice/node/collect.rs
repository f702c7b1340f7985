//! The node that asks the caller for a named field.

use model::FieldErrors;
use serde::Deserialize;

use super::rules::{MAX_PROMPT_LENGTH, NAME_RULE, check_retry_policy, is_name};
use crate::authored::{Authored, text};

/// Asks the caller for a named field.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collect {
    pub prompt: String,
    pub field: String,
    pub kind: CollectKind,
    pub min_length: Option<i64>,
    pub max_length: Option<i64>,
    /// Whether the line reads the value back and asks for confirmation.
    pub confirm: Option<bool>,
    pub next: String,
    /// Where the call continues if the caller gives no valid value. Without it, the line hangs up.
    pub otherwise: Option<String>,
    pub retries: Option<i64>,
    pub timeout_seconds: Option<i64>,
    pub barge_in: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CollectKind {
    Digits,
    Date,
    Name,
    Free,
}

impl Authored for Collect {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, MAX_PROMPT_LENGTH);
        check_retry_policy(errors, self.retries, self.timeout_seconds);
        if !is_name(&self.field) {
            errors.add("field", NAME_RULE);
        }
        for (field, length) in [("min_length", self.min_length), ("max_length", self.max_length)] {
            let Some(length) = length else { continue };
            errors.range(field, length, 1..=1000);
            if matches!(self.kind, CollectKind::Date | CollectKind::Name) {
                errors.add(field, "is only allowed for the kinds `digits` and `free`");
            }
        }
        if self.min_length.unwrap_or(1) > self.max_length.unwrap_or(1000) {
            errors.add("max_length", "must not be less than min_length");
        }
    }
}
