//! A resource on its way into the record: checked, stamped and kept as it was written.

use std::sync::Arc;

use fhir::ResourceType;
use fhir::validate::impossible_references;
use serde_json::{Map, Value, json};
use world::{Change, Lookup, Write};

use super::bundle;
use super::call::Call;
use super::outcome::Refusal;
use super::reply::{Content, Reply, name_of};

/// Refuses what is no resource of the type (400) or not one that R4 allows (422).
pub(crate) fn check(resource_type: ResourceType, resource: &Value) -> Result<(), Refusal> {
    match resource.get("resourceType").and_then(Value::as_str) {
        Some(name) if name == resource_type.as_str() => {}
        Some(name) => {
            let name = super::outcome::excerpt(name);
            let message = format!("the address is one of {resource_type}, but the resourceType is {name}");
            return Err(Refusal::bad("invalid", message).at("Resource.resourceType"));
        }
        None => {
            let message = format!("must be a resource of type {resource_type}, with its resourceType");
            return Err(Refusal::bad("invalid", message).at("Resource.resourceType"));
        }
    }
    super::depth::check(resource)?;
    fhir::validate(resource).map_err(|faults| Refusal::invalid(&faults))
}

/// Checks a resource of a client and makes it ready to be stored.
pub(crate) fn prepared(call: &Call<'_>, resource_type: ResourceType, resource: &Value) -> Result<Value, Refusal> {
    check(resource_type, resource)?;
    let mut resource = resource.clone();
    bundle::make_local(&mut resource, call.own_addresses());
    if call.rules.references {
        let faults = impossible_references(&resource);
        if !faults.is_empty() {
            return Err(Refusal::invalid(&faults));
        }
    }
    Ok(resource)
}

/// Puts a checked resource in place of what is there, and answers it.
pub(crate) fn put(call: &Call<'_>, resource_type: ResourceType, id: &str, mut resource: Value) -> Reply {
    let collection = resource_type.as_str();
    let current = call.records.get(collection, id);
    let write = if matches!(current, Lookup::Live(_)) { Write::Update } else { Write::Create };
    let version = call.records.next_version(collection, id);
    stamp(&mut resource, id, version, &call.now().to_string());
    let text: Arc<str> = resource.to_string().into();
    let change = Change {
        sandbox: call.sandbox.id.clone(),
        collection: collection.into(),
        key: id.into(),
        version,
        at: call.now(),
        write,
        text: Some(Arc::clone(&text)),
    };
    let name = name_of(collection, id, version);
    let (status, done) = match write {
        Write::Create => (201, format!("created {name}")),
        _ => (200, format!("updated {name}")),
    };
    let content = call.preferred(Content::Written { json: resource, text }, &done);
    let mut reply = Reply::new(status, content).versioned(version, call.now());
    if write == Write::Create {
        reply.headers.push(("location", format!("{}/{name}", call.base_url)));
    }
    reply.changes.push(change);
    reply
}

/// A stored resource as another version of itself.
pub(crate) fn renumbered(text: &str, version: u64) -> Arc<str> {
    // Only JSON is ever kept.
    let mut resource: Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(Value::Object(meta)) = resource.get_mut("meta") {
        set(meta, 0, "versionId", json!(version.to_string()));
    }
    resource.to_string().into()
}

/// Sets `id`, `meta.versionId` and `meta.lastUpdated` where they stand, or right after the type.
fn stamp(resource: &mut Value, id: &str, version: u64, at: &str) {
    let Value::Object(fields) = resource else { return };
    let after_type = usize::from(place_of(fields, "resourceType") == Some(0));
    set(fields, after_type, "id", json!(id));
    let after_id = place_of(fields, "id").map_or(0, |at| at + 1);
    if !fields.get("meta").is_some_and(Value::is_object) {
        set(fields, after_id, "meta", json!({}));
    }
    if let Some(Value::Object(meta)) = fields.get_mut("meta") {
        set(meta, 0, "versionId", json!(version.to_string()));
        set(meta, 1, "lastUpdated", json!(at));
    }
}

fn set(fields: &mut Map<String, Value>, place: usize, name: &str, value: Value) {
    match fields.get_mut(name) {
        Some(there) => *there = value,
        None => {
            let place = place.min(fields.len());
            fields.shift_insert(place, name.to_owned(), value);
        }
    }
}

fn place_of(fields: &Map<String, Value>, name: &str) -> Option<usize> {
    fields.keys().position(|key| key == name)
}
