//! The context and the outcome of one message to a simulator.

use std::sync::Arc;

use model::event::EventType;
use model::{EventId, Id, SandboxId, Timestamp, Ulid};
use serde::Serialize;
use serde_json::Value;

use crate::Change;

/// The time and new ids, for simulators, which have no clock and no randomness of their own.
pub struct Context<'a> {
    pub now: Timestamp,
    /// A new unique id of 26 letters and digits.
    pub new_id: &'a dyn Fn() -> String,
}

impl Context<'_> {
    /// The id of an event that the response names.
    pub fn new_event_id(&self) -> EventId {
        let made = format!("{}{}", EventId::PREFIX, (self.new_id)()).parse();
        made.unwrap_or_else(|_| EventId::from_ulid(Ulid::new(self.now.milliseconds().unsigned_abs(), 0)))
    }
}

/// The response to a message, the changes that it made, and the events to log.
#[derive(Debug)]
pub struct Outcome<Answer> {
    pub answer: Answer,
    pub changes: Vec<Change>,
    pub events: Vec<NewEvent>,
}

/// A log entry that has no position yet.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    pub sandbox: SandboxId,
    pub r#type: EventType,
    /// The name of the API key or client; never a secret.
    pub actor: String,
    /// A one-line, human-readable summary.
    pub summary: String,
    pub payload: Payload,
}

/// The JSON of an event, as text. Most events are stored and not read again for a long time, so building a tree would
/// be wasted work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    text: Arc<str>,
    event_id: Option<EventId>,
}

impl Payload {
    /// Serializes a value; `null` if that fails.
    pub fn of(value: &impl Serialize) -> Self {
        let mut text = Vec::with_capacity(USUAL_BYTES);
        let written = serde_json::to_writer(&mut text, value);
        let text = written.ok().and_then(|()| String::from_utf8(text).ok());
        Self { text: text.map_or_else(|| "null".into(), Into::into), event_id: None }
    }

    /// Sets the id of the event, for a response that names it.
    #[must_use]
    pub fn of_event(mut self, id: EventId) -> Self {
        self.event_id = Some(id);
        self
    }

    pub fn event_id(&self) -> Option<&EventId> {
        self.event_id.as_ref()
    }

    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

/// Fits most payloads, so that writing seldom reallocates.
const USUAL_BYTES: usize = 512;

impl From<Value> for Payload {
    fn from(value: Value) -> Self {
        Self::of(&value)
    }
}
