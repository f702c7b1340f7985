//! `If-Match`, `If-None-Match` and `If-Modified-Since` (<https://hl7.org/fhir/R4/http.html#concurrency>).

use model::Timestamp;
use world::Lookup;

use super::interaction_context::Conditions;
use super::moments::parse_http_date;
use super::outcome::{FhirError, excerpt};

/// Rejects a write if the resource is not in the expected version.
pub(crate) fn check_write(conditions: &Conditions, current: &Lookup<'_>) -> Result<(), FhirError> {
    let live = match current {
        Lookup::Live(record) => Some(record.version),
        Lookup::Unknown | Lookup::Deleted { .. } => None,
    };
    if let Some(expected) = &conditions.if_match
        && !live.is_some_and(|version| names(expected, version))
    {
        let state = live.map_or("does not exist".to_owned(), |version| format!("is in version {version}"));
        let message = format!("If-Match asks for {}, but the resource {state}", excerpt(expected));
        return Err(FhirError::precondition("conflict", message));
    }
    match (&conditions.if_none_match, live) {
        (Some(excluded), Some(version)) if names(excluded, version) => {
            let message = format!("If-None-Match excludes version {version}, in which the resource is");
            Err(FhirError::precondition("conflict", message))
        }
        _ => Ok(()),
    }
}

/// Whether the client already has this version. `If-None-Match` takes precedence over `If-Modified-Since`.
pub(crate) fn is_unmodified(conditions: &Conditions, version: u64, at: Timestamp) -> bool {
    if let Some(tags) = &conditions.if_none_match {
        return names(tags, version);
    }
    let since = conditions.if_modified_since.as_deref().and_then(parse_http_date);
    since.is_some_and(|since| at.milliseconds().div_euclid(1000) <= since)
}

/// Whether a list of entity tags contains the version, as `W/"3"`, `"3"` or `3`.
fn names(tags: &str, version: u64) -> bool {
    tags.split(',').map(str::trim).any(|tag| {
        let bare = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
        tag == "*" || bare == version.to_string()
    })
}
