//! Reads only the instruction, and does what another task with the same instruction needed.
//!
//! [`memory`](super::memory) makes its cases, in a scored run of its own.

use serde_json::Value;

use super::case::AttackCase;
use super::memory::{RecalledWork, RecordedTask, VisibleTask, blind_requests};
use super::survey::Exchange;
use super::target::Target;
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "decide-by-instruction",
    severity: Severity::ReportedOnly,
    caught_by: CaughtBy::Run,
    suggestion: "vary the tasks: what is right must depend on what the sandboxes hold",
    cases,
};

fn cases(_: &Target<'_>) -> Vec<AttackCase> {
    Vec::new()
}

/// Recalls the work of the next task with the same instruction, with the values of this task's item.
pub(super) fn recall(memories: &[RecordedTask], seen: &VisibleTask<'_>) -> Option<RecalledWork> {
    let own = seen.index?;
    let instruction = skeleton(seen.item);
    let later = memories.iter().enumerate().cycle().skip(own + 1).take(memories.len().saturating_sub(1));
    let (_, sibling) = later.into_iter().find(|(_, memory)| skeleton(&memory.item) == instruction)?;
    let exchanges =
        blind_requests(&sibling.exchanges).iter().map(|one| adapted(one, &sibling.item, seen.item)).collect();
    let description = format!("did what \"{}\" needed, which has the same instruction", sibling.name);
    Some(RecalledWork { exchanges, description })
}

/// The plain lower-case words of the instruction, without names, numbers and quoted values.
fn skeleton(item: &Value) -> Vec<String> {
    let text = item["instruction"].as_str().unwrap_or_default();
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let is_plain = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    words.filter(is_plain).map(str::to_owned).collect()
}

/// Replaces values of the sibling's task item with those of this task.
fn adapted(exchange: &Exchange, sibling: &Value, own: &Value) -> Exchange {
    let mut exchange = exchange.clone();
    for (key, value) in sibling.as_object().into_iter().flatten().filter(|(key, _)| *key != "instruction") {
        let (Some(old), Some(new)) = (value.as_str(), own[key].as_str()) else { continue };
        if old.len() < 3 || old == new {
            continue;
        }
        exchange.message.path = exchange.message.path.replace(old, new);
        if let Ok(text) = std::str::from_utf8(&exchange.message.body) {
            exchange.message.body = text.replace(old, new).into();
        }
    }
    exchange
}
