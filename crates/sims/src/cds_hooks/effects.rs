//! Effects of decision support: cards that the agent showed to a user, and feedback that it gave, by hook.

use model::event::{Event, EventType};
use world::Verb;

use crate::effects::{Act, AgentLog, EffectInfo, member};

pub(crate) const EFFECTS: EffectInfo = EffectInfo {
    channel: "cds",
    has_paths: false,
    examples: &["cds/order-sign:send", "cds/order-sign/feedback:send"],
    collect,
};

fn collect(log: &AgentLog<'_>) -> Vec<Act> {
    let named = log.events.iter().filter_map(|event| Some((event, resource(event)?)));
    named.map(|(event, resource)| Act { seq: event.seq, resource, verb: Verb::Send }).collect()
}

fn resource(event: &Event) -> Option<String> {
    let hook = member(event, "hook").unwrap_or("unknown");
    match event.r#type {
        EventType::CdsFeedback => Some(format!("{hook}/feedback")),
        EventType::CdsInvoke => {
            let is_agents = member(event, "answered_by") == Some("agent") && event.payload.get("cards").is_some();
            is_agents.then(|| format!("{hook}/response"))
        }
        _ => None,
    }
}
