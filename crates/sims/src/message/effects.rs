//! Effects of the Message simulator: text messages and e-mails that were sent, by recipient.

use model::event::{Event, EventType};
use world::Verb;

use crate::effects::{AgentLog, EffectInfo, SandboxEffect, member};

pub(crate) const EFFECTS: EffectInfo = EffectInfo {
    channel: "messages",
    has_paths: false,
    examples: &["messages/sms:send", "messages/email/ada@example.org:send"],
    collect,
};

fn collect(log: &AgentLog<'_>) -> Vec<SandboxEffect> {
    let sent = log.events.iter().filter(|event| event.r#type == EventType::MessageOutbound);
    sent.map(|event| SandboxEffect { seq: event.seq, resource: resource(event), verb: Verb::Send }).collect()
}

fn resource(event: &Event) -> String {
    let channel = member(event, "channel").unwrap_or("unknown");
    match member(event, "to") {
        Some(to) => format!("{channel}/{to}"),
        None => channel.to_owned(),
    }
}
