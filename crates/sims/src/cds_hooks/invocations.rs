//! The rows of invocations, which are calls of a service for a hook: `{id, hook, hook_instance, service, service_id, answered_by, fired_by, status,
//! request, cards, system_actions, error, fired_at, answered_at}`. `status` is `pending`, `answered` or `failed`.

use model::event::EventType;
use model::page::{Page, PageRequest};
use serde_json::{Map, Value, json};
use world::{Context, Outcome, Sandbox};

use super::event::event;
use super::services::Service;
use super::uuid::new_uuid;
use crate::pagination::{self, SortOrder};

pub(super) const INVOCATIONS: &str = "invocations";

/// Filters for the list of invocations.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub hook: Option<String>,
    /// `pending`, `answered` or `failed`.
    pub status: Option<String>,
}

impl Filter {
    fn matches(&self, row: &Value) -> bool {
        let is =
            |expected: Option<&String>, member: &str| expected.is_none_or(|expected| row[member] == expected.as_str());
        is(self.hook.as_ref(), "hook") && is(self.status.as_ref(), "status")
    }
}

/// Lists invocations, oldest first.
pub fn list(sandbox: &Sandbox, actor: &str, filter: &Filter, request: &PageRequest) -> Outcome<Page<Value>> {
    let rows = all(sandbox).map(|row| (row["id"].as_str().unwrap_or_default().to_owned(), public_row(row)));
    let page = pagination::page(rows.filter(|(_, row)| filter.matches(row)).collect(), request, SortOrder::Ascending);
    let payload = json!({"action": "list", "hook": filter.hook, "status": filter.status, "count": page.items.len()});
    let summary = format!("{} invocations were listed", page.items.len());
    let events = vec![event(sandbox, EventType::CdsRead, actor, &summary, payload)];
    Outcome { answer: page, changes: Vec::new(), events }
}

pub fn read(sandbox: &Sandbox, actor: &str, id: &str) -> Outcome<Option<Value>> {
    let found = find(sandbox, id).map(public_row);
    let payload = json!({"action": "read", "id": id, "found": found.is_some()});
    let events = vec![event(sandbox, EventType::CdsRead, actor, &format!("{id} was read"), payload)];
    Outcome { answer: found, changes: Vec::new(), events }
}

/// The row without internal members.
pub(super) fn public_row(mut row: Value) -> Value {
    if let Some(members) = row.as_object_mut() {
        members.shift_remove("answer_sha256");
        members.shift_remove("given_uuids");
        members.shift_remove("extension");
    }
    row
}

pub(super) fn find(sandbox: &Sandbox, id: &str) -> Option<Value> {
    sandbox.records.get(INVOCATIONS, id).live().map(|record| Value::clone(&record.json()))
}

pub(super) fn all(sandbox: &Sandbox) -> impl Iterator<Item = Value> {
    sandbox.records.own(INVOCATIONS).map(|record| Value::clone(&record.json()))
}

/// The row of a new invocation.
pub(super) fn pending(context: &Context<'_>, service: &Service, request: &Value, fired_by: &str, at: &str) -> Value {
    json!({
        "id": format!("inv_{}", (context.new_id)()),
        "hook": request["hook"],
        "hook_instance": request["hookInstance"],
        "service": service.id,
        "service_id": service.definition.id,
        "answered_by": service.answered_by(),
        "fired_by": fired_by,
        "status": "pending",
        "request": request,
        "cards": Value::Null,
        "system_actions": Value::Null,
        "error": Value::Null,
        "fired_at": at,
        "answered_at": Value::Null,
    })
}

/// What a service answered, which keeps the rules. Cards and suggestions without a uuid get one, so that the user can
/// name them; the service does not know those, and hears nothing of them.
pub(super) fn set_answered(row: &mut Value, context: &Context<'_>, answer: &Value) {
    let mut cards = answer["cards"].clone();
    let mut generated = Vec::new();
    for card in cards.as_array_mut().into_iter().flatten() {
        ensure_uuid(card, context, &mut generated);
        for suggestion in card.get_mut("suggestions").and_then(Value::as_array_mut).into_iter().flatten() {
            ensure_uuid(suggestion, context, &mut generated);
        }
    }
    row["cards"] = cards;
    row["system_actions"] = answer.get("systemActions").cloned().unwrap_or_else(|| json!([]));
    row["given_uuids"] = generated.into();
    if let Some(extension) = answer.get("extension") {
        row["extension"] = extension.clone();
    }
    set_status(row, context, "answered");
}

pub(super) fn set_failed(row: &mut Value, context: &Context<'_>, error: &Value) {
    row["error"] = error.clone();
    set_status(row, context, "failed");
}

/// Completes an invocation. The prefetched data is replaced by a summary, because the FHIR data already stores it.
fn set_status(row: &mut Value, context: &Context<'_>, status: &str) {
    row["status"] = status.into();
    row["answered_at"] = context.now.to_string().into();
    let sent = row["request"].get("prefetch").and_then(Value::as_object);
    let summaries: Map<String, Value> =
        sent.into_iter().flatten().map(|(key, value)| (key.clone(), prefetch_summary(value))).collect();
    if let Some(request) = row["request"].as_object_mut().filter(|request| request.contains_key("prefetch")) {
        request.insert("prefetch".to_owned(), Value::Object(summaries));
    }
}

fn prefetch_summary(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        value => format!("{} was sent", value["resourceType"].as_str().unwrap_or("a value")).into(),
    }
}

fn ensure_uuid(item: &mut Value, context: &Context<'_>, generated: &mut Vec<Value>) {
    if item["uuid"].is_null()
        && let Some(members) = item.as_object_mut()
    {
        let uuid = Value::from(new_uuid(context));
        members.insert("uuid".to_owned(), uuid.clone());
        generated.push(uuid);
    }
}

/// The payload of events about an invocation.
pub(super) fn payload(row: &Value) -> Value {
    let mut payload = json!({
        "invocation_id": row["id"],
        "hook": row["hook"],
        "hook_instance": row["hook_instance"],
        "service_id": row["service_id"],
        "answered_by": row["answered_by"],
        "fired_by": row["fired_by"],
        "status": row["status"],
        "context": row["request"]["context"],
    });
    match row["status"].as_str() {
        Some("answered") => {
            payload["cards"] = row["cards"].clone();
            payload["systemActions"] = row["system_actions"].clone();
            if let Some(extension) = row.get("extension") {
                payload["extension"] = extension.clone();
            }
        }
        Some("failed") => payload["error"] = row["error"].clone(),
        _ => {}
    }
    payload
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_of_an_answer_is_in_the_event() {
        let row =
            json!({"id": "inv_1", "status": "answered", "cards": [], "system_actions": [], "extension": {"note": "x"}});
        assert_eq!(payload(&row)["extension"], json!({"note": "x"}));
        assert!(public_row(row).get("extension").is_none());
        let without = json!({"id": "inv_1", "status": "answered", "cards": [], "system_actions": []});
        assert!(payload(&without).get("extension").is_none());
    }
}
