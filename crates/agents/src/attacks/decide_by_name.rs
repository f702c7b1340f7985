//! Recognizes a task by its name or id, and reads nothing.
//!
//! [`memory`](super::memory) makes its cases, in a scored run of its own.

use super::case::AttackCase;
use super::memory::{RecalledWork, RecordedTask, VisibleTask, blind_requests};
use super::target::Target;
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "decide-by-name",
    severity: Severity::Other,
    caught_by: CaughtBy::Run,
    suggestion: "nothing to do in the benchmark: a scored run must not show names, tags and stable ids",
    cases,
};

fn cases(_: &Target<'_>) -> Vec<AttackCase> {
    Vec::new()
}

/// Recalls the one task with the same name or id. If there is none, the agent does nothing.
pub(super) fn recall(memories: &[RecordedTask], seen: &VisibleTask<'_>) -> Option<RecalledWork> {
    let only = |is_match: &dyn Fn(&RecordedTask) -> bool| {
        let mut matches = memories.iter().filter(|memory| is_match(memory));
        matches.next().filter(|_| matches.next().is_none())
    };
    let by_name = only(&|memory| memory.name == seen.name).map(|memory| (memory, "name"));
    let known = by_name.or_else(|| only(&|memory| memory.task_id == seen.task_id).map(|memory| (memory, "id")));
    Some(match known {
        Some((memory, by)) => RecalledWork {
            exchanges: blind_requests(&memory.exchanges),
            description: format!("recognized the task by its {by} and sent what was right before, reading nothing"),
        },
        None => RecalledWork { exchanges: Vec::new(), description: "found no name and no id to decide by".to_owned() },
    })
}
