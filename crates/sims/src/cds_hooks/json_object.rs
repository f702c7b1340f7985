//! Reading and validating members of JSON objects from services.

use model::FieldErrors;
use model::reading::{described, shortened};
use serde_json::{Map, Value};

use crate::authored;

/// How to handle members that the standard does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownMembers {
    Rejected,
    Ignored,
}

/// A JSON object. Members that are null count as missing.
pub(super) struct JsonObject<'v>(&'v Map<String, Value>);

impl<'v> JsonObject<'v> {
    pub(super) fn of(
        errors: &mut FieldErrors,
        value: &'v Value,
        known: &[&str],
        unknown: UnknownMembers,
    ) -> Option<Self> {
        let Some(members) = value.as_object() else {
            errors.add("", format!("must be an object, is {}", described(value)));
            return None;
        };
        if unknown == UnknownMembers::Rejected {
            for name in members.keys().filter(|name| !known.contains(&name.as_str())) {
                let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                errors.add(shortened(name, 80), format!("is not a known field; known: {}", names.join(", ")));
            }
        }
        if let Some(extension) = members.get("extension").filter(|value| !value.is_null() && !value.is_object()) {
            errors.add("extension", format!("must be an object, is {}", described(extension)));
        }
        Some(Self(members))
    }

    pub(super) fn get(&self, name: &str) -> Option<&'v Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A string member. Other values are errors.
    pub(super) fn text(&self, errors: &mut FieldErrors, name: &str, is_required: bool) -> Option<&'v str> {
        match self.get(name) {
            None => {
                if is_required {
                    errors.add(name, "is required");
                }
                None
            }
            Some(Value::String(text)) => Some(text),
            Some(other) => {
                errors.add(name, format!("must be a string, is {}", described(other)));
                None
            }
        }
    }

    pub(super) fn required_text(&self, errors: &mut FieldErrors, name: &str, max: usize) {
        if let Some(text) = self.text(errors, name, true) {
            authored::text(errors, name, text, max);
        }
    }

    pub(super) fn optional_text(&self, errors: &mut FieldErrors, name: &str, max: usize) {
        if let Some(text) = self.text(errors, name, false) {
            errors.length(name, text, 0..=max);
        }
    }

    pub(super) fn optional_name(&self, errors: &mut FieldErrors, name: &str) {
        if let Some(text) = self.text(errors, name, false) {
            errors.name(name, text);
        }
    }

    pub(super) fn one_of(&self, errors: &mut FieldErrors, name: &str, choices: &[&str], is_required: bool) {
        if let Some(text) = self.text(errors, name, is_required)
            && !choices.contains(&text)
        {
            errors.add(name, format!("must be one of `{}`", choices.join("`, `")));
        }
    }

    pub(super) fn boolean(&self, errors: &mut FieldErrors, name: &str) {
        if let Some(value) = self.get(name).filter(|value| !value.is_boolean()) {
            errors.add(name, format!("must be true or false, is {}", described(value)));
        }
    }

    /// An absolute URL that a browser can load.
    pub(super) fn url(&self, errors: &mut FieldErrors, name: &str, is_required: bool) {
        let Some(text) = self.text(errors, name, is_required) else { return };
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or_default();
        let is_plain = text.len() <= 8000 && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        if rest.is_empty() || rest.starts_with('/') || !is_plain {
            errors.add(name, "must be an absolute URL that starts with https:// or http://");
        }
    }
}

/// Checks each item of a list member, if it exists.
pub(super) fn list(
    errors: &mut FieldErrors,
    members: &JsonObject<'_>,
    name: &str,
    max: usize,
    check: impl Fn(&mut FieldErrors, &Value),
) {
    match members.get(name) {
        None => {}
        Some(Value::Array(items)) => errors.each(name, items, max, |item, errors| check(errors, item)),
        Some(other) => errors.add(name, format!("must be a list, is {}", described(other))),
    }
}
