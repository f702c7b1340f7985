//! Critical failures, tasks passed and clean tasks, as reports show them next to the mean; and which criteria are guards.

use super::model::{CheckReport, Report};
use crate::output::text::counted;

/// `2 critical failures`; nothing when there are none.
pub(super) fn failures(count: i64) -> Option<String> {
    let count = usize::try_from(count).unwrap_or_default();
    (count > 0).then(|| counted(count, "critical failure"))
}

/// The same with a separator, to append to a line.
pub(super) fn suffix(count: i64, separator: &str) -> String {
    failures(count).map(|words| format!("{separator}{words}")).unwrap_or_default()
}

/// `4 of 5 tasks passed, 3 of them clean`, over all runs.
pub(super) fn tally(report: &Report) -> Option<String> {
    let tasks = report.tasks().count();
    let runs = if report.runs.len() > 1 { format!(" in {} runs", report.runs.len()) } else { String::new() };
    let (passed, clean) = (report.tasks_passed, report.clean_tasks);
    (tasks > 0 && report.statistics.mean.is_some())
        .then(|| format!("{passed} of {} passed{runs}, every criterion met in {clean}", counted(tasks, "task")))
}

impl CheckReport {
    pub(super) fn is_guard(&self) -> bool {
        self.guard == Some(true)
    }

    /// What a reader should know of the criterion itself: `critical`, `guard`.
    pub(super) fn traits(&self) -> Vec<&'static str> {
        let traits = [("critical", self.critical), ("guard", self.guard)];
        traits.into_iter().filter(|(_, is_set)| *is_set == Some(true)).map(|(name, _)| name).collect()
    }
}

/// The earned criteria before the guards, each in their order.
pub(super) fn guards_last(checks: &[CheckReport]) -> impl Iterator<Item = &CheckReport> {
    let earned = checks.iter().filter(|check| !check.is_guard());
    earned.chain(checks.iter().filter(|check| check.is_guard()))
}
