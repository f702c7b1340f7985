//! What the authored values of all simulators have in common: how they are read, and rules that many of them keep.

use std::collections::BTreeMap;

use model::FieldErrors;
use model::reading::{self, Hints};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A typed authored value, with the rules that its types alone cannot keep.
pub trait Authored: DeserializeOwned {
    fn validate(&self, errors: &mut FieldErrors);
}

/// The typed value, or its faults by dotted path.
pub fn read<T: Authored>(value: &Value) -> Result<T, FieldErrors> {
    reading::read(value, Hints::default()).judge_whole(T::validate)
}

/// The same for a caller that needs no value.
pub fn check<T: Authored>(value: &Value) -> Result<(), FieldErrors> {
    read::<T>(value).map(drop)
}

/// No two items of a list may have the same key.
pub(crate) fn refuse_repeats<K: Ord>(
    errors: &mut FieldErrors,
    list: &str,
    member: &str,
    keys: impl Iterator<Item = K>,
) {
    let mut seen = BTreeMap::new();
    for (index, key) in keys.enumerate().take(1000) {
        if let Some(earlier) = seen.insert(key, index) {
            errors.add(format!("{list}.{index}.{member}"), format!("is the same as in {list}.{earlier}"));
        }
    }
}

/// Words that somebody will read or hear.
pub(crate) fn text(errors: &mut FieldErrors, field: &str, text: &str, most: usize) {
    errors.length(field, text, 1..=most);
    if !text.is_empty() && text.trim().is_empty() {
        errors.add(field, "must not be blank");
    }
    if text.contains('\0') {
        errors.add(field, "must not contain NUL characters");
    }
}

pub(crate) fn optional_text(errors: &mut FieldErrors, field: &str, value: Option<&String>, most: usize) {
    if let Some(value) = value {
        text(errors, field, value, most);
    }
}

pub(crate) const LONGEST_DELAY_SECONDS: i64 = 604_800;

pub(crate) fn delay(errors: &mut FieldErrors, field: &str, seconds: Option<i64>) {
    if let Some(seconds) = seconds {
        errors.range(field, seconds, 0..=LONGEST_DELAY_SECONDS);
    }
}
