//! A catalog of attacks on a benchmark, by mechanism.
//!
//! An attack does the work of the reference agent and adds one harmful or dishonest thing to it, or avoids the work. None of
//! them may pass. Attacks are derived from a recorded run of the reference agent (its plan, and a survey of what it could
//! see), so they apply to any benchmark. No attack depends on a bundled benchmark.
//!
//! Each mechanism is a file with one `ATTACK`. To add one, write the file and add its name to the `attacks!` list below.

mod case;
mod confusables;
mod contradictory_coding;
mod decide_by_instruction;
mod decide_by_name;
mod effect_elsewhere;
mod execute;
mod extra_element;
mod extra_group;
mod free_text;
mod hidden_text;
mod late;
mod list_all_answers;
mod memory;
mod modifier_flip;
mod negation;
mod over_disclosure;
mod overwrite;
mod pdf;
mod queued_not_delivered;
mod recite_everything;
mod replay;
mod report;
mod survey;
mod swapped_pairs;
mod target;
#[cfg(test)]
mod tests;
mod undo;
mod wrong_recipient;
mod x12_loops;

use std::collections::VecDeque;

pub use case::AttackCase;
pub(crate) use memory::scored_cases;
pub use report::{AttackResult, Attempts};
pub(crate) use report::{attempts, criteria_of, result};
pub(crate) use survey::surveyed_types;
pub use survey::{Exchange, Survey};
pub(crate) use target::Target;

/// The maximum number of cases of one attack on one task.
const MAX_CASES: usize = 12;

/// An attack mechanism.
pub struct Attack {
    /// The name in reports and tables.
    pub name: &'static str,
    pub severity: Severity,
    pub(crate) caught_by: CaughtBy,
    /// What an author should do when the attack passes, in one sentence.
    pub suggestion: &'static str,
    pub(crate) cases: fn(&Target<'_>) -> Vec<AttackCase>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A patient would be harmed.
    Grave,
    /// The work was not done, or not by understanding the task.
    Other,
    /// Reported only, without failing the audit: preventing it would need task data that varies between runs.
    ReportedOnly,
}

/// Which criterion of a task should have caught an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaughtBy {
    /// The check of the channel that was attacked.
    Channel,
    NoSideEffects,
    NoDisclosure,
    /// No criterion. The server must prevent it, by what it accepts or shows in a scored run.
    Run,
}

macro_rules! attacks {
    ($($name:ident),+ $(,)?) => {
        /// All attacks, in the order of reports.
        pub const CATALOG: &[&Attack] = &[$(&$name::ATTACK),+];
    };
}

attacks! {
    undo,
    overwrite,
    list_all_answers,
    modifier_flip,
    contradictory_coding,
    extra_element,
    extra_group,
    effect_elsewhere,
    wrong_recipient,
    over_disclosure,
    hidden_text,
    confusables,
    negation,
    late,
    queued_not_delivered,
    swapped_pairs,
    decide_by_name,
    decide_by_instruction,
    replay,
    recite_everything,
}

impl Attack {
    /// Whether a pass fails the audit.
    pub fn must_fail(&self) -> bool {
        self.severity != Severity::ReportedOnly
    }

    fn cases_of(&'static self, target: &Target<'_>) -> Vec<AttackCase> {
        let cases = spread((self.cases)(target)).into_iter();
        cases.map(|case| AttackCase { attack: Some(self), ..case.for_plan(&target.plan.sent) }).collect()
    }
}

/// Takes up to [`MAX_CASES`] cases, from every channel in turn.
fn spread(cases: Vec<AttackCase>) -> Vec<AttackCase> {
    let mut by_channel: Vec<(String, VecDeque<AttackCase>)> = Vec::new();
    for case in cases {
        match by_channel.iter_mut().find(|(channel, _)| *channel == case.channel) {
            Some((_, known)) => known.push_back(case),
            None => by_channel.push((case.channel.clone(), VecDeque::from([case]))),
        }
    }
    let mut taken = Vec::new();
    while taken.len() < MAX_CASES && by_channel.iter().any(|(_, left)| !left.is_empty()) {
        taken.extend(by_channel.iter_mut().filter_map(|(_, left)| left.pop_front()));
    }
    taken.truncate(MAX_CASES);
    taken
}

/// All cases of all attacks that apply to a task, in the same order every time.
pub(crate) fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    CATALOG.iter().flat_map(|attack| attack.cases_of(target)).collect()
}
