//! Members of JSON that may be missing or of another type.

use serde_json::Value;

pub(crate) fn text<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member).and_then(Value::as_str)
}

/// A text that is not blank.
pub(crate) fn filled<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    text(value, member).filter(|text| !text.trim().is_empty())
}

/// The items of a list; none if there is no list.
pub(crate) fn items<'a>(value: &'a Value, member: &str) -> &'a [Value] {
    value.get(member).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn texts<'a>(value: &'a Value, member: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    items(value, member).iter().filter_map(Value::as_str)
}

/// Whether a CodeableConcept has a coding with the code.
pub(crate) fn has_code(concept: Option<&Value>, code: &str) -> bool {
    concept.is_some_and(|concept| items(concept, "coding").iter().any(|coding| text(coding, "code") == Some(code)))
}
