//! Effects on the clearinghouse: one for each person or claim in each transaction that the agent sent.

use model::event::{Event, EventType};
use serde_json::Value;
use world::Verb;
use x12::query::{Position, Query, Selector, View};

use crate::effects::{AgentLog, EffectInfo, SandboxEffect};

pub(crate) const EFFECTS: EffectInfo =
    EffectInfo { channel: "x12", has_paths: false, examples: &["x12/270:send", "x12/276/W123456789:send"], collect };

/// The maximum number of effects of one body. All further ones are counted as one.
const MAX_SUBJECTS: usize = 10_000;

fn collect(log: &AgentLog<'_>) -> Vec<SandboxEffect> {
    let sent = log.events.iter().filter(|event| event.r#type == EventType::X12Request);
    sent.flat_map(|event| {
        subjects(event).into_iter().map(|resource| SandboxEffect { seq: event.seq, resource, verb: Verb::Send })
    })
    .collect()
}

/// The interchange of an `x12_request` or `x12_response` event. None if the client only listed responses.
pub fn text(payload: &Value) -> Option<&str> {
    ["payload", "interchange", "response"].into_iter().find_map(|member| payload.get(member).and_then(Value::as_str))
}

/// Transaction set and member number of each person in the interchange.
fn subjects(event: &Event) -> Vec<String> {
    let Some(text) = text(&event.payload) else { return Vec::new() };
    let Ok(body) = x12::parse(text, &x12::Limits::default()) else { return vec!["unknown".to_owned()] };
    let mut subjects = Vec::new();
    for transaction in body.transactions() {
        subjects.extend(resources(&transaction));
        if subjects.len() > MAX_SUBJECTS {
            subjects.truncate(MAX_SUBJECTS + 1);
            return subjects;
        }
    }
    if subjects.is_empty() { vec!["unknown".to_owned()] } else { subjects }
}

/// The effect resources of a transaction, one for each subject.
pub fn resources(transaction: &x12::Transaction<'_, '_>) -> Vec<String> {
    let set: String = transaction.set().chars().take(10).collect();
    let resource = |view: &View<'_, '_>| match member_number(view) {
        Some(number) => format!("{set}/{number}"),
        None => set.clone(),
    };
    View::by_subject(transaction).iter().map(resource).collect()
}

/// NM109 of the subscriber. A dependent has no number; their resource is `…/dependent`.
fn member_number(view: &View<'_, '_>) -> Option<String> {
    let entity = |code: &'static str, element: usize| Query {
        within: None,
        segment: "NM1",
        selector: Some(Selector::Where { position: Position::element(1), value: code }),
        position: Some(Position::element(element)),
    };
    let number = view.values(&entity("IL", 9)).into_iter().next()?;
    let number: String = number.chars().filter(|c| !c.is_control() && *c != '/').take(80).collect();
    let is_dependent = !view.values(&entity("03", 3)).is_empty();
    Some(if is_dependent { format!("{number}/dependent") } else { number })
}
