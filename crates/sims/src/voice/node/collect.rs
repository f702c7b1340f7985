//! The node that asks the caller for a named field.

use model::FieldErrors;
use serde::Deserialize;

use super::rules::{LONGEST_PROMPT, NAME_RULE, check_patience, is_name};
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
    /// Whether what was given is read back, and taken only when the caller agrees.
    pub confirm: Option<bool>,
    pub next: String,
    /// Where a caller goes who has not given it; the line hangs up without it.
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
        text(errors, "prompt", &self.prompt, LONGEST_PROMPT);
        check_patience(errors, self.retries, self.timeout_seconds);
        if !is_name(&self.field) {
            errors.add("field", NAME_RULE);
        }
        for (field, length) in [("min_length", self.min_length), ("max_length", self.max_length)] {
            let Some(length) = length else { continue };
            errors.range(field, length, 1..=1000);
            if matches!(self.kind, CollectKind::Date | CollectKind::Name) {
                errors.add(field, "only `digits` and `free` have a length");
            }
        }
        if self.min_length.unwrap_or(1) > self.max_length.unwrap_or(1000) {
            errors.add("max_length", "must not be less than min_length");
        }
    }
}
