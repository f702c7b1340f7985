//! Matches references and URIs (<https://hl7.org/fhir/R4/search.html#reference>,
//! <https://hl7.org/fhir/R4/search.html#uri>).

use crate::ResourceType;
use crate::search::Target;

/// Without a version, any version matches.
pub(super) fn matches(resource_type: Option<ResourceType>, id: &str, version: Option<&str>, target: &Target) -> bool {
    let Target::Local { resource_type: found_type, id: found_id, version: found_version } = target else {
        return false;
    };
    **found_id == *id
        && resource_type.is_none_or(|expected| expected == *found_type)
        && version.is_none_or(|expected| found_version.as_deref() == Some(expected))
}

pub(super) fn is_address(expected: &str, target: &Target) -> bool {
    matches!(target, Target::Other(address) if is_canonical(expected, address))
}

/// Whether the canonical URL is the same. Without `|version`, any version matches.
pub(super) fn is_canonical(expected: &str, found: &str) -> bool {
    found
        .strip_prefix(expected)
        .is_some_and(|rest| rest.is_empty() || (rest.starts_with('|') && !expected.contains('|')))
}

/// Whether `below` is the same URI or has `above` as its parent path, by whole segments.
pub(super) fn is_below(below: &str, above: &str) -> bool {
    let above = above.strip_suffix('/').unwrap_or(above);
    below.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
