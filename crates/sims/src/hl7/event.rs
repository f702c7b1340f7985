//! Log events of the interface. `hl7_outbound` is a message that the agent sent. Checks read its `payload`, unless it was
//! rejected or a resend. `hl7_inbound` is a message that the agent received.

use std::borrow::Cow;

use hl7v2::{Fault, Message};
use model::api_key::masked;
use model::event::EventType;
use model::{EventId, SandboxId};
use serde_json::{Map, Value};
use world::{NewEvent, Payload};

use super::receive::Delivery;
use super::reply::Ack;
use super::resend::AcceptedMessage;
use super::text::{one_line, type_of};
use crate::scenario::step::object;

/// A received message and its acknowledgments.
pub(super) struct Attempt<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) message_type: String,
    pub(super) control_id: String,
    pub(super) is_accepted: bool,
    pub(super) acks: &'a [Ack],
    /// If the message was accepted, these are warnings.
    pub(super) faults: Vec<Fault>,
}

/// How much of an unreadable message is logged, in characters.
const MAX_UNREADABLE_CHARS: usize = 4096;

impl Attempt<'_> {
    pub(super) fn shortened(mut self) -> Self {
        self.text = model::reading::shortened(&self.text, MAX_UNREADABLE_CHARS).into();
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
    let name = message_name(&attempt.message_type, &attempt.control_id);
    outbound(sandbox, delivery, &format!("{name} → {}", code.unwrap_or("no answer")), payload, id)
}

/// A resend. Its event refers to the first one and does not count as another message.
pub(super) fn resend(
    sandbox: &SandboxId,
    delivery: &Delivery,
    message: &Message,
    accepted: &AcceptedMessage,
    id: EventId,
) -> NewEvent {
    let payload = object([
        ("resend_of", accepted.event_id.to_string().into()),
        ("message_type", type_of(message).into()),
        ("control_id", accepted.control_id.as_str().into()),
        ("transport", delivery.transport.name().into()),
    ]);
    let summary = format!("{} sent again", message_name(&accepted.message_type, &accepted.control_id));
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

/// An action of the agent on its inbox.
pub(super) fn inbox(sandbox: &SandboxId, actor: &str, summary: &str, payload: Map<String, Value>) -> NewEvent {
    NewEvent {
        sandbox: sandbox.clone(),
        r#type: EventType::Hl7Inbound,
        actor: actor.to_owned(),
        summary: one_line(summary),
        payload: Value::Object(payload).into(),
    }
}

fn message_name(message_type: &str, control_id: &str) -> String {
    let parts: Vec<&str> = [message_type, control_id].into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "unreadable message".to_owned() } else { parts.join(" ") }
}
