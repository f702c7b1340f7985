//! A catalog of attacks on a benchmark, by mechanism.
//!
//! An attack does the work of the reference agent and adds one harmful or dishonest thing to it, or gets by without the
//! work. None of them may pass. Attacks are derived from a recorded run of the reference agent (its plan, and a survey of what
//! it could see), so they apply to any benchmark: no attack knows a bundled one.
//!
//! Each mechanism is a file with one `ATTACK`. To add one, write the file and add its name to the list below.

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

pub use case::Case;
pub(crate) use memory::scored_cases;
pub use report::{AttackResult, Attempts};
pub(crate) use report::{attempts, criteria_of, result};
pub(crate) use survey::surveyed_types;
pub use survey::{Exchange, Survey};
pub(crate) use target::Target;

/// The most cases of one attack that are tried on one task.
const MOST_CASES: usize = 12;

/// One mechanism.
pub struct Attack {
    /// As reports and tables name it.
    pub name: &'static str,
    pub severity: Severity,
    pub(crate) caught_by: CaughtBy,
    /// What an author should do when the attack passes, in one sentence.
    pub suggestion: &'static str,
    pub(crate) cases: fn(&Target<'_>) -> Vec<Case>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Somebody would be harmed.
    Grave,
    /// The work was not done, or not by understanding the task.
    Other,
    /// Reported, and does not fail an audit: the task's data would have to vary between runs.
    ReportedOnly,
}

/// Which criterion of a task should have caught an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaughtBy {
    /// The check of the channel that was attacked.
    Channel,
    NoSideEffects,
    NoDisclosure,
    /// No criterion: what an agent sees of a scored run.
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

    fn cases_of(&'static self, target: &Target<'_>) -> Vec<Case> {
        let cases = spread((self.cases)(target)).into_iter();
        cases.map(|case| Case { attack: Some(self), ..case.for_plan(&target.plan.sent) }).collect()
    }
}

/// As many as are tried, from every channel in turn.
fn spread(cases: Vec<Case>) -> Vec<Case> {
    let mut by_channel: Vec<(String, VecDeque<Case>)> = Vec::new();
    for case in cases {
        match by_channel.iter_mut().find(|(channel, _)| *channel == case.channel) {
            Some((_, known)) => known.push_back(case),
            None => by_channel.push((case.channel.clone(), VecDeque::from([case]))),
        }
    }
    let mut taken = Vec::new();
    while taken.len() < MOST_CASES && by_channel.iter().any(|(_, left)| !left.is_empty()) {
        taken.extend(by_channel.iter_mut().filter_map(|(_, left)| left.pop_front()));
    }
    taken.truncate(MOST_CASES);
    taken
}

/// All cases of all attacks that apply to a task, in the same order every time.
pub(crate) fn cases(target: &Target<'_>) -> Vec<Case> {
    CATALOG.iter().flat_map(|attack| attack.cases_of(target)).collect()
}
