//! Candidates of `message-transcript`: all messages, including those on other channels, to other recipients, and undelivered
//! ones.

use model::channel::Channel;
use model::event::{Event, EventType};
use model::simulator::SimulatorType;
use serde_json::Value;

use super::{Candidate, newest};
use crate::checks::message_transcript::{Direction, MessageFilter, MessageTranscript, is_delivered};
use crate::evidence::{EvaluationContext, is_of_scenario, text};

pub(crate) fn of(check: &MessageTranscript, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
    let types = [EventType::MessageInbound, EventType::MessageOutbound];
    let filter = MessageFilter::new(check, context)?;
    newest(context.events(SimulatorType::Message, &types)?)
        .map(|event| candidate(check, &filter, event, context))
        .collect()
}

fn candidate(
    check: &MessageTranscript,
    filter: &MessageFilter<'_>,
    event: &Event,
    context: &EvaluationContext<'_>,
) -> Result<Candidate, String> {
    let payload = &event.payload;
    let member = |name: &str| payload.get(name).cloned().unwrap_or_default();
    let is_outbound = event.r#type == EventType::MessageOutbound;
    let (direction, preposition) = if is_outbound { ("outbound", "to") } else { ("inbound", "from") };
    let channel = text(payload, "channel").unwrap_or("message");
    let address = text(payload, preposition).unwrap_or("an unknown address");
    let mut candidate = Candidate::new(event.id.to_string(), format!("{channel} {preposition} {address}"))
        .given(!is_outbound || is_of_scenario(event));
    if let Some(wanted) = check.channel.map(Channel::name).filter(|wanted| text(payload, "channel") != Some(wanted)) {
        candidate.differs("channel", wanted, member("channel"));
    }
    let wanted = check.direction.map(|wanted| match wanted {
        Direction::Inbound => "inbound",
        Direction::Outbound => "outbound",
    });
    if let Some(wanted) = wanted.filter(|wanted| *wanted != direction) {
        candidate.differs("direction", wanted, direction.into());
    }
    if let Some(patient) = check.patient_id.as_deref().filter(|_| !filter.is_patients(event)) {
        let is_named = text(payload, "patient_id") == Some(patient);
        match is_named {
            true => candidate.differs_because(
                "patient_id",
                patient,
                member(preposition),
                "the address is not one that the patient has on file",
            ),
            false => candidate.differs("patient_id", patient, member("patient_id")),
        }
    }
    if let Some(wanted) = &check.to
        && !filter.is_addressed(event, context)?
    {
        candidate.differs("to", wanted.to_string(), member(preposition));
    }
    if !is_delivered(payload) {
        let status: Value = member("status");
        candidate.differs_because("status", "delivered", status, "the message was not delivered");
    }
    Ok(candidate)
}
