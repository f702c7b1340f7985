//! The portal's rows: where they lie, and how they are read. A scenario may have put any object there, so nothing is
//! taken for granted.

use fhir::search::fold;
use serde_json::{Map, Value};
use world::Record;

pub const REQUESTS: &str = "prior_auth_requests";
pub const DRAFTS: &str = "drafts";
pub const DOCUMENTS: &str = "documents";
pub const PATIENTS: &str = "patients";
pub const PROVIDERS: &str = "providers";
pub const FORMULARY: &str = "formulary";
/// All kinds of rows that checks can read.
pub const RESOURCES: [&str; 6] = [REQUESTS, DRAFTS, DOCUMENTS, PATIENTS, PROVIDERS, FORMULARY];
/// Logins, failures, faults that have happened, names of messages: nothing that the portal shows.
pub const BOOKKEEPING: &str = crate::idempotency::BOOKKEEPING;

pub fn text<'v>(row: &'v Value, member: &str) -> Option<&'v str> {
    row.get(member).and_then(Value::as_str)
}

/// The row as the portal shows it.
pub(super) fn shown(key: &str, row: &Value) -> Value {
    let mut members = row.as_object().cloned().unwrap_or_default();
    members.entry("request_id").or_insert_with(|| key.into());
    if let Some(number) = row.get("auth_number").filter(|number| number.is_string()) {
        // The number of the submission is only a tracking number until the payer approves the request.
        let is_approved = row.get("determination").and_then(|known| text(known, "status")) == Some("approved");
        let authorization = if is_approved { number.clone() } else { Value::Null };
        members.entry("tracking_number").or_insert_with(|| number.clone());
        members.entry("authorization_number").or_insert(authorization);
    }
    Value::Object(members)
}

pub(super) fn shown_record(record: &Record<'_>) -> Value {
    shown(record.key, &record.json())
}

/// Whether every word of `wanted` begins a word of the text, however it is written.
pub(super) fn matches_words(text: Option<&str>, wanted: &str) -> bool {
    let text = fold(text.unwrap_or_default());
    let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
    let wanted = fold(wanted);
    let mut wanted = wanted.split_whitespace();
    wanted.all(|wanted| words.iter().any(|word| word.starts_with(wanted)) || text.contains(wanted))
}

pub(super) fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A text or null.
pub(super) fn optional(text: Option<&str>) -> Value {
    text.map_or(Value::Null, Value::from)
}
