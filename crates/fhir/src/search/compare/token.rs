//! Codes in systems (<https://hl7.org/fhir/R4/search.html#token>), compared with their case unless it does not matter in
//! their system.

use crate::search::Concept;
use crate::search::case::is_without_case;
use crate::search::found::SystemAndCode;

/// The system `""` is that of a code without any.
pub(super) fn matches(system: Option<&str>, code: Option<&str>, concept: &Concept) -> bool {
    let is_system = match system {
        None => true,
        Some("") => concept.system.is_none(),
        system => concept.system.as_deref() == system,
    };
    let is_code = |wanted: &str| concept.code.as_deref().is_some_and(|found| is_same(wanted, found, concept));
    is_system && code.is_none_or(is_code)
}

/// Codes are in lower case where case does not matter; identifiers are as they were written.
fn is_same(wanted: &str, found: &str, concept: &Concept) -> bool {
    wanted == found || (is_without_case(concept.system.as_deref()) && wanted.to_ascii_lowercase() == found)
}

pub(super) fn is_of_type(system: &str, code: &str, value: &str, concept: &Concept) -> bool {
    let is_kind = |(kind_system, kind_code): &SystemAndCode| {
        kind_system.as_deref() == Some(system) && kind_code.as_deref() == Some(code)
    };
    concept.code.as_deref() == Some(value) && concept.kinds.iter().any(is_kind)
}
