//! Validation errors, collected per field, so that an author sees all of them at once.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use crate::id::Id;

/// Limits that keep error responses readable and small.
const MAX_FIELDS: usize = 100;
const MAX_MESSAGES_PER_FIELD: usize = 10;

/// Error messages by field name; names of nested fields are dotted.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct FieldErrors(BTreeMap<String, Vec<String>>);

impl FieldErrors {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn one(field: impl Into<String>, message: impl Into<String>) -> Self {
        let mut errors = Self::new();
        errors.add(field, message);
        errors
    }

    pub fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        let field = field.into();
        if self.0.len() >= MAX_FIELDS && !self.0.contains_key(&field) {
            return;
        }
        let messages = self.0.entry(field).or_default();
        if messages.len() < MAX_MESSAGES_PER_FIELD {
            messages.push(message.into());
        }
    }

    /// Adds the errors of a nested value, prefixed with `prefix.`.
    pub fn nest(&mut self, prefix: &str, inner: FieldErrors) {
        for (field, messages) in inner.0 {
            let path = match field.as_str() {
                "" => prefix.to_owned(),
                field => format!("{prefix}.{field}"),
            };
            messages.into_iter().for_each(|message| self.add(path.as_str(), message));
        }
    }

    /// Adds other errors of the same value.
    pub fn merge(&mut self, more: FieldErrors) {
        for (field, messages) in more.0 {
            self.0.entry(field).or_default().extend(messages);
        }
    }

    /// Runs `check` on a member and adds its errors under the member's name.
    pub fn inside(&mut self, field: &str, check: impl FnOnce(&mut FieldErrors)) {
        let mut inner = FieldErrors::new();
        check(&mut inner);
        self.nest(field, inner);
    }

    /// Checks the size of a list, then each item under its index. The items of a list that is too long are not checked.
    pub fn each<T>(&mut self, field: &str, items: &[T], max: usize, check: impl Fn(&T, &mut FieldErrors)) {
        if items.len() > max {
            return self.size(field, items.len(), max);
        }
        for (index, item) in items.iter().enumerate() {
            self.inside(&format!("{field}.{index}"), |errors| check(item, errors));
        }
    }

    pub fn size(&mut self, field: &str, size: usize, max: usize) {
        if size > max {
            self.add(field, format!("must have at most {max} items, has {size}"));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(field, messages)| (field.as_str(), messages.as_slice()))
    }

    /// Applies `show` to every field name and message.
    pub fn shown_with(self, show: impl Fn(&str) -> String) -> Self {
        let mapped = self
            .0
            .iter()
            .map(|(field, messages)| (show(field), messages.iter().map(|message| show(message)).collect()));
        Self(mapped.collect())
    }

    pub fn into_result(self) -> Result<(), FieldErrors> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }

    pub fn length(&mut self, field: &str, text: &str, allowed: RangeInclusive<usize>) {
        let characters = text.chars().count();
        if characters < *allowed.start() && text.is_empty() {
            self.add(field, "must not be empty");
        } else if !allowed.contains(&characters) {
            self.add(field, format!("must have {} to {} characters, has {characters}", allowed.start(), allowed.end()));
        }
    }

    /// Checks a display name: 1 to 200 characters, not blank, no control characters.
    pub fn name(&mut self, field: &str, text: &str) {
        self.length(field, text, 1..=200);
        if !text.is_empty() && text.trim().is_empty() {
            self.add(field, "must not be blank");
        }
        if text.chars().any(char::is_control) {
            self.add(field, "must not contain control characters");
        }
    }

    pub fn range(&mut self, field: &str, number: i64, allowed: RangeInclusive<i64>) {
        if !allowed.contains(&number) {
            self.add(field, format!("must be from {} to {}, is {number}", allowed.start(), allowed.end()));
        }
    }

    /// Reports an unknown id. The message is the same for ids of other organizations, so that it does not reveal them.
    pub fn no_such<I: Id>(&mut self, field: &str, id: &I) {
        self.add(field, format!("no {} {id}", I::NOUN));
    }
}

impl fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (field, messages)) in self.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{field}: {}", messages.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_characters_not_bytes() {
        let mut errors = FieldErrors::new();
        errors.length("name", &"é".repeat(200), 1..=200);
        assert!(errors.is_empty());
        errors.length("name", &"é".repeat(201), 1..=200);
        assert!(!errors.is_empty());
    }

    #[test]
    fn the_number_of_errors_is_limited() {
        let mut errors = FieldErrors::new();
        for number in 0..100_000 {
            errors.add(format!("tags.{number}"), "must not be empty");
            errors.add("tags.0", "must not be empty");
        }
        assert_eq!(errors.iter().count(), MAX_FIELDS);
        assert!(errors.iter().all(|(_, messages)| messages.len() <= MAX_MESSAGES_PER_FIELD));
    }

    #[test]
    fn nested_errors_have_dotted_names() {
        let mut errors = FieldErrors::new();
        errors.nest("config", FieldErrors::one("portal", "unknown"));
        errors.nest("config", FieldErrors::one("", "must be an object"));
        assert_eq!(errors.to_string(), "config: must be an object; config.portal: unknown");
    }
}
