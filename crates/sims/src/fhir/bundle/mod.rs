//! batch and transaction (<https://hl7.org/fhir/R4/http.html#transaction>).

mod batch;
mod entry;
mod references;
mod transaction;

use serde_json::{Map, Value, json};

use super::interaction_context::{InteractionContext, Returns};
use super::outcome::{FhirError, excerpt};
use super::reply::{Reply, ReplyContent, status_line};
pub(crate) use entry::Entry;
pub(crate) use references::{criteria, make_local, split_criteria};

/// The maximum number of entries of a Bundle.
pub(crate) const MAX_ENTRIES: usize = 10_000;

pub(crate) fn process(context: &InteractionContext<'_>, bundle: &Value) -> Result<Reply, FhirError> {
    if bundle["resourceType"] != "Bundle" {
        let message = "POST to the base URL must be a Bundle; POST a resource to its type, such as POST Patient";
        return Err(FhirError::bad("invalid", message).at("Resource.resourceType"));
    }
    let entries = bundle["entry"].as_array().map(Vec::as_slice).unwrap_or_default();
    if entries.len() > MAX_ENTRIES {
        let message = format!("a Bundle has at most {MAX_ENTRIES} entries, not {}", entries.len());
        return Err(FhirError::new(413, "too-long", message).at("Bundle.entry"));
    }
    check_without_resources(bundle)?;
    match bundle["type"].as_str().unwrap_or_default() {
        "batch" => Ok(batch::process(context, entries)),
        "transaction" => transaction::process(context, entries),
        other => {
            let message = format!(
                "the type must be transaction or batch, not {}; use POST Bundle to store a Bundle as a resource",
                excerpt(other)
            );
            Err(FhirError::bad("invalid", message).at("Bundle.type"))
        }
    }
}

/// Validates the Bundle without its resources. Those are validated when they are written.
fn check_without_resources(bundle: &Value) -> Result<(), FhirError> {
    let mut stripped = Map::new();
    for (key, value) in bundle.as_object().into_iter().flatten() {
        let value = match value {
            Value::Array(entries) if key == "entry" => entries.iter().map(without_resource).collect(),
            other => other.clone(),
        };
        stripped.insert(key.clone(), value);
    }
    fhir::validate(&Value::Object(stripped)).map_err(|faults| FhirError::invalid(&faults))
}

fn without_resource(entry: &Value) -> Value {
    match entry {
        Value::Object(fields) => {
            let remaining = fields.iter().filter(|(key, value)| *key != "resource" || !value.is_object());
            Value::Object(remaining.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        other => other.clone(),
    }
}

/// The response entry of a successful entry.
fn response_entry(context: &InteractionContext<'_>, reply: Reply, is_write: bool) -> Value {
    let mut response = json!({"status": status_line(reply.status)});
    if let Some(location) = reply.header("location") {
        let relative = location.strip_prefix(context.base_url).map_or(location, |rest| rest.trim_start_matches('/'));
        response["location"] = json!(relative);
    }
    if let Some(etag) = reply.header("etag") {
        response["etag"] = json!(etag);
    }
    if let Some(change) = reply.changes.first() {
        response["lastModified"] = json!(change.at.to_string());
    }
    let is_outcome = is_write && context.prefer.returns == Some(Returns::Outcome);
    // Responses to a Bundle only contain written resources if the client prefers that.
    let includes_resource = !is_write || is_outcome || context.prefer.returns == Some(Returns::Representation);
    let mut entry = json!({});
    match reply.content.into_json().filter(|_| includes_resource) {
        Some(outcome) if is_outcome => response["outcome"] = outcome,
        Some(resource) => entry["resource"] = resource,
        None => {}
    }
    entry["response"] = response;
    entry
}

/// The response entry of a failed entry.
fn error_entry(error: &FhirError) -> Value {
    json!({"response": {"status": status_line(error.status), "outcome": error.json()}})
}

fn reply(bundle_type: &str, entries: Vec<Value>, changes: Vec<world::Change>) -> Reply {
    let mut bundle = json!({"resourceType": "Bundle", "type": bundle_type});
    if !entries.is_empty() {
        bundle["entry"] = Value::Array(entries);
    }
    Reply { changes, ..Reply::new(200, ReplyContent::Generated(bundle)) }
}
