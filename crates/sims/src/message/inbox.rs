//! Reading messages.

use model::channel::Channel;
use model::event::EventType;
use model::page::{Page, PageRequest};
use serde_json::{Value, json};
use world::{Context, NewEvent, Outcome, Sandbox};

use super::rows::{all, text};
use super::steps::MESSAGES;
use crate::pagination::{self, SortOrder};

/// Filters for the list of messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    pub(super) channel: Option<Channel>,
    /// `inbound` or `outbound`.
    pub(super) direction: Option<String>,
    pub(super) patient_id: Option<String>,
}

impl Filter {
    fn matches(&self, row: &Value) -> bool {
        let is = |expected: Option<&str>, member| expected.is_none_or(|expected| text(row, member) == Some(expected));
        is(self.channel.map(Channel::name), "channel")
            && is(self.direction.as_deref(), "direction")
            && is(self.patient_id.as_deref(), "patient_id")
    }
}

/// Lists messages, oldest first.
pub(super) fn list(sandbox: &Sandbox, actor: &str, filter: &Filter, request: &PageRequest) -> Outcome<Page<Value>> {
    let rows = all(sandbox).map(|record| (record.key.to_owned(), Value::clone(&record.json())));
    let page = pagination::page(rows.filter(|(_, row)| filter.matches(row)).collect(), request, SortOrder::Ascending);
    let payload = json!({"action": "list", "channel": filter.channel.map(Channel::name), "direction": filter.direction,
        "patient_id": filter.patient_id, "count": page.items.len()});
    let summary = format!("{} messages were listed", page.items.len());
    Outcome { answer: page, changes: Vec::new(), events: vec![event(sandbox, actor, summary, payload)] }
}

/// Returns one message and marks it as read.
pub(super) fn read(sandbox: &Sandbox, actor: &str, context: &Context<'_>, id: &str) -> Outcome<Option<Value>> {
    let Some(mut row) = sandbox.records.get(MESSAGES, id).live().map(|record| Value::clone(&record.json())) else {
        return Outcome { answer: None, changes: Vec::new(), events: Vec::new() };
    };
    let mut changes = Vec::new();
    if row["read"] == false {
        row["read"] = true.into();
        changes.push(sandbox.put(MESSAGES, id, &row, context.now));
    }
    let payload = json!({"action": "read", "id": id});
    let events = vec![event(sandbox, actor, format!("{id} was read"), payload)];
    Outcome { answer: Some(row), changes, events }
}

fn event(sandbox: &Sandbox, actor: &str, summary: String, payload: Value) -> NewEvent {
    NewEvent {
        sandbox: sandbox.id.clone(),
        r#type: EventType::MessageRead,
        actor: actor.to_owned(),
        summary,
        payload: payload.into(),
    }
}
