//! Reading and validating authored values, such as configs and steps.

use std::collections::BTreeMap;

use model::FieldErrors;
use model::reading::{self, Hints};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A typed authored value. `validate` checks the rules that its types cannot express.
pub trait Authored: DeserializeOwned {
    fn validate(&self, errors: &mut FieldErrors);
}

/// Reads and validates a value. Errors are named by dotted path.
pub fn read<T: Authored>(value: &Value) -> Result<T, FieldErrors> {
    reading::read(value, Hints::default()).judge_whole(T::validate)
}

/// Like [`read`], without the value.
pub fn check<T: Authored>(value: &Value) -> Result<(), FieldErrors> {
    read::<T>(value).map(drop)
}

/// Reports items of a list that have the same key.
pub(crate) fn check_unique<K: Ord>(errors: &mut FieldErrors, list: &str, member: &str, keys: impl Iterator<Item = K>) {
    let mut seen = BTreeMap::new();
    for (index, key) in keys.enumerate().take(1000) {
        if let Some(earlier) = seen.insert(key, index) {
            errors.add(format!("{list}.{index}.{member}"), format!("is the same as in {list}.{earlier}"));
        }
    }
}

/// Checks text that somebody reads or hears.
pub(crate) fn text(errors: &mut FieldErrors, field: &str, text: &str, max: usize) {
    errors.length(field, text, 1..=max);
    if !text.is_empty() && text.trim().is_empty() {
        errors.add(field, "must not be blank");
    }
    if text.contains('\0') {
        errors.add(field, "must not contain NUL characters");
    }
}

pub(crate) fn optional_text(errors: &mut FieldErrors, field: &str, value: Option<&String>, max: usize) {
    if let Some(value) = value {
        text(errors, field, value, max);
    }
}

pub(crate) const MAX_DELAY_SECONDS: i64 = 604_800;

pub(crate) fn delay(errors: &mut FieldErrors, field: &str, seconds: Option<i64>) {
    if let Some(seconds) = seconds {
        errors.range(field, seconds, 0..=MAX_DELAY_SECONDS);
    }
}
