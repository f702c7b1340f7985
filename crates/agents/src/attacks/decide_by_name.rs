//! Decides by what a task is called, and reads nothing of it.
//!
//! It makes its cases in [`memory`](super::memory), in a scored run of its own.

use super::case::Case;
use super::memory::{Memory, Recalled, Seen, writes};
use super::target::Target;
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "decide-by-name",
    severity: Severity::Other,
    caught_by: CaughtBy::Run,
    suggestion: "nothing to do in the benchmark: a scored run must not show names, tags and stable ids",
    cases,
};

fn cases(_: &Target<'_>) -> Vec<Case> {
    Vec::new()
}

/// The task of the same name or id, if there is just one. Without any, the agent has nothing to go by and does nothing.
pub(super) fn recall(memories: &[Memory], seen: &Seen<'_>) -> Option<Recalled> {
    let only = |is_meant: &dyn Fn(&Memory) -> bool| {
        let mut meant = memories.iter().filter(|memory| is_meant(memory));
        meant.next().filter(|_| meant.next().is_none())
    };
    let by_name = only(&|memory| memory.name == seen.name).map(|memory| (memory, "name"));
    let known = by_name.or_else(|| only(&|memory| memory.task_id == seen.task_id).map(|memory| (memory, "id")));
    Some(match known {
        Some((memory, by)) => Recalled {
            exchanges: writes(&memory.exchanges),
            description: format!("recognized the task by its {by} and sent what was right before, reading nothing"),
        },
        None => Recalled { exchanges: Vec::new(), description: "found no name and no id to decide by".to_owned() },
    })
}
