//! Effects on the HL7 interface: accepted messages.

use model::event::{Event, EventType};
use serde_json::Value;
use world::Verb;

use crate::effects::{AgentLog, EffectInfo, SandboxEffect};

pub(crate) const EFFECTS: EffectInfo =
    EffectInfo { channel: "hl7", has_paths: false, examples: &["hl7/ORM^O01:send", "hl7/ADT^*:send"], collect };

fn collect(log: &AgentLog<'_>) -> Vec<SandboxEffect> {
    let sent = log.events.iter().filter(|event| event.r#type == EventType::Hl7Outbound && is_sent(&event.payload));
    sent.map(|event| SandboxEffect { seq: event.seq, resource: message_type(event), verb: Verb::Send }).collect()
}

/// Whether an `hl7_outbound` event is about an accepted message that is not a resend.
pub fn is_sent(payload: &Value) -> bool {
    payload.get("accepted") != Some(&Value::Bool(false)) && payload.get("resend_of").is_none()
}

/// The message of an `hl7_outbound` event.
pub fn text(payload: &Value) -> Option<&str> {
    ["payload", "message"].into_iter().find_map(|member| payload.get(member).and_then(Value::as_str))
}

fn message_type(event: &Event) -> String {
    let text = text(&event.payload).unwrap_or_default();
    let message = hl7v2::Message::parse_text(text, &hl7v2::Limits::default());
    message.map_or_else(
        |_| "unknown".to_owned(),
        |message| format!("{}^{}", message.message_type(), message.trigger_event()),
    )
}
