//! Converts strings and the parts of names and addresses (<https://hl7.org/fhir/R4/search.html#string>).

use serde_json::Value;

use super::{items, text_of};
use crate::search::IndexedValue;

/// The searchable parts of a name.
pub(super) const HUMAN_NAME: [&str; 5] = ["text", "family", "given", "prefix", "suffix"];

pub(super) const ADDRESS: [&str; 7] = ["text", "line", "city", "district", "state", "postalCode", "country"];

pub(super) fn text(value: &Value) -> Option<IndexedValue> {
    text_of(value).map(|text| IndexedValue::String(text.into()))
}

pub(super) fn parts(value: &Value, keys: &[&str], found: &mut Vec<IndexedValue>) {
    found.extend(keys.iter().flat_map(|key| items(value, key)).filter_map(text));
}
