//! What FHIR reads and searches answered. Their events only name the versions that were read, so that a read costs little;
//! whoever lists the events gets the resources themselves.

use model::event::{Event, EventType};
use serde_json::{Value, json};
use sims::redact::without_secrets;
use world::Records;

/// Resources that are put into one page of events. Events beyond keep their names only.
const MOST_RESOURCES: usize = 2000;
/// And so many bytes of them.
const MOST_BYTES: usize = 8 << 20;

/// Whether something is to be filled in.
pub(super) fn are_missing(event: &Event) -> bool {
    event.r#type == EventType::FhirRequest && !names(&event.payload).is_empty()
}

/// Adds `body` to the responses of events that only name what was answered. What the records do not have any more, after
/// a reset, is left out.
pub(super) fn fill(events: &mut [Event], records: &Records) {
    let (mut left, mut bytes) = (MOST_RESOURCES, MOST_BYTES);
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

/// `Patient/1/_history/2`, as the event has it.
fn names(payload: &Value) -> Vec<String> {
    let response = &payload["response"];
    if response.get("body").is_some() {
        return Vec::new();
    }
    let listed = response["entries"].as_array().into_iter().flatten();
    let named = listed.chain(response.get("resource")).filter_map(Value::as_str);
    named.filter(|name| name.contains("/_history/")).map(ToOwned::to_owned).collect()
}

/// Whether parts of the resources were asked for.
fn is_part(request: &Value) -> bool {
    let request = request.to_string();
    ["_elements", "_summary"].iter().any(|parameter| request.contains(parameter))
}

/// A version of a resource, with secrets masked as in every event; null for one that was deleted. None for one that is newer
/// than the event, as after a reset, and when there is no room.
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
