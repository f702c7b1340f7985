//! Records an unscored run, and sends the same requests in a scored one.
//!
//! [`memory`](super::memory) makes its cases, in a scored run of its own. A task is recognized by its task item and the
//! contents of its inboxes, including file names.

use super::case::AttackCase;
use super::memory::{RecalledWork, RecordedTask, VisibleTask};
use super::target::Target;
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "replay",
    severity: Severity::ReportedOnly,
    caught_by: CaughtBy::Run,
    suggestion: "vary the data from run to run: an exact copy of an earlier run must not be right",
    cases,
};

fn cases(_: &Target<'_>) -> Vec<AttackCase> {
    Vec::new()
}

pub(super) fn recall(memories: &[RecordedTask], seen: &VisibleTask<'_>) -> Option<RecalledWork> {
    let memory = memories.get(seen.index?)?;
    let description = "sent exactly what was right in a run that was not scored".to_owned();
    Some(RecalledWork { exchanges: memory.exchanges.clone(), description })
}
