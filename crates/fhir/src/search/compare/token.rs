//! Matches codes in systems (<https://hl7.org/fhir/R4/search.html#token>), case-sensitive unless the system is
//! case-insensitive.

use crate::search::Concept;
use crate::search::case_insensitive_systems::is_case_insensitive;
use crate::search::indexed_value::SystemAndCode;

/// The system `""` matches codes without a system.
pub(super) fn matches(system: Option<&str>, code: Option<&str>, concept: &Concept) -> bool {
    let is_system = match system {
        None => true,
        Some("") => concept.system.is_none(),
        system => concept.system.as_deref() == system,
    };
    let is_code = |expected: &str| concept.code.as_deref().is_some_and(|found| is_same(expected, found, concept));
    is_system && code.is_none_or(is_code)
}

/// Indexed codes of case-insensitive systems are in lower case; identifiers are unchanged.
fn is_same(expected: &str, found: &str, concept: &Concept) -> bool {
    expected == found || (is_case_insensitive(concept.system.as_deref()) && expected.to_ascii_lowercase() == found)
}

pub(super) fn is_of_type(system: &str, code: &str, value: &str, concept: &Concept) -> bool {
    let is_kind = |(kind_system, kind_code): &SystemAndCode| {
        kind_system.as_deref() == Some(system) && kind_code.as_deref() == Some(code)
    };
    concept.code.as_deref() == Some(value) && concept.kinds.iter().any(is_kind)
}
