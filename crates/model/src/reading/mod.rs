//! Reads authored JSON into typed values and names all faults at once, each by its dotted path. serde stops at the
//! first: what it refuses is noted and taken out of a copy, and the copy is read again.

mod draft;
mod fault;
mod strict;

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::FieldErrors;
use draft::{Draft, Gaps};
use fault::Fault;

pub use fault::{LONGEST_NAME, described, shortened};

/// How many faults are told at once; the author will come back for the rest.
pub const MOST_FAULTS: usize = 50;

/// What serde does not tell of the members of a type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints<'a> {
    /// Those that must be there: serde names only the first that is not.
    pub required: &'a [String],
    /// Other names, each with its first name: by that serde misses a member that was faulty under the other.
    pub aliases: &'a [(&'a str, &'a str)],
}

/// A list is never read as a struct, a number never as an object, and an object never as a word of an enum.
pub fn read<T: DeserializeOwned>(value: &Value, hints: Hints<'_>) -> Reading<T> {
    read_draft(Draft::new(Cow::Borrowed(value)), hints)
}

/// The same for a value that nobody needs afterwards: a faulty one is not copied, and a hostile one can be large.
pub fn read_owned<T: DeserializeOwned>(value: Value, hints: Hints<'_>) -> Reading<T> {
    read_draft(Draft::new(Cow::Owned(value)), hints)
}

fn read_draft<T: DeserializeOwned>(mut draft: Draft<'_>, hints: Hints<'_>) -> Reading<T> {
    let mut errors = FieldErrors::new();
    for _ in 0..MOST_FAULTS {
        let fault = match strict::read(draft.rest()) {
            Ok(value) => return Reading { value: Some(value), errors, gaps: draft.gaps },
            Err(refusal) => Fault::new(refusal, draft.rest()),
        };
        if !draft.set_aside(&fault, hints, &mut errors) {
            break;
        }
    }
    Reading { value: None, errors, gaps: draft.gaps }
}

/// What could be read, and the faults of the rest.
#[derive(Debug)]
pub struct Reading<T> {
    value: Option<T>,
    errors: FieldErrors,
    gaps: Gaps,
}

impl<T> Reading<T> {
    pub fn into_result(self) -> Result<T, FieldErrors> {
        match self.value {
            Some(value) if self.errors.is_empty() => Ok(value),
            _ => Err(self.errors),
        }
    }

    /// Adds the faults by rules that hold members against each other: they need a value in which nothing is missing,
    /// but members that are not known do not disturb them.
    pub fn judge_whole(mut self, rules: impl FnOnce(&T, &mut FieldErrors)) -> Result<T, FieldErrors> {
        if let Some(value) = self.value.as_ref().filter(|_| self.gaps.are_all_unknown()) {
            rules(value, &mut self.errors);
        }
        self.into_result()
    }

    /// Adds the faults by rules that look at one object at a time: those of objects that are as they were authored.
    pub fn judge_parts(mut self, rules: impl FnOnce(&T, &mut FieldErrors)) -> Result<T, FieldErrors> {
        if let Some(value) = &self.value {
            let mut found = FieldErrors::new();
            rules(value, &mut found);
            for (path, messages) in found.iter().map(|(path, messages)| (self.gaps.authored(path), messages)) {
                if !self.gaps.touch(&path) {
                    messages.iter().for_each(|message| self.errors.add(path.as_str(), message));
                }
            }
        }
        self.into_result()
    }
}

/// Splits `{"<tag>": "name", …}` into the name and the other members: serde's own tagging would spoil numbers.
pub fn split_tag(value: &Value, tag: &str) -> Result<(String, Value), FieldErrors> {
    let Value::Object(members) = value else {
        return Err(FieldErrors::one("", format!("must be an object, is {}", described(value))));
    };
    let name = match members.get(tag) {
        Some(Value::String(name)) => name.clone(),
        Some(other) => return Err(FieldErrors::one(tag, format!("must be a string, is {}", described(other)))),
        None => return Err(FieldErrors::one(tag, "is required")),
    };
    let others = members.iter().filter(|(key, _)| *key != tag);
    Ok((name, Value::Object(others.map(|(key, member)| (key.clone(), member.clone())).collect())))
}

#[cfg(test)]
mod tests;
