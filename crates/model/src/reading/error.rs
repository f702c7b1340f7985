//! Turns serde errors into messages for authors.

use serde_json::Value;

use super::strict::{PathStep, SerdeError};

/// The maximum length of a key in the path or message of an error.
pub const LONGEST_NAME: usize = 80;
/// The maximum length of an authored value in a message.
const MAX_VALUE_LENGTH: usize = 60;
/// The maximum length of a type's own error message, which can quote the author.
const MAX_MESSAGE_LENGTH: usize = 200;
/// The maximum length of a list of known names, which never contains authored text.
const MAX_LIST_LENGTH: usize = 600;

/// One error in the authored value.
#[derive(Debug)]
pub(super) struct ReadError {
    pub(super) path: Vec<PathStep>,
    pub(super) kind: ReadErrorKind,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReadErrorKind {
    /// The object at the path does not have this member.
    Missing(String),
    /// The object at the path has this member under two names.
    Duplicate(String),
    /// The member at the path is not known. Has a message.
    Unknown(String),
    /// The value at the path is invalid. Has a message.
    Invalid(String),
}

impl ReadError {
    pub(super) fn new(error: SerdeError, root: &Value) -> Self {
        let SerdeError { path, is_in_key, message } = error;
        let name =
            |prefix: &str| message.strip_prefix(prefix).and_then(|rest| rest.strip_suffix('`')).map(str::to_owned);
        let kind = if let Some(name) = name("missing field `") {
            ReadErrorKind::Missing(name)
        } else if let Some(name) = name("duplicate field `") {
            ReadErrorKind::Duplicate(name)
        } else if message.starts_with("unknown field `") {
            ReadErrorKind::Unknown(unknown_field_message(&message))
        } else if let Some(PathStep::Member(key)) = path.last().filter(|_| is_in_key) {
            ReadErrorKind::Invalid(invalid_value_message(&message, Some(&Value::from(key.as_str()))))
        } else {
            ReadErrorKind::Invalid(invalid_value_message(&message, find(root, &path)))
        };
        Self { path, kind }
    }
}

fn find<'a>(value: &'a Value, path: &[PathStep]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, step| match step {
        PathStep::Member(key) => value.get(key),
        PathStep::Item(index) => value.get(index),
    })
}

fn unknown_field_message(serde_message: &str) -> String {
    let known = serde_message.rsplit_once(", expected ").map_or("", |(_, known)| known);
    let known = known.strip_prefix("one of ").unwrap_or(known).replace("` or `", "`, `");
    if known.is_empty() || serde_message.ends_with("`, there are no fields") {
        return "is not a known field".to_owned();
    }
    format!("is not a known field; known: {}", shortened(&known, MAX_LIST_LENGTH))
}

fn invalid_value_message(serde_message: &str, value: Option<&Value>) -> String {
    let prefixes = ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant `"];
    let is_by_serde = prefixes.iter().any(|prefix| serde_message.starts_with(prefix));
    match (serde_message.rsplit_once(", expected "), value) {
        (Some((_, expected)), Some(value)) if is_by_serde => {
            format!("must be {}, is {}", shortened(plain_type_name(expected), MAX_LIST_LENGTH), described(value))
        }
        _ => shortened(serde_message, MAX_MESSAGE_LENGTH),
    }
}

/// Translates serde's name of a type for authors.
fn plain_type_name(expected: &str) -> &str {
    match expected {
        "i8" | "i16" | "i32" | "i64" | "isize" => "an integer",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0",
        "f32" | "f64" | "a JSON number" => "a number",
        "a sequence" => "a list",
        "a map" => "an object",
        "a boolean" => "true or false",
        other => other,
    }
}

/// Describes a value in a message: a scalar itself, or "an object" or "a list".
pub fn described(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        scalar => shortened(&scalar.to_string(), MAX_VALUE_LENGTH),
    }
}

/// Truncates a text with more than `max_chars` characters and adds an ellipsis.
pub fn shortened(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
