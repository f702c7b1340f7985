//! What is seen while agents work: a bar on a terminal, one line per task otherwise.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::journal::TaskRecord;
use crate::output::tell;
use crate::output::text::{cut, harmless};

const NAME_COLUMNS: usize = 60;

pub(crate) struct Progress {
    bar: ProgressBar,
    is_drawn: bool,
    is_quiet: bool,
}

impl Progress {
    pub(crate) fn new(tasks: u64, is_quiet: bool) -> Self {
        let is_drawn = std::io::stderr().is_terminal() && !is_quiet;
        let bar = ProgressBar::with_draw_target(Some(tasks), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {bar:30} {pos}/{len} tasks  {elapsed}  {wide_msg}") {
            bar.set_style(style);
        }
        let progress = Self { bar, is_drawn, is_quiet };
        progress.expect(tasks);
        progress
    }

    /// A bar is drawn once it is known how long it is: one of nothing would look full.
    pub(crate) fn expect(&self, tasks: u64) {
        self.bar.set_length(tasks);
        if self.is_drawn && tasks > 0 {
            if self.bar.is_hidden() {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// Tasks that an earlier process has ended.
    pub(crate) fn skip(&self, tasks: u64) {
        self.bar.set_position(tasks);
    }

    pub(crate) fn working(&self, name: &str) {
        self.bar.set_message(harmless(name));
    }

    pub(crate) fn ended(&self, task: &TaskRecord) {
        self.bar.inc(1);
        let line = format!("{:<13} {}", outcome(task), cut(&harmless(&task.name), NAME_COLUMNS));
        if !self.is_quiet {
            self.bar.suspend(|| tell(line));
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn outcome(task: &TaskRecord) -> String {
    match (&task.fault, &task.result) {
        (Some(_), _) => "not measured".into(),
        (None, Some(result)) => {
            let score = result.score.as_ref().map_or_else(|| "-".into(), model::score::brief);
            let verdict = result.verdict.map_or(result.status.name(), model::score::Verdict::name);
            format!("{score:<6} {verdict}{}", crate::report::critical_failures(result.critical_failures))
        }
        (None, None) => "not done".into(),
    }
}
