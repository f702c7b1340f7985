//! References and addresses (<https://hl7.org/fhir/R4/search.html#reference>, <https://hl7.org/fhir/R4/search.html#uri>).

use crate::ResourceType;
use crate::search::Target;

/// A version that is not asked for may be any.
pub(super) fn matches(resource_type: Option<ResourceType>, id: &str, version: Option<&str>, target: &Target) -> bool {
    let Target::Local { resource_type: found_type, id: found_id, version: found_version } = target else {
        return false;
    };
    **found_id == *id
        && resource_type.is_none_or(|wanted| wanted == *found_type)
        && version.is_none_or(|wanted| found_version.as_deref() == Some(wanted))
}

pub(super) fn is_address(wanted: &str, target: &Target) -> bool {
    matches!(target, Target::Other(address) if is_canonical(wanted, address))
}

/// The same address; without `|version`, any version of it.
pub(super) fn is_canonical(wanted: &str, found: &str) -> bool {
    found.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || (rest.starts_with('|') && !wanted.contains('|')))
}

/// The same, or further down by whole segments of the path.
pub(super) fn is_below(below: &str, above: &str) -> bool {
    let above = above.strip_suffix('/').unwrap_or(above);
    below.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
