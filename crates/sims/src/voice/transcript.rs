//! Collects what one request adds to a call: turns, events, and the new state of the call.

use model::api_key::masked;
use model::event::EventType;
use serde_json::{Map, Value, json};
use world::{Change, Context, NewEvent, Outcome, Sandbox};

use super::rows::{Call, CallTurn, LEFT_VOICEMAILS, STATES, TURNS, turn_key};
use super::steps::CALLS;
use crate::idempotency::{BOOKKEEPING, IdempotencyKey};
use crate::redact::without_secrets;

/// The response to an action of the agent: the call and the new turns.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    pub call: Value,
    pub turns: Vec<Value>,
}

pub(super) struct Transcript<'a> {
    sandbox: &'a Sandbox,
    actor: &'a str,
    context: &'a Context<'a>,
    pub(super) call: Call,
    turns: Vec<Value>,
    changes: Vec<Change>,
    events: Vec<NewEvent>,
}

/// The actor of the other side.
const OTHER_SIDE: &str = "line";

impl<'a> Transcript<'a> {
    pub(super) fn new(sandbox: &'a Sandbox, actor: &'a str, context: &'a Context<'a>, call: Call) -> Self {
        Self { sandbox, actor, context, call, turns: Vec::new(), changes: Vec::new(), events: Vec::new() }
    }

    pub(super) fn sandbox(&self) -> &'a Sandbox {
        self.sandbox
    }

    /// Adds a turn at the current time plus the simulated waiting time.
    pub(super) fn add(&mut self, turn: &CallTurn, skipped_seconds: i64) {
        let at = self.context.now.plus_milliseconds(skipped_seconds.saturating_mul(1000));
        let index = self.call.state.count;
        let row = Value::Object(turn.row(&self.call.id, index, at));
        self.call.state.count += 1;
        self.changes.push(self.sandbox.put(TURNS, &turn_key(&self.call.id, index), &row, self.context.now));
        let label = turn.dtmf.as_deref().map_or_else(|| format!("“{}”", turn.text), |keys| format!("keys {keys}"));
        self.log(
            if turn.speaker == "agent" { self.actor } else { OTHER_SIDE },
            &format!("{} {label}", turn.speaker),
            row.clone(),
        );
        self.turns.push(row);
    }

    /// Logs an action that is not a turn, such as `dial`.
    pub(super) fn add_action(&mut self, action: &str, members: Map<String, Value>) {
        let mut payload = json!({"call_id": self.call.id, "action": action});
        if let Some(payload) = payload.as_object_mut() {
            payload.extend(members);
        }
        self.log(self.actor, &format!("{} {action}", self.call.id), payload);
    }

    fn log(&mut self, actor: &str, summary: &str, payload: Value) {
        self.events.push(NewEvent {
            sandbox: self.sandbox.id.clone(),
            r#type: EventType::VoiceTurn,
            actor: actor.to_owned(),
            summary: masked(&summary.chars().take(200).collect::<String>()),
            payload: without_secrets(payload).into(),
        });
    }

    /// Stores a voicemail that the agent left.
    pub(super) fn add_left_voicemail(&mut self, text: &str) {
        let row = json!({"call_id": self.call.id, "text": text, "left_at": self.context.now.to_string()});
        self.changes.push(self.sandbox.put(LEFT_VOICEMAILS, &self.call.id, &row, self.context.now));
    }

    pub(super) fn finish(mut self, idempotency_key: Option<&IdempotencyKey>) -> Outcome<Exchange> {
        let (now, id) = (self.context.now, &self.call.id);
        let state = serde_json::to_value(&self.call.state).unwrap_or_default();
        let first = self.call.state.count.saturating_sub(self.turns.len() as u64);
        self.changes.push(self.sandbox.put(CALLS, id, &self.call.row, now));
        self.changes.push(self.sandbox.put(STATES, id, &state, now));
        let about = format!("{id} {first} {}", self.call.state.count);
        self.changes
            .extend(idempotency_key.map(|key| self.sandbox.put(BOOKKEEPING, &key.record_key(), &key.row(&about), now)));
        let answer = Exchange { call: self.call.row, turns: self.turns };
        Outcome { answer, changes: self.changes, events: self.events }
    }
}

/// The response to an earlier request under the same idempotency key.
pub(super) fn earlier_exchange(sandbox: &Sandbox, about: &str) -> Option<Exchange> {
    let mut parts = about.split(' ');
    let call = Call::find(sandbox, parts.next()?)?;
    let (from, to) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(Exchange { turns: Call::turns(sandbox, &call.id, from, to), call: call.row })
}
