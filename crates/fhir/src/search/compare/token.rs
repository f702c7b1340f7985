//! Codes in systems (<https://hl7.org/fhir/R4/search.html#token>), compared with their case.

use crate::search::Concept;
use crate::search::found::SystemAndCode;

/// The system `""` is that of a code without any.
pub(super) fn matches(system: Option<&str>, code: Option<&str>, concept: &Concept) -> bool {
    let is_system = match system {
        None => true,
        Some("") => concept.system.is_none(),
        system => concept.system.as_deref() == system,
    };
    is_system && code.is_none_or(|code| concept.code.as_deref() == Some(code))
}

pub(super) fn is_of_type(system: &str, code: &str, value: &str, concept: &Concept) -> bool {
    let is_kind = |(kind_system, kind_code): &SystemAndCode| {
        kind_system.as_deref() == Some(system) && kind_code.as_deref() == Some(code)
    };
    concept.code.as_deref() == Some(value) && concept.kinds.iter().any(is_kind)
}
