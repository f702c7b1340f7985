//! The events of an interface. `hl7_outbound` is what the agent sent; a check reads its `payload`, unless the interface
//! refused it or had it before. `hl7_inbound` is what the agent got.

use std::borrow::Cow;

use hl7v2::{Fault, Message};
use model::api_key::masked;
use model::event::EventType;
use model::{EventId, SandboxId};
use serde_json::{Map, Value};
use world::{NewEvent, Payload};

use super::receive::Delivery;
use super::reply::Ack;
use super::resend::Taken;
use super::text::{one_line, type_of};
use crate::scenario::step::object;

/// A message that was sent, and what became of it.
pub(super) struct Attempt<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) message_type: String,
    pub(super) control_id: String,
    pub(super) is_accepted: bool,
    pub(super) acks: &'a [Ack],
    /// Of an accepted one: the warnings.
    pub(super) faults: Vec<Fault>,
}

/// As much is kept of what cannot be read.
const MOST_UNREADABLE: usize = 4096;

impl Attempt<'_> {
    pub(super) fn shortened(mut self) -> Self {
        self.text = model::reading::shortened(&self.text, MOST_UNREADABLE).into();
        self
    }
}

pub(super) fn attempt(sandbox: &SandboxId, delivery: &Delivery, attempt: &Attempt<'_>, id: EventId) -> NewEvent {
    let code = attempt.acks.last().map(|ack| ack.code.as_str());
    let mut payload = object([
        ("payload", masked(&attempt.text).into()),
        ("message_type", attempt.message_type.as_str().into()),
        ("control_id", attempt.control_id.as_str().into()),
        ("transport", delivery.transport.name().into()),
        ("accepted", attempt.is_accepted.into()),
        ("ack_code", code.into()),
        ("acks", attempt.acks.iter().map(|ack| Value::from(ack.message.text())).collect()),
    ]);
    if !attempt.faults.is_empty() {
        payload
            .insert("faults".to_owned(), attempt.faults.iter().map(|fault| Value::from(fault.to_string())).collect());
    }
    let what = named(&attempt.message_type, &attempt.control_id);
    outbound(sandbox, delivery, &format!("{what} → {}", code.unwrap_or("no answer")), payload, id)
}

/// The same message once more: it is told where it first came, and is no second message.
pub(super) fn resend(
    sandbox: &SandboxId,
    delivery: &Delivery,
    message: &Message,
    taken: &Taken,
    id: EventId,
) -> NewEvent {
    let payload = object([
        ("resend_of", taken.event_id.to_string().into()),
        ("message_type", type_of(message).into()),
        ("control_id", taken.control_id.as_str().into()),
        ("transport", delivery.transport.name().into()),
    ]);
    let summary = format!("{} sent again", named(&taken.message_type, &taken.control_id));
    outbound(sandbox, delivery, &summary, payload, id)
}

fn outbound(
    sandbox: &SandboxId,
    delivery: &Delivery,
    summary: &str,
    payload: Map<String, Value>,
    id: EventId,
) -> NewEvent {
    NewEvent {
        sandbox: sandbox.clone(),
        r#type: EventType::Hl7Outbound,
        actor: delivery.actor.clone(),
        summary: one_line(&masked(summary)),
        payload: Payload::from(Value::Object(payload)).of_event(id),
    }
}

/// Something that the agent did with its inbox.
pub(super) fn inbox(sandbox: &SandboxId, actor: &str, summary: &str, payload: Map<String, Value>) -> NewEvent {
    NewEvent {
        sandbox: sandbox.clone(),
        r#type: EventType::Hl7Inbound,
        actor: actor.to_owned(),
        summary: one_line(summary),
        payload: Value::Object(payload).into(),
    }
}

fn named(message_type: &str, control_id: &str) -> String {
    let named = [message_type, control_id].into_iter().filter(|word| !word.is_empty());
    let named: Vec<&str> = named.collect();
    if named.is_empty() { "what is no message".to_owned() } else { named.join(" ") }
}
