//! Candidates of `voice-transcript`: all calls of the phone line, including those with other numbers.

use std::collections::BTreeSet;

use clinical::normalized_phone_number;
use model::event::EventType;
use model::simulator::SimulatorType;
use serde_json::Value;

use super::{Candidate, MOST_EXAMINED};
use crate::checks::voice_transcript::{Speaker, VoiceTranscript};
use crate::count::counted;
use crate::evidence::{EvaluationContext, text};

/// One call, collected from its events.
struct Call<'e> {
    id: &'e str,
    to: Option<&'e str>,
    from: Option<&'e str>,
    speakers: BTreeSet<&'e str>,
    turns: usize,
}

pub(crate) fn of(check: &VoiceTranscript, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
    let mut calls: Vec<Call<'_>> = Vec::new();
    for event in context.events(SimulatorType::Voice, &[EventType::VoiceTurn])? {
        let Some(id) = text(&event.payload, "call_id") else { continue };
        context.budget.spend(1 + calls.len())?;
        let at = calls.iter().position(|call| call.id == id).unwrap_or(calls.len());
        if at == calls.len() {
            calls.push(Call { id, to: None, from: None, speakers: BTreeSet::new(), turns: 0 });
        }
        let call = &mut calls[at];
        call.to = call.to.or(text(&event.payload, "to_number"));
        call.from = call.from.or(text(&event.payload, "from_number"));
        if let Some(speaker) = text(&event.payload, "speaker") {
            call.speakers.insert(speaker);
            call.turns += 1;
        }
    }
    calls.iter().rev().take(MOST_EXAMINED).map(|call| candidate(check, call)).collect()
}

fn candidate(check: &VoiceTranscript, call: &Call<'_>) -> Result<Candidate, String> {
    let with = match (call.to, call.from) {
        (Some(to), _) => format!("call to {to}"),
        (None, Some(from)) => format!("call from {from}"),
        (None, None) => "call".to_owned(),
    };
    let description = format!("{with} with {}", counted(call.turns, "turn"));
    let mut candidate = Candidate::new(call.id, description).given(!call.speakers.contains("agent"));
    if let Some(number) = check.to.as_ref().map(|number| number.ready()).transpose()?
        && call.to.map(normalized_phone_number) != Some(number.normalized())
    {
        candidate.differs("to", number.as_str(), call.to.map_or(Value::Null, Value::from));
    }
    let wanted = match check.speaker {
        Speaker::Agent => Some("agent"),
        Speaker::Caller => Some("caller"),
        Speaker::Any => None,
    };
    let is_silent = wanted.map_or(call.speakers.is_empty(), |wanted| !call.speakers.contains(wanted));
    if is_silent {
        let speakers: Vec<&str> = call.speakers.iter().copied().take(MOST_EXAMINED).collect();
        candidate.differs_because("speaker", wanted.unwrap_or("any"), speakers.into(), "said nothing in this call");
    }
    Ok(candidate)
}
