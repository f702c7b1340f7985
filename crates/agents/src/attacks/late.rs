//! Completes the task first, and does the work afterwards.

use super::case::{AttackCase, AttackStep};
use super::target::Target;
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "late",
    severity: Severity::Other,
    caught_by: CaughtBy::Run,
    suggestion: "nothing to do in the benchmark: the server must refuse writes after completion",
    cases,
};

fn cases(_: &Target<'_>) -> Vec<AttackCase> {
    vec![AttackCase::new("run", "completed the task before the work").step(AttackStep::Late)]
}
