//! Writes resources: validates them, sets `id` and `meta`, and stores them.

use std::sync::Arc;

use fhir::ResourceType;
use fhir::validate::impossible_references;
use serde_json::{Map, Value, json};
use world::{Change, Lookup, Write};

use super::bundle;
use super::interaction_context::InteractionContext;
use super::outcome::FhirError;
use super::reply::{Reply, ReplyContent, name_of};

/// Rejects resources of another type (400) and invalid resources (422).
pub(crate) fn check(resource_type: ResourceType, resource: &Value) -> Result<(), FhirError> {
    match resource.get("resourceType").and_then(Value::as_str) {
        Some(name) if name == resource_type.as_str() => {}
        Some(name) => {
            let name = super::outcome::excerpt(name);
            let message = format!("the URL is for {resource_type}, but the resourceType is {name}");
            return Err(FhirError::bad("invalid", message).at("Resource.resourceType"));
        }
        None => {
            let message = format!("must be a resource of type {resource_type}, with its resourceType");
            return Err(FhirError::bad("invalid", message).at("Resource.resourceType"));
        }
    }
    super::depth::check(resource)?;
    fhir::validate(resource).map_err(|errors| FhirError::invalid(&errors))
}

/// Validates a client's resource and prepares it for storage.
pub(crate) fn prepared(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    resource: &Value,
) -> Result<Value, FhirError> {
    check(resource_type, resource)?;
    let mut resource = resource.clone();
    bundle::make_local(&mut resource, context.own_addresses());
    if context.rules.references {
        let errors = impossible_references(&resource);
        if !errors.is_empty() {
            return Err(FhirError::invalid(&errors));
        }
    }
    Ok(resource)
}

/// Stores a validated resource and returns it.
pub(crate) fn put(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    id: &str,
    mut resource: Value,
) -> Reply {
    let collection = resource_type.as_str();
    let current = context.records.get(collection, id);
    let write = if matches!(current, Lookup::Live(_)) { Write::Update } else { Write::Create };
    let version = context.records.next_version(collection, id);
    stamp(&mut resource, id, version, &context.now().to_string());
    let text: Arc<str> = resource.to_string().into();
    let change = Change {
        sandbox: context.sandbox.id.clone(),
        collection: collection.into(),
        key: id.into(),
        version,
        at: context.now(),
        write,
        text: Some(Arc::clone(&text)),
    };
    let name = name_of(collection, id, version);
    let (status, done) = match write {
        Write::Create => (201, format!("created {name}")),
        _ => (200, format!("updated {name}")),
    };
    let content = context.preferred(ReplyContent::Written { json: resource, text }, &done);
    let mut reply = Reply::new(status, content).versioned(version, context.now());
    if write == Write::Create {
        reply.headers.push(("location", format!("{}/{name}", context.base_url)));
    }
    reply.changes.push(change);
    reply
}

/// A stored resource with another version number.
pub(crate) fn renumbered(text: &str, version: u64) -> Arc<str> {
    // Stored resources are always valid JSON.
    let mut resource: Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(Value::Object(meta)) = resource.get_mut("meta") {
        set(meta, 0, "versionId", json!(version.to_string()));
    }
    resource.to_string().into()
}

/// Sets `id`, `meta.versionId` and `meta.lastUpdated` in place, or right after the type.
fn stamp(resource: &mut Value, id: &str, version: u64, at: &str) {
    let Value::Object(fields) = resource else { return };
    let after_type = usize::from(position_of(fields, "resourceType") == Some(0));
    set(fields, after_type, "id", json!(id));
    let after_id = position_of(fields, "id").map_or(0, |position| position + 1);
    if !fields.get("meta").is_some_and(Value::is_object) {
        set(fields, after_id, "meta", json!({}));
    }
    if let Some(Value::Object(meta)) = fields.get_mut("meta") {
        set(meta, 0, "versionId", json!(version.to_string()));
        set(meta, 1, "lastUpdated", json!(at));
    }
}

fn set(fields: &mut Map<String, Value>, position: usize, name: &str, value: Value) {
    match fields.get_mut(name) {
        Some(existing) => *existing = value,
        None => {
            let position = position.min(fields.len());
            fields.shift_insert(position, name.to_owned(), value);
        }
    }
}

fn position_of(fields: &Map<String, Value>, name: &str) -> Option<usize> {
    fields.keys().position(|key| key == name)
}
