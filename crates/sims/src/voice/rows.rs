//! The rows of calls and turns, and the state of a call between turns.

use std::collections::BTreeMap;

use model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use world::Sandbox;

use super::steps::CALLS;
use crate::scenario::step::object;

/// Turns by `{call}-{index}`: `{call_id, index, speaker, text, dtmf?, at}`.
pub(crate) const TURNS: &str = "call_turns";
/// The state of calls, by call id. It is not visible to agents.
pub(crate) const STATES: &str = "call_states";
/// Voicemails that the agent left, by call id.
pub(crate) const LEFT_VOICEMAILS: &str = "left_voicemails";

pub(super) fn text<'v>(row: &'v Value, member: &str) -> Option<&'v str> {
    row.get(member).and_then(Value::as_str)
}

/// The state of a call between two turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CallState {
    /// The node that listens now.
    pub(super) node: String,
    /// How often the node has asked again.
    #[serde(default)]
    pub(super) tries: i64,
    /// The values from the agent, by field.
    #[serde(default)]
    pub(super) fields: BTreeMap<String, String>,
    /// The result of the last lookup.
    #[serde(default)]
    pub(super) record: Option<RecordRef>,
    /// A value that the agent has not confirmed yet.
    #[serde(default)]
    pub(super) confirming: Option<String>,
    /// The keys that were pressed one by one so far.
    #[serde(default)]
    pub(super) keys: String,
    /// Simulated time on hold and in silence.
    #[serde(default)]
    pub(super) skipped_seconds: i64,
    /// The number of turns.
    #[serde(default)]
    pub(super) count: u64,
}

/// A reference to a record of the playground.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RecordRef {
    pub(super) sandbox: String,
    pub(super) collection: String,
    pub(super) key: String,
}

/// A stored call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) row: Value,
    pub(super) state: CallState,
}

impl Call {
    pub(super) fn find(sandbox: &Sandbox, id: &str) -> Option<Self> {
        let row = Value::clone(&sandbox.records.get(CALLS, id).live()?.json());
        let state = sandbox.records.get(STATES, id).live();
        let state = state.and_then(|record| CallState::deserialize(&*record.json()).ok()).unwrap_or_default();
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

    /// The row that agents see.
    pub(super) fn public_row(&self) -> Value {
        self.row.clone()
    }

    /// The turns with indexes `from..to`.
    pub(super) fn turns(sandbox: &Sandbox, id: &str, from: u64, to: u64) -> Vec<Value> {
        let turn = |index: u64| {
            sandbox.records.get(TURNS, &turn_key(id, index)).live().map(|record| Value::clone(&record.json()))
        };
        (from..to).filter_map(turn).collect()
    }

    /// Ends the call.
    pub(super) fn end(&mut self, status: &str, by: &str, now: Timestamp) {
        let ended = now.plus_milliseconds(self.state.skipped_seconds.saturating_mul(1000));
        let started = text(&self.row, "started_at").and_then(|text| Timestamp::deserialize(Value::from(text)).ok());
        let duration = started.map_or(0, |started| (ended.milliseconds() - started.milliseconds()).max(0) / 1000);
        self.set("status", status);
        self.set("ended_at", ended.to_string());
        self.set("ended_by", by);
        self.set("duration_seconds", duration);
    }
}

pub(super) fn turn_key(call: &str, index: u64) -> String {
    format!("{call}-{index:06}")
}

/// One turn of the agent or the other side.
#[derive(Clone, Debug, Default)]
pub(super) struct CallTurn {
    pub(super) speaker: &'static str,
    pub(super) text: String,
    pub(super) dtmf: Option<String>,
    /// How long the agent is on hold after the turn.
    pub(super) hold_seconds: Option<i64>,
    /// `silence`, `unheard`, `interrupts` or `cut_off`.
    pub(super) note: Option<&'static str>,
}

impl CallTurn {
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
