//! One message to a simulator: what it is given beside the world, and what it gives back.

use model::event::EventType;
use model::{SandboxId, Timestamp};
use serde_json::Value;

use crate::Change;

/// Time and chance, for simulators that have neither.
pub struct Context<'a> {
    pub now: Timestamp,
    /// A new id, never given before: 26 letters and digits.
    pub new_id: &'a dyn Fn() -> String,
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
    pub payload: Value,
}
