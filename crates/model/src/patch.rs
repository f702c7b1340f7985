//! Deserialization of partial updates: an absent member leaves a field unchanged, `null` clears a nullable field.

use serde::{Deserialize, Deserializer};

/// For a required field: absent is `None`; `null` is a type error, or a JSON `null` if the field is any JSON.
pub fn value<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// For a nullable field: absent is `None`, `null` is `Some(None)`.
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
