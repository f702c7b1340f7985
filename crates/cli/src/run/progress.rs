//! Shows progress while agents work: a bar on a terminal, otherwise one line per task.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::journal::TaskRecord;
use crate::output::eprint;
use crate::output::text::{sanitize, truncate};

const NAME_COLUMNS: usize = 60;

pub(crate) struct Progress {
    bar: ProgressBar,
    passed: AtomicU64,
    is_drawn: bool,
    is_quiet: bool,
}

impl Progress {
    pub(crate) fn new(tasks: u64, is_quiet: bool) -> Self {
        let is_drawn = std::io::stderr().is_terminal() && !is_quiet;
        let bar = ProgressBar::with_draw_target(Some(tasks), ProgressDrawTarget::hidden());
        if let Ok(style) =
            ProgressStyle::with_template("{spinner} {bar:20} {pos}/{len} tasks, {prefix} passed  {elapsed}  {wide_msg}")
        {
            bar.set_style(style);
        }
        bar.set_prefix("0");
        let progress = Self { bar, passed: AtomicU64::new(0), is_drawn, is_quiet };
        progress.set_tasks(tasks);
        progress
    }

    /// Sets the number of tasks. The bar is only drawn once it is known, because an empty bar looks full.
    pub(crate) fn set_tasks(&self, tasks: u64) {
        self.bar.set_length(tasks);
        if self.is_drawn && tasks > 0 {
            if self.bar.is_hidden() {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// Counts tasks that an earlier process has finished, and how many of them passed.
    pub(crate) fn skip(&self, tasks: u64, passed: u64) {
        self.bar.set_position(tasks);
        self.add_passed(passed);
    }

    fn add_passed(&self, passed: u64) {
        let passed = self.passed.fetch_add(passed, Ordering::Relaxed) + passed;
        self.bar.set_prefix(passed.to_string());
    }

    pub(crate) fn set_current(&self, name: &str) {
        self.bar.set_message(sanitize(name));
    }

    pub(crate) fn task_ended(&self, task: &TaskRecord) {
        self.bar.inc(1);
        self.add_passed(u64::from(is_pass(task)));
        let line = format!("{:<13} {}", describe_outcome(task), truncate(&sanitize(&task.name), NAME_COLUMNS));
        if !self.is_quiet {
            self.bar.suspend(|| eprint(line));
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

pub(super) fn is_pass(task: &TaskRecord) -> bool {
    let verdict = task.result.as_ref().and_then(|result| result.verdict);
    task.is_measured() && verdict == Some(model::score::Verdict::Pass)
}

fn describe_outcome(task: &TaskRecord) -> String {
    match (&task.fault, &task.result) {
        (Some(_), _) => "not measured".into(),
        (None, _) if task.interrupted => "interrupted".into(),
        (None, Some(result)) => {
            let score = result.score.as_ref().map_or_else(|| "-".into(), model::score::format_score_short);
            let verdict = result.verdict.map_or(result.status.name(), model::score::Verdict::name);
            format!("{score:<6} {verdict}{}", crate::report::critical_failures(result.critical_failures))
        }
        (None, None) => "not done".into(),
    }
}
