//! How partial updates are read: an absent member leaves a field alone, `null` clears one that may be empty.

use serde::{Deserialize, Deserializer};

/// For a field that always has a value: absent is `None`, `null` is a type error, or the value `null` of any JSON.
pub fn value<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// For a field that may be empty: absent is `None`, `null` is `Some(None)`.
pub fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

pub(crate) fn set<T>(field: &mut T, patch: Option<T>) {
    if let Some(value) = patch {
        *field = value;
    }
}
