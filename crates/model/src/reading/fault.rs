//! What serde says of a fault, in an author's words.

use serde_json::Value;

use super::strict::{Refusal, Step};

/// Of a key that stands in the path or the message of a fault.
pub const LONGEST_NAME: usize = 80;
/// Of what the author wrote, where a message shows it.
const LONGEST_SHOWN: usize = 60;
/// Of a message in the words of a type, which may quote the author.
const LONGEST_MESSAGE: usize = 200;
/// Of the names that a type knows, which are never the author's.
const LONGEST_LIST: usize = 600;

#[derive(Debug)]
pub(super) struct Fault {
    pub(super) place: Vec<Step>,
    pub(super) cause: Cause,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The object at the place does not have this member.
    Missing(String),
    /// The object at the place has this member under two names.
    Twice(String),
    /// The member at the place should not be there.
    Unknown(String),
    Wrong(String),
}

impl Fault {
    pub(super) fn new(refusal: Refusal, whole: &Value) -> Self {
        let Refusal { place, is_of_key, said } = refusal;
        let name =
            |opening: &str| said.strip_prefix(opening).and_then(|rest| rest.strip_suffix('`')).map(str::to_owned);
        let cause = if let Some(name) = name("missing field `") {
            Cause::Missing(name)
        } else if let Some(name) = name("duplicate field `") {
            Cause::Twice(name)
        } else if said.starts_with("unknown field `") {
            Cause::Unknown(unknown_in_words(&said))
        } else if let Some(Step::Member(key)) = place.last().filter(|_| is_of_key) {
            Cause::Wrong(in_words(&said, Some(&Value::from(key.as_str()))))
        } else {
            Cause::Wrong(in_words(&said, find(whole, &place)))
        };
        Self { place, cause }
    }
}

fn find<'a>(value: &'a Value, place: &[Step]) -> Option<&'a Value> {
    place.iter().try_fold(value, |value, step| match step {
        Step::Member(key) => value.get(key),
        Step::Item(index) => value.get(index),
    })
}

fn unknown_in_words(said: &str) -> String {
    let known = said.rsplit_once(", expected ").map_or("", |(_, known)| known);
    let known = known.strip_prefix("one of ").unwrap_or(known).replace("` or `", "`, `");
    if known.is_empty() || said.ends_with("`, there are no fields") {
        return "is not a known field".to_owned();
    }
    format!("is not a known field; known: {}", shortened(&known, LONGEST_LIST))
}

fn in_words(said: &str, found: Option<&Value>) -> String {
    let openings = ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant `"];
    let is_by_serde = openings.iter().any(|opening| said.starts_with(opening));
    match (said.rsplit_once(", expected "), found) {
        (Some((_, expected)), Some(found)) if is_by_serde => {
            format!("must be {}, is {}", shortened(spoken(expected), LONGEST_LIST), described(found))
        }
        _ => shortened(said, LONGEST_MESSAGE),
    }
}

/// serde's words for a type, in an author's.
fn spoken(expected: &str) -> &str {
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

/// A value in a message: its kind, or itself when that is short.
pub fn described(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        scalar => shortened(&scalar.to_string(), LONGEST_SHOWN),
    }
}

/// The text, or its beginning when it has more than `most` characters.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
