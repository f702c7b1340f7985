//! What one message adds to a call: turns, their events, and the call as it is afterwards.

use model::api_key::masked;
use model::event::EventType;
use serde_json::{Map, Value, json};
use world::{Change, Context, NewEvent, Outcome, Sandbox};

use super::rows::{Call, LEFT, STATES, TURNS, Turn, turn_key};
use super::steps::CALLS;
use crate::idempotency::{BOOKKEEPING, IdempotencyKey};
use crate::redact::without_secrets;

/// The answer to whatever the agent did: the call, and the turns that it led to.
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

/// Whoever is at the other end.
const LINE: &str = "line";

impl<'a> Transcript<'a> {
    pub(super) fn new(sandbox: &'a Sandbox, actor: &'a str, context: &'a Context<'a>, call: Call) -> Self {
        Self { sandbox, actor, context, call, turns: Vec::new(), changes: Vec::new(), events: Vec::new() }
    }

    pub(super) fn sandbox(&self) -> &'a Sandbox {
        self.sandbox
    }

    /// Adds a turn, `skipped_seconds` after the time that it would have without what nobody waited for.
    pub(super) fn add(&mut self, turn: &Turn, skipped_seconds: i64) {
        let at = self.context.now.plus_milliseconds(skipped_seconds.saturating_mul(1000));
        let index = self.call.state.count;
        let row = Value::Object(turn.row(&self.call.id, index, at));
        self.call.state.count += 1;
        self.changes.push(self.sandbox.put(TURNS, &turn_key(&self.call.id, index), &row, self.context.now));
        let words = turn.dtmf.as_deref().map_or_else(|| format!("“{}”", turn.text), |keys| format!("keys {keys}"));
        self.tell(
            if turn.speaker == "agent" { self.actor } else { LINE },
            &format!("{} {words}", turn.speaker),
            row.clone(),
        );
        self.turns.push(row);
    }

    /// Something that happens to the call and is no turn.
    pub(super) fn note(&mut self, action: &str, members: Map<String, Value>) {
        let mut payload = json!({"call_id": self.call.id, "action": action});
        if let Some(payload) = payload.as_object_mut() {
            payload.extend(members);
        }
        self.tell(self.actor, &format!("{} {action}", self.call.id), payload);
    }

    fn tell(&mut self, actor: &str, summary: &str, payload: Value) {
        self.events.push(NewEvent {
            sandbox: self.sandbox.id.clone(),
            r#type: EventType::VoiceTurn,
            actor: actor.to_owned(),
            summary: masked(&summary.chars().take(200).collect::<String>()),
            payload: without_secrets(payload).into(),
        });
    }

    /// A message that the agent left.
    pub(super) fn leave(&mut self, text: &str) {
        let row = json!({"call_id": self.call.id, "text": text, "left_at": self.context.now.to_string()});
        self.changes.push(self.sandbox.put(LEFT, &self.call.id, &row, self.context.now));
    }

    pub(super) fn finish(mut self, token: Option<&IdempotencyKey>) -> Outcome<Exchange> {
        let (now, id) = (self.context.now, &self.call.id);
        let state = serde_json::to_value(&self.call.state).unwrap_or_default();
        let first = self.call.state.count.saturating_sub(self.turns.len() as u64);
        self.changes.push(self.sandbox.put(CALLS, id, &self.call.row, now));
        self.changes.push(self.sandbox.put(STATES, id, &state, now));
        let about = format!("{id} {first} {}", self.call.state.count);
        self.changes
            .extend(token.map(|token| self.sandbox.put(BOOKKEEPING, &token.record_key(), &token.row(&about), now)));
        let answer = Exchange { call: self.call.row, turns: self.turns };
        Outcome { answer, changes: self.changes, events: self.events }
    }
}

/// What an earlier message of the same name was answered with.
pub(super) fn earlier(sandbox: &Sandbox, about: &str) -> Option<Exchange> {
    let mut parts = about.split(' ');
    let call = Call::find(sandbox, parts.next()?)?;
    let (from, to) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(Exchange { turns: Call::turns(sandbox, &call.id, from, to), call: call.row })
}
