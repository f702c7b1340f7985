//! All faults of a typed reading, though serde stops at the first.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use model::FieldErrors;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use super::{Object, described, shortened};

/// How many faults of one value are told; the author will come back for the rest.
pub(crate) const MOST_FAULTS: usize = 25;

/// serde stops at the first fault: it is noted, its place taken out of a copy, and the copy read again.
/// Unknown keys leave a value whose rules can still be checked; after any other fault they cannot.
pub(crate) fn read_typed<T: DeserializeOwned>(value: &Value, errors: &mut FieldErrors) -> Option<T> {
    let mut copy = Cow::Borrowed(value);
    let mut repairs = Repairs::default();
    let mut only_unknown_keys = true;
    for _ in 0..MOST_FAULTS {
        let fault = match serde_path_to_error::deserialize::<_, Object<T>>(copy.as_ref()) {
            Ok(Object(typed)) => return only_unknown_keys.then_some(typed),
            Err(fault) => Fault::new(&fault, &copy),
        };
        only_unknown_keys &= fault.cause == Cause::UnknownKey;
        let path = repairs.authored_path(&fault.place);
        match &fault.cause {
            Cause::MissingKey(key) => {
                let path = joined(&path, key);
                if !repairs.members.contains(&path) {
                    errors.add(path, "is required");
                }
            }
            Cause::UnknownKey | Cause::Other => errors.add(path.clone(), fault.message),
        }
        if !repairs.take_out(copy.to_mut(), &fault.place, path) {
            return None;
        }
    }
    None
}

#[derive(PartialEq, Eq)]
enum Cause {
    UnknownKey,
    MissingKey(String),
    Other,
}

#[derive(Clone, PartialEq, Eq)]
enum Step {
    Member(String),
    Item(usize),
}

struct Fault {
    place: Vec<Step>,
    cause: Cause,
    message: String,
}

impl Fault {
    fn new(error: &serde_path_to_error::Error<serde_json::Error>, whole: &Value) -> Self {
        let place: Vec<Step> = error.path().iter().filter_map(step).collect();
        let message = error.inner().to_string();
        if let Some(rest) = message.strip_prefix("missing field `") {
            let key = rest.trim_end_matches('`').to_owned();
            return Self { place, cause: Cause::MissingKey(key), message };
        }
        if message.starts_with("unknown field ") {
            return Self::unknown_key(place, &message, whole);
        }
        let message = match (message.rsplit_once(", expected "), find(whole, &place)) {
            (Some((_, expected)), Some(found)) => format!("must be {}, is {}", spoken(expected), described(found)),
            // All numbers that are read are integers; `1.10` fails before serde knows what was expected.
            (None, Some(found @ Value::Number(_))) => format!("must be an integer, is {}", described(found)),
            _ => shortened(&message, 600),
        };
        Self { place, cause: Cause::Other, message }
    }

    fn unknown_key(mut place: Vec<Step>, message: &str, whole: &Value) -> Self {
        if find(whole, &place).is_none() {
            // The key is not the author's but `object::NUMBER_KEY`: a number stands where an object should.
            place.pop();
            let found = find(whole, &place).map_or_else(String::new, described);
            return Self { place, cause: Cause::Other, message: format!("must be an object, is {found}") };
        }
        let known = message.rsplit_once(", expected ").map_or("", |(_, known)| known);
        let known = known.strip_prefix("one of ").unwrap_or(known).replace("` or `", "`, `");
        Self { place, cause: Cause::UnknownKey, message: format!("is not known here; known: {known}") }
    }
}

fn step(segment: &Segment) -> Option<Step> {
    match segment {
        Segment::Map { key } => Some(Step::Member(key.clone())),
        Segment::Seq { index } => Some(Step::Item(*index)),
        Segment::Enum { .. } | Segment::Unknown => None,
    }
}

/// What has been taken out of the copy, by its path in what the author wrote.
#[derive(Default)]
struct Repairs {
    members: BTreeSet<String>,
    items: BTreeMap<String, usize>,
}

impl Repairs {
    /// Lists are read in order, so that everything taken out of one stood before the place of a new fault.
    fn authored_path(&self, place: &[Step]) -> String {
        place.iter().fold(String::new(), |path, step| match step {
            Step::Member(key) => joined(&path, &shortened(key, 80)),
            Step::Item(index) => joined(&path, &(index + self.items.get(&path).unwrap_or(&0)).to_string()),
        })
    }

    /// False when nothing would be left.
    fn take_out(&mut self, copy: &mut Value, place: &[Step], path: String) -> bool {
        let Some((last, container)) = place.split_last() else {
            return false;
        };
        match (find_mut(copy, container), last) {
            (Some(Value::Object(members)), Step::Member(key)) => {
                self.members.insert(path);
                members.shift_remove(key).is_some()
            }
            (Some(Value::Array(items)), Step::Item(index)) if *index < items.len() => {
                items.remove(*index);
                *self.items.entry(self.authored_path(container)).or_default() += 1;
                true
            }
            _ => false,
        }
    }
}

fn find<'a>(value: &'a Value, place: &[Step]) -> Option<&'a Value> {
    place.iter().try_fold(value, |value, step| match step {
        Step::Member(key) => value.get(key),
        Step::Item(index) => value.get(index),
    })
}

fn find_mut<'a>(value: &'a mut Value, place: &[Step]) -> Option<&'a mut Value> {
    place.iter().try_fold(value, |value, step| match step {
        Step::Member(key) => value.get_mut(key),
        Step::Item(index) => value.get_mut(index),
    })
}

fn joined(path: &str, step: &str) -> String {
    if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") }
}

/// serde's words for a type, in an author's.
fn spoken(expected: &str) -> &str {
    match expected {
        "i64" | "u64" => "an integer",
        "a sequence" => "a list",
        "a map" => "an object",
        "a boolean" => "true or false",
        other => other,
    }
}
