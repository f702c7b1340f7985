//! Candidates of `hl7-structural`: all messages that the agent sent, including refused ones.

use hl7v2::{Limits, Message};
use model::event::{Event, EventType};
use model::simulator::SimulatorType;
use serde_json::Value;

use super::{Candidate, newest};
use crate::checks::hl7_structural::Hl7Structural;
use crate::evidence::{EvaluationContext, hl7_text, is_hl7_sent};
use crate::path::hl7::Hl7Key;
use crate::scoring::to_json;

pub(crate) fn of(check: &Hl7Structural, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
    let mut events = context.events(SimulatorType::Hl7, &[EventType::Hl7Outbound])?;
    events.retain(|event| event.payload.get("resend_of").is_none());
    newest(events).map(|event| candidate(check, event, context)).collect()
}

fn candidate(check: &Hl7Structural, event: &Event, context: &EvaluationContext<'_>) -> Result<Candidate, String> {
    let text = hl7_text(&event.payload).unwrap_or_default();
    context.budget.spend(text.len() * (1 + check.correlate_by.len()))?;
    let name = event.id.to_string();
    let Ok(message) = Message::parse_text(text, &Limits::default()) else {
        let mut candidate = Candidate::new(name, "a message that cannot be read");
        candidate.differs_because("message", "an HL7 message", text.into(), "cannot be read as HL7 version 2");
        return Ok(candidate);
    };
    let (kind, trigger) = (message.message_type(), message.trigger_event());
    let mut candidate = Candidate::new(name, format!("{kind}^{trigger} with control id {}", message.control_id()));
    for (key, wanted) in check.correlate_by.iter().filter(|(key, wanted)| !key.matches(wanted, &message)) {
        let actual = match key {
            Hl7Key::MessageType if wanted.contains('^') => format!("{kind}^{trigger}").into(),
            Hl7Key::MessageType => kind.as_ref().into(),
            Hl7Key::TriggerEvent => trigger.as_ref().into(),
            Hl7Key::Path(path) => to_json(path.find(&message).into_iter().map(Value::from).collect()),
        };
        candidate.differs(format!("correlate_by.{key}"), wanted.as_str(), actual);
    }
    if !is_hl7_sent(&event.payload) {
        candidate.differs_because("accepted", true, false.into(), "the interface refused the message");
    }
    Ok(candidate)
}
