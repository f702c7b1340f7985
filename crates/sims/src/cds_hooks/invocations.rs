//! Hooks at services, as they are kept: `{id, hook, hook_instance, service, service_id, answered_by, fired_by, status,
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

/// Which invocations are listed.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub hook: Option<String>,
    /// `pending`, `answered` or `failed`.
    pub status: Option<String>,
}

impl Filter {
    fn admits(&self, row: &Value) -> bool {
        let is = |wanted: Option<&String>, member: &str| wanted.is_none_or(|wanted| row[member] == wanted.as_str());
        is(self.hook.as_ref(), "hook") && is(self.status.as_ref(), "status")
    }
}

/// Oldest first: that is the order in which they wait.
pub fn list(sandbox: &Sandbox, actor: &str, filter: &Filter, request: &PageRequest) -> Outcome<Page<Value>> {
    let rows = all(sandbox).map(|row| (row["id"].as_str().unwrap_or_default().to_owned(), shown(row)));
    let page = pagination::page(rows.filter(|(_, row)| filter.admits(row)).collect(), request, SortOrder::Ascending);
    let told = json!({"action": "list", "hook": filter.hook, "status": filter.status, "count": page.items.len()});
    let summary = format!("{} invocations were listed", page.items.len());
    let events = vec![event(sandbox, EventType::CdsRead, actor, &summary, told)];
    Outcome { answer: page, changes: Vec::new(), events }
}

pub fn read(sandbox: &Sandbox, actor: &str, id: &str) -> Outcome<Option<Value>> {
    let found = find(sandbox, id).map(shown);
    let told = json!({"action": "read", "id": id, "found": found.is_some()});
    let events = vec![event(sandbox, EventType::CdsRead, actor, &format!("{id} was read"), told)];
    Outcome { answer: found, changes: Vec::new(), events }
}

/// Without what only the EHR needs to know.
pub(super) fn shown(mut row: Value) -> Value {
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

/// A hook at a service before anybody has answered.
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
pub(super) fn answered(row: &mut Value, context: &Context<'_>, answer: &Value) {
    let mut cards = answer["cards"].clone();
    let mut given = Vec::new();
    for card in cards.as_array_mut().into_iter().flatten() {
        name(card, context, &mut given);
        for suggestion in card.get_mut("suggestions").and_then(Value::as_array_mut).into_iter().flatten() {
            name(suggestion, context, &mut given);
        }
    }
    row["cards"] = cards;
    row["system_actions"] = answer.get("systemActions").cloned().unwrap_or_else(|| json!([]));
    row["given_uuids"] = given.into();
    if let Some(extension) = answer.get("extension") {
        row["extension"] = extension.clone();
    }
    settle(row, context, "answered");
}

pub(super) fn failed(row: &mut Value, context: &Context<'_>, error: &Value) {
    row["error"] = error.clone();
    settle(row, context, "failed");
}

/// The data that went with the hook has done its work: it is the record's, and would be kept twice.
fn settle(row: &mut Value, context: &Context<'_>, status: &str) {
    row["status"] = status.into();
    row["answered_at"] = context.now.to_string().into();
    let sent = row["request"].get("prefetch").and_then(Value::as_object);
    let kept: Map<String, Value> = sent.into_iter().flatten().map(|(key, value)| (key.clone(), word(value))).collect();
    if let Some(request) = row["request"].as_object_mut().filter(|request| request.contains_key("prefetch")) {
        request.insert("prefetch".to_owned(), Value::Object(kept));
    }
}

fn word(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        value => format!("{} was sent", value["resourceType"].as_str().unwrap_or("a value")).into(),
    }
}

fn name(thing: &mut Value, context: &Context<'_>, given: &mut Vec<Value>) {
    if thing["uuid"].is_null()
        && let Some(members) = thing.as_object_mut()
    {
        let uuid = Value::from(new_uuid(context));
        members.insert("uuid".to_owned(), uuid.clone());
        given.push(uuid);
    }
}

/// What the log tells of an invocation as it stands.
pub(super) fn told(row: &Value) -> Value {
    let mut told = json!({
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
            told["cards"] = row["cards"].clone();
            told["systemActions"] = row["system_actions"].clone();
            if let Some(extension) = row.get("extension") {
                told["extension"] = extension.clone();
            }
        }
        Some("failed") => told["error"] = row["error"].clone(),
        _ => {}
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_of_an_answer_is_in_the_event() {
        let row =
            json!({"id": "inv_1", "status": "answered", "cards": [], "system_actions": [], "extension": {"note": "x"}});
        assert_eq!(told(&row)["extension"], json!({"note": "x"}));
        assert!(shown(row).get("extension").is_none());
        let without = json!({"id": "inv_1", "status": "answered", "cards": [], "system_actions": []});
        assert!(told(&without).get("extension").is_none());
    }
}
