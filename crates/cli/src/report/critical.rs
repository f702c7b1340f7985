//! Texts for critical failures, passed tasks and clean tasks; and the order of guards in reports.

use super::model::{CheckReport, Report};
use crate::output::text::counted;

/// `2 critical failures`; `None` if there are none.
pub(super) fn failures(count: i64) -> Option<String> {
    let count = usize::try_from(count).unwrap_or_default();
    (count > 0).then(|| counted(count, "critical failure"))
}

/// The critical failures with a separator, to append to a line.
pub(super) fn suffix(count: i64, separator: &str) -> String {
    failures(count).map(|words| format!("{separator}{words}")).unwrap_or_default()
}

/// `4 of 5 tasks passed, every criterion met in 3`, over all runs.
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

    /// The properties of the criterion: `critical`, `guard`.
    pub(super) fn traits(&self) -> Vec<&'static str> {
        let traits = [("critical", self.critical), ("guard", self.guard)];
        traits.into_iter().filter(|(_, is_set)| *is_set == Some(true)).map(|(name, _)| name).collect()
    }
}

/// All checks in their order, guards last.
pub(super) fn guards_last(checks: &[CheckReport]) -> impl Iterator<Item = &CheckReport> {
    let earned = checks.iter().filter(|check| !check.is_guard());
    earned.chain(checks.iter().filter(|check| check.is_guard()))
}
