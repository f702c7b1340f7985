//! Effects on the phone line: calls that were placed and answered. A call is one effect, however many turns it has.

use std::collections::HashSet;

use model::event::{Event, EventType};
use serde_json::Value;
use world::{Sandbox, Verb};

use super::steps::CALLS;
use crate::effects::{AgentLog, EffectInfo, SandboxEffect, member};

pub(crate) const EFFECTS: EffectInfo = EffectInfo {
    channel: "voice",
    has_paths: false,
    examples: &["voice/call:place", "voice/call/+16085550142:place"],
    collect,
};

fn collect(log: &AgentLog<'_>) -> Vec<SandboxEffect> {
    let mut effects = Vec::new();
    let mut calls: HashSet<&str> = HashSet::new();
    for event in log.events.iter().filter(|event| event.r#type == EventType::VoiceTurn) {
        let Some(verb) = verb(event) else { continue };
        // The first thing that the agent does in a call stands for all of it.
        if calls.insert(member(event, "call_id").unwrap_or("unknown")) {
            effects.push(SandboxEffect { seq: event.seq, resource: resource(log.sandbox, event), verb });
        }
    }
    effects
}

fn verb(event: &Event) -> Option<Verb> {
    match (member(event, "action"), member(event, "speaker")) {
        (Some("dial"), _) => Some(Verb::Place),
        (Some("answer"), _) => Some(Verb::Answer),
        (_, Some("agent")) => Some(Verb::Place),
        _ => None,
    }
}

/// By the number at the other end.
fn resource(sandbox: &Sandbox, event: &Event) -> String {
    let row = member(event, "call_id").and_then(|id| sandbox.records.get(CALLS, id).live()).map(|record| record.json());
    let of_row = |name: &str| row.as_ref().and_then(|row| row.get(name)).and_then(Value::as_str);
    let number = member(event, "to_number").or_else(|| of_row("to_number")).or_else(|| of_row("from_number"));
    number.map_or_else(|| "call".to_owned(), |number| format!("call/{number}"))
}
