//! batch and transaction (<https://hl7.org/fhir/R4/http.html#transaction>).

mod batch;
mod entry;
mod references;
mod transaction;

use serde_json::{Map, Value, json};

use super::call::{Call, Returns};
use super::outcome::{Refusal, excerpt};
use super::reply::{Content, Reply, status_line};
pub(crate) use entry::Entry;
pub(crate) use references::{criteria, make_local, split_criteria};

/// A Bundle may have so many entries.
pub(crate) const MOST_ENTRIES: usize = 10_000;

pub(crate) fn process(call: &Call<'_>, bundle: &Value) -> Result<Reply, Refusal> {
    if bundle["resourceType"] != "Bundle" {
        let message = "what is sent to the base address must be a Bundle; a resource goes to its type, as POST Patient";
        return Err(Refusal::bad("invalid", message).at("Resource.resourceType"));
    }
    let entries = bundle["entry"].as_array().map(Vec::as_slice).unwrap_or_default();
    if entries.len() > MOST_ENTRIES {
        let message = format!("a Bundle has at most {MOST_ENTRIES} entries, not {}", entries.len());
        return Err(Refusal::new(413, "too-long", message).at("Bundle.entry"));
    }
    check_shell(bundle)?;
    match bundle["type"].as_str().unwrap_or_default() {
        "batch" => Ok(batch::process(call, entries)),
        "transaction" => transaction::process(call, entries),
        other => {
            let message = format!(
                "the type must be transaction or batch, not {}; POST Bundle keeps a Bundle as a resource",
                excerpt(other)
            );
            Err(Refusal::bad("invalid", message).at("Bundle.type"))
        }
    }
}

/// Checks the Bundle itself; the resources are checked by what is done with them.
fn check_shell(bundle: &Value) -> Result<(), Refusal> {
    let mut shell = Map::new();
    for (key, value) in bundle.as_object().into_iter().flatten() {
        let value = match value {
            Value::Array(entries) if key == "entry" => entries.iter().map(without_resource).collect(),
            other => other.clone(),
        };
        shell.insert(key.clone(), value);
    }
    fhir::validate(&Value::Object(shell)).map_err(|faults| Refusal::invalid(&faults))
}

fn without_resource(entry: &Value) -> Value {
    match entry {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, value)| *key != "resource" || !value.is_object());
            Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        other => other.clone(),
    }
}

/// What the sender is told about one entry.
fn answered(call: &Call<'_>, reply: Reply, is_write: bool) -> Value {
    let mut response = json!({"status": status_line(reply.status)});
    if let Some(location) = reply.header("location") {
        let relative = location.strip_prefix(call.base_url).map_or(location, |rest| rest.trim_start_matches('/'));
        response["location"] = json!(relative);
    }
    if let Some(etag) = reply.header("etag") {
        response["etag"] = json!(etag);
    }
    if let Some(change) = reply.changes.first() {
        response["lastModified"] = json!(change.at.to_string());
    }
    let is_outcome = is_write && call.prefer.returns == Some(Returns::Outcome);
    // In the answer to a Bundle, what was written is repeated only for those who ask for it.
    let is_shown = !is_write || is_outcome || call.prefer.returns == Some(Returns::Representation);
    let mut entry = json!({});
    match reply.content.into_json().filter(|_| is_shown) {
        Some(outcome) if is_outcome => response["outcome"] = outcome,
        Some(resource) => entry["resource"] = resource,
        None => {}
    }
    entry["response"] = response;
    entry
}

fn refused(refusal: &Refusal) -> Value {
    json!({"response": {"status": status_line(refusal.status), "outcome": refusal.json()}})
}

fn reply(kind: &str, entries: Vec<Value>, changes: Vec<world::Change>) -> Reply {
    let mut bundle = json!({"resourceType": "Bundle", "type": kind});
    if !entries.is_empty() {
        bundle["entry"] = Value::Array(entries);
    }
    Reply { changes, ..Reply::new(200, Content::Made(bundle)) }
}
