//! The response bodies of FHIR reads and searches. Their events only contain the versions that were read, which keeps reads
//! cheap. The resources are added when events are listed.

use model::event::{Event, EventType};
use serde_json::{Value, json};
use sims::redact::without_secrets;
use world::Records;

/// Maximum number of resources in one page of events. Further events only contain the versions.
const MAX_RESOURCES: usize = 2000;
/// Maximum number of bytes of these resources.
const MAX_BYTES: usize = 8 << 20;

/// Whether the event has a body to add.
pub(super) fn are_missing(event: &Event) -> bool {
    event.r#type == EventType::FhirRequest && !names(&event.payload).is_empty()
}

/// Adds `body` to the responses of events that only contain versions. Versions that do not exist any more after a reset are
/// left out.
pub(super) fn fill(events: &mut [Event], records: &Records) {
    let (mut left, mut bytes) = (MAX_RESOURCES, MAX_BYTES);
    for event in events.iter_mut().filter(|event| are_missing(event)) {
        let wanted = names(&event.payload);
        if wanted.len() > left || is_part(&event.payload["request"]) {
            continue;
        }
        left -= wanted.len();
        let found: Option<Vec<Value>> =
            wanted.iter().map(|name| version(records, name, event.seq, &mut bytes)).collect();
        let Some(found) = found else { continue };
        let response = &mut event.payload["response"];
        response["body"] = match (response.get("entries"), found) {
            (Some(_), found) => bundle(&response["total"], found),
            (None, mut found) => found.pop().unwrap_or_default(),
        };
    }
}

/// `Patient/1/_history/2`, as in the event.
fn names(payload: &Value) -> Vec<String> {
    let response = &payload["response"];
    if response.get("body").is_some() {
        return Vec::new();
    }
    let listed = response["entries"].as_array().into_iter().flatten();
    let named = listed.chain(response.get("resource")).filter_map(Value::as_str);
    named.filter(|name| name.contains("/_history/")).map(ToOwned::to_owned).collect()
}

/// Whether only parts of the resources were requested.
fn is_part(request: &Value) -> bool {
    let request = request.to_string();
    ["_elements", "_summary"].iter().any(|parameter| request.contains(parameter))
}

/// A version of a resource, with secrets masked as in every event; null for a deletion. None for a version that is newer than
/// the event, as after a reset, and if the limits are exceeded.
fn version(records: &Records, name: &str, seq: world::Seq, bytes: &mut usize) -> Option<Value> {
    let (place, number) = name.split_once("/_history/")?;
    let (collection, key) = place.split_once('/')?;
    let history = records.history(collection, key);
    let revision = history.into_iter().find(|revision| revision.version.to_string() == number)?;
    let size = revision.record.as_ref().map_or(0, |record| record.text().len());
    *bytes = bytes.checked_sub(size).filter(|_| revision.seq <= seq)?;
    Some(revision.record.map_or(Value::Null, |record| without_secrets(Value::clone(&record.json()))))
}

fn bundle(total: &Value, resources: Vec<Value>) -> Value {
    let entries: Vec<Value> = resources.into_iter().map(|resource| json!({ "resource": resource })).collect();
    let mut bundle = json!({"resourceType": "Bundle", "entry": entries});
    if !total.is_null() {
        bundle["total"] = total.clone();
    }
    bundle
}
