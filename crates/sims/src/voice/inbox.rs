//! Calls, turns and voicemails as the agent reads them.

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

/// Which calls are listed.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// `inbound` or `outbound`.
    pub direction: Option<String>,
    /// Such as `ringing`.
    pub status: Option<String>,
}

impl Filter {
    fn admits(&self, row: &Value) -> bool {
        let is = |wanted: Option<&str>, member| wanted.is_none_or(|wanted| text(row, member) == Some(wanted));
        is(self.direction.as_deref(), "direction") && is(self.status.as_deref(), "status")
    }
}

/// Oldest first.
pub fn calls(sandbox: &Sandbox, actor: &str, filter: &Filter, request: &PageRequest) -> Outcome<Page<Value>> {
    let rows = sandbox.records.own(CALLS).map(|record| (record.key.to_owned(), Value::clone(&record.json())));
    let page = pagination::page(rows.filter(|(_, row)| filter.admits(row)).collect(), request, SortOrder::Ascending);
    let told = json!({"action": "list_calls", "direction": filter.direction, "status": filter.status,
        "count": page.items.len()});
    looked(sandbox, actor, format!("{} calls were listed", page.items.len()), told, page)
}

/// One call.
pub fn call(sandbox: &Sandbox, actor: &str, id: &str) -> Outcome<Option<Value>> {
    match Call::find(sandbox, id) {
        Some(call) => {
            let told = json!({"action": "read_call", "call_id": id});
            looked(sandbox, actor, format!("{id} was read"), told, Some(call.shown()))
        }
        None => Outcome { answer: None, changes: Vec::new(), events: Vec::new() },
    }
}

/// The turns of a call, in their order.
pub fn turns(sandbox: &Sandbox, actor: &str, id: &str, request: &PageRequest) -> Outcome<Option<Page<Value>>> {
    let Some(call) = Call::find(sandbox, id) else {
        return Outcome { answer: None, changes: Vec::new(), events: Vec::new() };
    };
    let turns = Call::turns(sandbox, id, 0, call.state.count).into_iter();
    let rows = turns.map(|turn| (format!("{:06}", turn["index"].as_u64().unwrap_or(0)), turn)).collect();
    let page = pagination::page(rows, request, SortOrder::Ascending);
    let told = json!({"action": "list_turns", "call_id": id, "count": page.items.len()});
    looked(sandbox, actor, format!("{} turns of {id} were listed", page.items.len()), told, Some(page))
}

/// The call and its turns from one on, for somebody who listens to it all the time.
pub fn since(sandbox: &Sandbox, id: &str, from: u64) -> Option<(Value, Vec<Value>)> {
    let call = Call::find(sandbox, id)?;
    let turns = Call::turns(sandbox, id, from, call.state.count);
    Some((call.shown(), turns))
}

/// Oldest first.
pub fn voicemails(sandbox: &Sandbox, actor: &str, request: &PageRequest) -> Outcome<Page<Value>> {
    let rows = sandbox.records.own(VOICEMAILS).map(|record| (record.key.to_owned(), Value::clone(&record.json())));
    // What was heard lies over what was there from the start.
    let rows: BTreeMap<String, Value> = seeds(sandbox).into_iter().chain(rows).collect();
    let page = pagination::page(rows.into_iter().collect(), request, SortOrder::Ascending);
    let told = json!({"action": "list_voicemails", "count": page.items.len()});
    looked(sandbox, actor, format!("{} voicemails were listed", page.items.len()), told, page)
}

/// One voicemail; from now on it has been heard.
pub fn voicemail(sandbox: &Sandbox, actor: &str, context: &Context<'_>, id: &str) -> Outcome<Option<Value>> {
    let kept = sandbox.records.get(VOICEMAILS, id).live().map(|record| Value::clone(&record.json()));
    let seed = || seeds(sandbox).into_iter().find(|(key, _)| key == id).map(|(_, row)| row);
    let Some(mut row) = kept.or_else(seed) else {
        return Outcome { answer: None, changes: Vec::new(), events: Vec::new() };
    };
    let mut changes = Vec::new();
    if row["heard"] == false {
        row["heard"] = true.into();
        changes.push(sandbox.put(VOICEMAILS, id, &row, context.now));
    }
    let told = json!({"action": "hear_voicemail", "id": id});
    Outcome { changes, ..looked(sandbox, actor, format!("{id} was heard"), told, Some(row)) }
}

/// The messages that the config brings, by ids that come before all others.
fn seeds(sandbox: &Sandbox) -> Vec<(String, Value)> {
    let config = VoiceConfig::deserialize(&*sandbox.config).unwrap_or_default();
    let numbered = config.voicemails.iter().enumerate();
    let seeds = numbered.map(|(index, seed)| {
        let id = format!("vm_{:010}", index + 1);
        let row = json!({"id": id, "from_number": seed.from_number, "caller_name": seed.caller_name, "text": seed.text,
            "received_at": sandbox.created_at.to_string(), "heard": false});
        (id, row)
    });
    seeds.collect()
}

fn looked<T>(sandbox: &Sandbox, actor: &str, summary: String, payload: Value, answer: T) -> Outcome<T> {
    let event = NewEvent {
        sandbox: sandbox.id.clone(),
        r#type: EventType::VoiceRead,
        actor: actor.to_owned(),
        summary,
        payload: payload.into(),
    };
    Outcome { answer, changes: Vec::new(), events: vec![event] }
}
