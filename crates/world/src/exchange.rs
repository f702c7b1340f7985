//! One message to a simulator: what it is given beside the world, and what it gives back.

use std::sync::Arc;

use model::event::EventType;
use model::{EventId, Id, SandboxId, Timestamp, Ulid};
use serde::Serialize;
use serde_json::Value;

use crate::Change;

/// Time and chance, for simulators that have neither.
pub struct Context<'a> {
    pub now: Timestamp,
    /// A new id, never given before: 26 letters and digits.
    pub new_id: &'a dyn Fn() -> String,
}

impl Context<'_> {
    /// For an answer that names its event.
    pub fn new_event_id(&self) -> EventId {
        let made = format!("{}{}", EventId::PREFIX, (self.new_id)()).parse();
        made.unwrap_or_else(|_| EventId::from_ulid(Ulid::new(self.now.milliseconds().unsigned_abs(), 0)))
    }
}

/// The answer to a message, what it changed, and what is to be remembered of it.
#[derive(Debug)]
pub struct Outcome<Answer> {
    pub answer: Answer,
    pub changes: Vec<Change>,
    pub events: Vec<NewEvent>,
}

/// An entry of the log before it has its place.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    pub sandbox: SandboxId,
    pub r#type: EventType,
    /// Who did it: a key's or client's name, never a secret.
    pub actor: String,
    /// One line for people.
    pub summary: String,
    pub payload: Payload,
}

/// The JSON of an event, as its text: most events are stored and not looked at again for a long time, so that a tree of
/// them would be built only to be written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    text: Arc<str>,
    event_id: Option<EventId>,
}

impl Payload {
    /// Of anything that serialises; what does not is a null.
    pub fn of(value: &impl Serialize) -> Self {
        let mut text = Vec::with_capacity(USUAL_BYTES);
        let written = serde_json::to_writer(&mut text, value);
        let text = written.ok().and_then(|()| String::from_utf8(text).ok());
        Self { text: text.map_or_else(|| "null".into(), Into::into), event_id: None }
    }

    /// The event gets this id: for an answer that names its event.
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

/// Room for most, so that writing seldom moves what is written.
const USUAL_BYTES: usize = 512;

impl From<Value> for Payload {
    fn from(value: Value) -> Self {
        Self::of(&value)
    }
}
