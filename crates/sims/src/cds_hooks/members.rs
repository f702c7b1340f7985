//! Reading the members of foreign JSON, and naming what is wrong with them.

use model::FieldErrors;
use model::reading::{described, shortened};
use serde_json::{Map, Value};

use crate::authored;

/// What becomes of members that the standard does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    Refused,
    LetBe,
}

/// The members of an object; a null is a member that is not there.
pub(super) struct Members<'v>(&'v Map<String, Value>);

impl<'v> Members<'v> {
    pub(super) fn of(errors: &mut FieldErrors, value: &'v Value, known: &[&str], unknown: Unknown) -> Option<Self> {
        let Some(members) = value.as_object() else {
            errors.add("", format!("must be an object, is {}", described(value)));
            return None;
        };
        if unknown == Unknown::Refused {
            for name in members.keys().filter(|name| !known.contains(&name.as_str())) {
                let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                errors.add(shortened(name, 80), format!("is not a known field; known: {}", names.join(", ")));
            }
        }
        Some(Self(members))
    }

    pub(super) fn get(&self, name: &str) -> Option<&'v Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// The text of a member. Anything else is a fault.
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
                errors.add(name, format!("must be text, is {}", described(other)));
                None
            }
        }
    }

    pub(super) fn required_text(&self, errors: &mut FieldErrors, name: &str, most: usize) {
        if let Some(text) = self.text(errors, name, true) {
            authored::text(errors, name, text, most);
        }
    }

    pub(super) fn optional_text(&self, errors: &mut FieldErrors, name: &str, most: usize) {
        if let Some(text) = self.text(errors, name, false) {
            errors.length(name, text, 0..=most);
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

    /// An absolute address that a browser can load.
    pub(super) fn url(&self, errors: &mut FieldErrors, name: &str, is_required: bool) {
        let Some(text) = self.text(errors, name, is_required) else { return };
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or_default();
        let is_plain = text.len() <= 8000 && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        if rest.is_empty() || rest.starts_with('/') || !is_plain {
            errors.add(name, "must be an absolute address that starts with https:// or http://");
        }
    }
}

/// Judges a member that is a list, if it is there.
pub(super) fn list(
    errors: &mut FieldErrors,
    members: &Members<'_>,
    name: &str,
    most: usize,
    check: impl Fn(&mut FieldErrors, &Value),
) {
    match members.get(name) {
        None => {}
        Some(Value::Array(items)) => errors.each(name, items, most, |item, errors| check(errors, item)),
        Some(other) => errors.add(name, format!("must be a list, is {}", described(other))),
    }
}
