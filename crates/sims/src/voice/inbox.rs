//! Reading calls, turns and voicemails.

use std::collections::BTreeMap;

use model::event::EventType;
use model::page::{Page, PageRequest};
use serde::Deserialize;
use serde_json::{Value, json};
use world::{Context, NewEvent, Outcome, Sandbox};

use super::config::VoiceConfig;
use super::rows::{Call, text};
use super::steps::{CALLS, VOICEMAILS};
use crate::pagination::{self, SortOrder};

/// Filters for the list of calls.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// `inbound` or `outbound`.
    pub direction: Option<String>,
    /// For example `ringing`.
    pub status: Option<String>,
}

impl Filter {
    fn matches(&self, row: &Value) -> bool {
        let is = |expected: Option<&str>, member| expected.is_none_or(|expected| text(row, member) == Some(expected));
        is(self.direction.as_deref(), "direction") && is(self.status.as_deref(), "status")
    }
}

/// Lists calls, oldest first.
pub fn calls(sandbox: &Sandbox, actor: &str, filter: &Filter, request: &PageRequest) -> Outcome<Page<Value>> {
    let rows = sandbox.records.own(CALLS).map(|record| (record.key.to_owned(), Value::clone(&record.json())));
    let page = pagination::page(rows.filter(|(_, row)| filter.matches(row)).collect(), request, SortOrder::Ascending);
    let payload = json!({"action": "list_calls", "direction": filter.direction, "status": filter.status,
        "count": page.items.len()});
    logged(sandbox, actor, format!("{} calls were listed", page.items.len()), payload, page)
}

/// Returns one call.
pub fn call(sandbox: &Sandbox, actor: &str, id: &str) -> Outcome<Option<Value>> {
    match Call::find(sandbox, id) {
        Some(call) => {
            let payload = json!({"action": "read_call", "call_id": id});
            logged(sandbox, actor, format!("{id} was read"), payload, Some(call.public_row()))
        }
        None => Outcome { answer: None, changes: Vec::new(), events: Vec::new() },
    }
}

/// Lists the turns of a call, in order.
pub fn turns(sandbox: &Sandbox, actor: &str, id: &str, request: &PageRequest) -> Outcome<Option<Page<Value>>> {
    let Some(call) = Call::find(sandbox, id) else {
        return Outcome { answer: None, changes: Vec::new(), events: Vec::new() };
    };
    let turns = Call::turns(sandbox, id, 0, call.state.count).into_iter();
    let rows = turns.map(|turn| (format!("{:06}", turn["index"].as_u64().unwrap_or(0)), turn)).collect();
    let page = pagination::page(rows, request, SortOrder::Ascending);
    let payload = json!({"action": "list_turns", "call_id": id, "count": page.items.len()});
    logged(sandbox, actor, format!("{} turns of {id} were listed", page.items.len()), payload, Some(page))
}

/// The call and its turns from an index, for a stream.
pub fn since(sandbox: &Sandbox, id: &str, from: u64) -> Option<(Value, Vec<Value>)> {
    let call = Call::find(sandbox, id)?;
    let turns = Call::turns(sandbox, id, from, call.state.count);
    Some((call.public_row(), turns))
}

/// Lists voicemails, oldest first.
pub fn voicemails(sandbox: &Sandbox, actor: &str, request: &PageRequest) -> Outcome<Page<Value>> {
    let rows = sandbox.records.own(VOICEMAILS).map(|record| (record.key.to_owned(), Value::clone(&record.json())));
    // Stored rows replace configured voicemails that were heard.
    let rows: BTreeMap<String, Value> = configured_voicemails(sandbox).into_iter().chain(rows).collect();
    let page = pagination::page(rows.into_iter().collect(), request, SortOrder::Ascending);
    let payload = json!({"action": "list_voicemails", "count": page.items.len()});
    logged(sandbox, actor, format!("{} voicemails were listed", page.items.len()), payload, page)
}

/// Returns one voicemail and marks it as heard.
pub fn voicemail(sandbox: &Sandbox, actor: &str, context: &Context<'_>, id: &str) -> Outcome<Option<Value>> {
    let stored = sandbox.records.get(VOICEMAILS, id).live().map(|record| Value::clone(&record.json()));
    let configured = || configured_voicemails(sandbox).into_iter().find(|(key, _)| key == id).map(|(_, row)| row);
    let Some(mut row) = stored.or_else(configured) else {
        return Outcome { answer: None, changes: Vec::new(), events: Vec::new() };
    };
    let mut changes = Vec::new();
    if row["heard"] == false {
        row["heard"] = true.into();
        changes.push(sandbox.put(VOICEMAILS, id, &row, context.now));
    }
    let payload = json!({"action": "hear_voicemail", "id": id});
    Outcome { changes, ..logged(sandbox, actor, format!("{id} was heard"), payload, Some(row)) }
}

/// The configured voicemails. Their ids sort before all others.
fn configured_voicemails(sandbox: &Sandbox) -> Vec<(String, Value)> {
    let config = VoiceConfig::deserialize(&*sandbox.config).unwrap_or_default();
    let numbered = config.voicemails.iter().enumerate();
    let rows = numbered.map(|(index, voicemail)| {
        let id = format!("vm_{:010}", index + 1);
        let row = json!({"id": id, "from_number": voicemail.from_number, "caller_name": voicemail.caller_name, "text": voicemail.text,
            "received_at": sandbox.created_at.to_string(), "heard": false});
        (id, row)
    });
    rows.collect()
}

fn logged<T>(sandbox: &Sandbox, actor: &str, summary: String, payload: Value, answer: T) -> Outcome<T> {
    let event = NewEvent {
        sandbox: sandbox.id.clone(),
        r#type: EventType::VoiceRead,
        actor: actor.to_owned(),
        summary,
        payload: payload.into(),
    };
    Outcome { answer, changes: Vec::new(), events: vec![event] }
}
