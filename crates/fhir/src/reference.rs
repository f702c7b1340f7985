//! Logical ids and the relative references made of them (<https://hl7.org/fhir/R4/references.html#literal>).

use std::fmt;

use crate::resource_type::{ResourceType, UnknownResourceType};

/// A relative reference to the current version of a resource, `Patient/123`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference<'a> {
    resource_type: ResourceType,
    id: &'a str,
}

impl<'a> Reference<'a> {
    /// Reads exactly `Type/id`: no base address, no `_history`, no fragment.
    pub fn parse(text: &'a str) -> Result<Self, ReferenceError> {
        let (resource_type, id) = text.split_once('/').ok_or(ReferenceError::NotRelative)?;
        if !is_id(id) {
            return Err(ReferenceError::Id);
        }
        Ok(Self { resource_type: resource_type.parse()?, id })
    }

    pub fn resource_type(&self) -> ResourceType {
        self.resource_type
    }

    pub fn id(&self) -> &'a str {
        self.id
    }
}

impl fmt::Display for Reference<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.resource_type, self.id)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    #[error("a reference is written Type/id")]
    NotRelative,
    #[error(transparent)]
    Type(#[from] UnknownResourceType),
    #[error("the id of a reference is 1 to 64 letters, digits, - and .")]
    Id,
}

/// Whether the text keeps the grammar of a FHIR id: `[A-Za-z0-9\-\.]{1,64}`.
pub fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_1_to_64_letters_digits_hyphens_and_dots() {
        assert!(is_id("a") && is_id("A-1.b") && is_id(&"x".repeat(64)));
        for text in ["", "a b", "a_b", "ä", "a/b", "a\n", &"x".repeat(65)] {
            assert!(!is_id(text), "{text:?}");
        }
    }

    #[test]
    fn a_reference_is_a_type_and_an_id() {
        let reference = Reference::parse("Patient/p-1").unwrap();
        assert_eq!((reference.resource_type().as_str(), reference.id()), ("Patient", "p-1"));
        assert_eq!(reference.to_string(), "Patient/p-1");
    }

    #[test]
    fn anything_else_is_not_a_reference() {
        assert_eq!(Reference::parse("Patient"), Err(ReferenceError::NotRelative));
        assert_eq!(Reference::parse("#contained"), Err(ReferenceError::NotRelative));
        assert_eq!(Reference::parse("Patient/"), Err(ReferenceError::Id));
        assert_eq!(Reference::parse("Patient/1/_history/2"), Err(ReferenceError::Id));
        assert_eq!(Reference::parse("https://example.org/Patient/1"), Err(ReferenceError::Id));
        assert!(matches!(Reference::parse("Pateint/1"), Err(ReferenceError::Type(_))));
    }
}
