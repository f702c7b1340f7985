//! Validation that several types of nodes share.

use model::FieldErrors;

use crate::authored::text;

pub(super) const MAX_PROMPT_LENGTH: usize = 4000;

pub(crate) const NAME_RULE: &str = "must be a name of 1 to 64 letters, digits, `_` or `-`";

/// Whether the text is a valid name of a node or field.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Checks how often and how long a node waits for input.
pub(crate) fn check_retry_policy(errors: &mut FieldErrors, retries: Option<i64>, timeout_seconds: Option<i64>) {
    if let Some(retries) = retries {
        errors.range("retries", retries, 0..=10);
    }
    if let Some(seconds) = timeout_seconds {
        errors.range("timeout_seconds", seconds, 1..=300);
    }
}

pub(super) fn check_phrases(errors: &mut FieldErrors, phrases: &[String]) {
    errors.each("phrases", phrases, 50, |phrase, errors| {
        text(errors, "", phrase, 200);
    });
}
