//! Calls and turns as they are kept and shown, and what a call remembers.

use std::collections::BTreeMap;

use model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use world::Sandbox;

use super::steps::CALLS;
use crate::scenario::step::object;

/// Turns by `{call}-{index}`: `{call_id, index, speaker, text, dtmf?, at}`.
pub(crate) const TURNS: &str = "call_turns";
/// What the line remembers of a call, by the call's id. No agent is shown it.
pub(crate) const STATES: &str = "call_states";
/// Messages that the agent left, by the call's id.
pub(crate) const LEFT: &str = "left_voicemails";

pub(super) fn text<'v>(row: &'v Value, member: &str) -> Option<&'v str> {
    row.get(member).and_then(Value::as_str)
}

/// What a call remembers between two turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    /// The node that listens.
    pub(super) node: String,
    /// How often the node has asked again.
    #[serde(default)]
    pub(super) tries: i64,
    /// What the agent gave, by name.
    #[serde(default)]
    pub(super) fields: BTreeMap<String, String>,
    /// What a look-up found.
    #[serde(default)]
    pub(super) record: Option<Found>,
    /// A value that was read back and not confirmed yet.
    #[serde(default)]
    pub(super) confirming: Option<String>,
    /// Keys that were pressed one by one.
    #[serde(default)]
    pub(super) keys: String,
    /// Time that nobody waited for: on hold, and in silence.
    #[serde(default)]
    pub(super) skipped_seconds: i64,
    /// How many turns the call has.
    #[serde(default)]
    pub(super) count: u64,
}

/// Where a record lies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) sandbox: String,
    pub(super) collection: String,
    pub(super) key: String,
}

/// A call as it is kept.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) row: Value,
    pub(super) state: State,
}

impl Call {
    pub(super) fn find(sandbox: &Sandbox, id: &str) -> Option<Self> {
        let row = Value::clone(&sandbox.records.get(CALLS, id).live()?.json());
        let state = sandbox.records.get(STATES, id).live();
        let state = state.and_then(|record| State::deserialize(&*record.json()).ok()).unwrap_or_default();
        Some(Self { id: id.to_owned(), row, state })
    }

    pub(super) fn status(&self) -> &str {
        text(&self.row, "status").unwrap_or_default()
    }

    pub(super) fn is_inbound(&self) -> bool {
        text(&self.row, "direction") == Some("inbound")
    }

    pub(super) fn set(&mut self, member: &str, value: impl Into<Value>) {
        if let Some(row) = self.row.as_object_mut() {
            row.insert(member.to_owned(), value.into());
        }
    }

    /// The call as the agent is shown it.
    pub(super) fn shown(&self) -> Value {
        self.row.clone()
    }

    /// The turns from one to before another.
    pub(super) fn turns(sandbox: &Sandbox, id: &str, from: u64, to: u64) -> Vec<Value> {
        let turn =
            |index: u64| sandbox.records.get(TURNS, &turn_key(id, index)).live().map(|it| Value::clone(&it.json()));
        (from..to).filter_map(turn).collect()
    }

    /// Ends it.
    pub(super) fn end(&mut self, status: &str, by: &str, now: Timestamp) {
        let ended = now.plus_milliseconds(self.state.skipped_seconds.saturating_mul(1000));
        let started = text(&self.row, "started_at").and_then(|text| Timestamp::deserialize(Value::from(text)).ok());
        let lasted = started.map_or(0, |started| (ended.milliseconds() - started.milliseconds()).max(0) / 1000);
        self.set("status", status);
        self.set("ended_at", ended.to_string());
        self.set("ended_by", by);
        self.set("duration_seconds", lasted);
    }
}

pub(super) fn turn_key(call: &str, index: u64) -> String {
    format!("{call}-{index:06}")
}

/// One turn, of the agent or of whoever is at the other end.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    pub(super) speaker: &'static str,
    pub(super) text: String,
    pub(super) dtmf: Option<String>,
    /// How long the agent was put on hold after it.
    pub(super) hold_seconds: Option<i64>,
    /// How the turn was more than words: `silence`, `unheard`, `interrupts`, `cut_off`.
    pub(super) note: Option<&'static str>,
}

impl Turn {
    pub(super) fn row(&self, call: &str, index: u64, at: Timestamp) -> Map<String, Value> {
        let mut row = object([
            ("call_id", call.into()),
            ("index", index.into()),
            ("speaker", self.speaker.into()),
            ("text", self.text.as_str().into()),
            ("at", at.to_string().into()),
        ]);
        let members = [
            ("dtmf", self.dtmf.clone().map(Value::from)),
            ("hold_seconds", self.hold_seconds.map(Value::from)),
            ("note", self.note.map(Value::from)),
        ];
        row.extend(members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        row
    }
}
