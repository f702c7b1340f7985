//! Memorizes a run that is not scored, and sends the same in one that is.
//!
//! It makes its cases in [`memory`](super::memory), in a scored run of its own. It recognizes a task by its task item and by
//! what waits in its inboxes, file names included.

use super::case::Case;
use super::memory::{Memory, Recalled, Seen};
use super::target::Target;
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "replay",
    severity: Severity::ReportedOnly,
    caught_by: CaughtBy::Run,
    suggestion: "vary the data from run to run: an exact copy of an earlier run must not be right",
    cases,
};

fn cases(_: &Target<'_>) -> Vec<Case> {
    Vec::new()
}

pub(super) fn recall(memories: &[Memory], seen: &Seen<'_>) -> Option<Recalled> {
    let memory = memories.get(seen.place?)?;
    let description = "sent exactly what was right in a run that was not scored".to_owned();
    Some(Recalled { exchanges: memory.exchanges.clone(), description })
}
