//! `If-Match`, `If-None-Match` and `If-Modified-Since` (<https://hl7.org/fhir/R4/http.html#concurrency>).

use model::Timestamp;
use world::Lookup;

use super::call::Conditions;
use super::moments::parse_http_date;
use super::outcome::{Refusal, excerpt};

/// Refuses a write when the resource is not in the version that the client knows.
pub(crate) fn check_write(conditions: &Conditions, current: &Lookup<'_>) -> Result<(), Refusal> {
    let live = match current {
        Lookup::Live(record) => Some(record.version),
        Lookup::Unknown | Lookup::Deleted { .. } => None,
    };
    if let Some(wanted) = &conditions.if_match
        && !live.is_some_and(|version| names(wanted, version))
    {
        let is = live.map_or("does not exist".to_owned(), |version| format!("is in version {version}"));
        let message = format!("If-Match asks for {}, but the resource {is}", excerpt(wanted));
        return Err(Refusal::precondition("conflict", message));
    }
    match (&conditions.if_none_match, live) {
        (Some(unwanted), Some(version)) if names(unwanted, version) => {
            let message = format!("If-None-Match excludes version {version}, in which the resource is");
            Err(Refusal::precondition("conflict", message))
        }
        _ => Ok(()),
    }
}

/// Whether the client has the version already. A tag counts more than a time.
pub(crate) fn is_unmodified(conditions: &Conditions, version: u64, at: Timestamp) -> bool {
    if let Some(known) = &conditions.if_none_match {
        return names(known, version);
    }
    let since = conditions.if_modified_since.as_deref().and_then(parse_http_date);
    since.is_some_and(|since| at.milliseconds().div_euclid(1000) <= since)
}

/// Whether a list of entity tags names the version; `W/"3"`, `"3"` and a bare `3` do.
fn names(tags: &str, version: u64) -> bool {
    tags.split(',').map(str::trim).any(|tag| {
        let bare = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
        tag == "*" || bare == version.to_string()
    })
}
