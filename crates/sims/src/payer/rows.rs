//! The portal's collections and how rows are displayed. Scenarios can add rows with any content, so readers must not
//! assume that a member exists.

use fhir::search::fold;
use serde_json::{Map, Value};
use world::Record;

pub const REQUESTS: &str = "prior_auth_requests";
pub const DRAFTS: &str = "drafts";
pub const DOCUMENTS: &str = "documents";
pub const PATIENTS: &str = "patients";
pub const PROVIDERS: &str = "providers";
pub const FORMULARY: &str = "formulary";
/// The collections that checks can read.
pub const RESOURCES: [&str; 6] = [REQUESTS, DRAFTS, DOCUMENTS, PATIENTS, PROVIDERS, FORMULARY];
/// Logins, login failures, triggered faults, and idempotency keys. The portal does not display them.
pub const BOOKKEEPING: &str = crate::idempotency::BOOKKEEPING;

pub fn text<'v>(row: &'v Value, member: &str) -> Option<&'v str> {
    row.get(member).and_then(Value::as_str)
}

/// The row as the portal displays it.
pub(super) fn display_row(key: &str, row: &Value) -> Value {
    let mut members = row.as_object().cloned().unwrap_or_default();
    members.entry("request_id").or_insert_with(|| key.into());
    if let Some(number) = row.get("auth_number").filter(|number| number.is_string()) {
        // Until the payer approves the request, its number is only a tracking number.
        let is_approved =
            row.get("determination").and_then(|determination| text(determination, "status")) == Some("approved");
        let authorization = if is_approved { number.clone() } else { Value::Null };
        members.entry("tracking_number").or_insert_with(|| number.clone());
        members.entry("authorization_number").or_insert(authorization);
    }
    Value::Object(members)
}

pub(super) fn display_record(record: &Record<'_>) -> Value {
    display_row(record.key, &record.json())
}

/// Whether every word of `query` is a prefix of a word in the text, ignoring case and accents.
pub(super) fn matches_words(text: Option<&str>, query: &str) -> bool {
    let text = fold(text.unwrap_or_default());
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let query = fold(query);
    query.split_whitespace().all(|part| words.iter().any(|word| word.starts_with(part)) || text.contains(part))
}

pub(super) fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A string or null.
pub(super) fn text_or_null(text: Option<&str>) -> Value {
    text.map_or(Value::Null, Value::from)
}
