//! Effects on the fax line: faxes that were sent, by number.

use model::event::EventType;
use world::Verb;

use crate::effects::{Act, AgentLog, EffectInfo, member};

pub(crate) const EFFECTS: EffectInfo =
    EffectInfo { channel: "fax", has_paths: false, examples: &["fax/+16085550142:send", "fax/*:send"], collect };

fn collect(log: &AgentLog<'_>) -> Vec<Act> {
    let sent = log.events.iter().filter(|event| event.r#type == EventType::FaxOutbound);
    // What was refused went nowhere.
    let sent = sent.filter(|event| member(event, "status") != Some("refused"));
    let number = |event| member(event, "to_number").unwrap_or("unknown").to_owned();
    sent.map(|event| Act { seq: event.seq, resource: number(event), verb: Verb::Send }).collect()
}
