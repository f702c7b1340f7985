//! Deserializes authored JSON and reports all errors at once, each by its dotted path. serde stops at the first error,
//! so the invalid part is removed from a copy, and the copy is read again.

mod draft;
mod error;
mod strict;

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

use crate::FieldErrors;
use draft::{Draft, RemovedParts};
use error::ReadError;

pub use error::{LONGEST_NAME, described, shortened};

/// The maximum number of errors that are reported at once.
pub const MAX_ERRORS: usize = 50;

/// Information about the members of a type that serde does not provide.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints<'a> {
    /// The required members; serde reports only the first missing one.
    pub required: &'a [String],
    /// Alternative member names, each with its main name, by which serde reports a missing member.
    pub aliases: &'a [(&'a str, &'a str)],
}

/// Reads a value. Unlike plain serde, it never accepts a list for a struct, a number for an object, or an object for an
/// enum name.
pub fn read<T: DeserializeOwned>(value: &Value, hints: Hints<'_>) -> Reading<T> {
    read_draft(Draft::new(Cow::Borrowed(value)), hints)
}

/// Like [`read`], but takes the value, so that a large invalid one is not copied.
pub fn read_owned<T: DeserializeOwned>(value: Value, hints: Hints<'_>) -> Reading<T> {
    read_draft(Draft::new(Cow::Owned(value)), hints)
}

/// The members that the type's schema requires.
pub fn required_fields<T: ToSchema>() -> Vec<String> {
    match T::schema() {
        RefOr::T(Schema::Object(schema)) => schema.required,
        _ => Vec::new(),
    }
}

/// Reads the query string of a URL.
pub fn query<T: DeserializeOwned>(query: &str) -> Result<T, FieldErrors> {
    serde_urlencoded::from_str(query).map_err(|error| {
        let message: String = error.to_string().chars().take(200).collect();
        let field = message.split('`').nth(1).unwrap_or("query").to_owned();
        FieldErrors::one(field, message)
    })
}

fn read_draft<T: DeserializeOwned>(mut draft: Draft<'_>, hints: Hints<'_>) -> Reading<T> {
    let mut errors = FieldErrors::new();
    for _ in 0..MAX_ERRORS {
        let error = match strict::read(draft.rest()) {
            Ok(value) => return Reading { value: Some(value), errors, removed: draft.removed },
            Err(error) => ReadError::new(error, draft.rest()),
        };
        if !draft.remove_invalid(&error, hints, &mut errors) {
            break;
        }
    }
    Reading { value: None, errors, removed: draft.removed }
}

/// The value without its invalid parts, if it could be read, and the errors.
#[derive(Debug)]
pub struct Reading<T> {
    value: Option<T>,
    errors: FieldErrors,
    removed: RemovedParts,
}

impl<T> Reading<T> {
    pub fn into_result(self) -> Result<T, FieldErrors> {
        match self.value {
            Some(value) if self.errors.is_empty() => Ok(value),
            _ => Err(self.errors),
        }
    }

    /// Applies rules that compare members with each other. They run only if nothing but unknown members was removed.
    pub fn judge_whole(mut self, rules: impl FnOnce(&T, &mut FieldErrors)) -> Result<T, FieldErrors> {
        if let Some(value) = self.value.as_ref().filter(|_| self.removed.are_all_unknown()) {
            rules(value, &mut self.errors);
        }
        self.into_result()
    }

    /// Applies rules that check one object at a time. Errors of objects with removed parts are dropped.
    pub fn judge_parts(mut self, rules: impl FnOnce(&T, &mut FieldErrors)) -> Result<T, FieldErrors> {
        if let Some(value) = &self.value {
            let mut rule_errors = FieldErrors::new();
            rules(value, &mut rule_errors);
            for (path, messages) in rule_errors.iter() {
                let path = self.removed.authored_path(path);
                if !self.removed.may_affect(&path) {
                    messages.iter().for_each(|message| self.errors.add(path.as_str(), message));
                }
            }
        }
        self.into_result()
    }
}

/// Splits `{"<tag>": "name", …}` into the name and the other members. serde's own tagging would change numbers.
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
