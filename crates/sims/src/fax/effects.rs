//! Effects of the Fax simulator: faxes that were sent, by number.

use model::event::EventType;
use world::Verb;

use crate::effects::{AgentLog, EffectInfo, SandboxEffect, member};

pub(crate) const EFFECTS: EffectInfo =
    EffectInfo { channel: "fax", has_paths: false, examples: &["fax/+16085550142:send", "fax/*:send"], collect };

fn collect(log: &AgentLog<'_>) -> Vec<SandboxEffect> {
    let sent = log.events.iter().filter(|event| event.r#type == EventType::FaxOutbound);
    // Rejected faxes have no effect.
    let sent = sent.filter(|event| member(event, "status") != Some("refused"));
    let number = |event| member(event, "to_number").unwrap_or("unknown").to_owned();
    sent.map(|event| SandboxEffect { seq: event.seq, resource: number(event), verb: Verb::Send }).collect()
}
