//! Reruns tasks that were not measured for reasons other than the agent, in additional runs.

use std::sync::atomic::Ordering;

use model::run::Status;

use super::journal::{Journal, RunRecord, TaskRecord, TaskStage};
use super::runner::Runner;
use crate::output::eprint;
use crate::output::text::counted;

impl TaskRecord {
    /// Whether its result measures the agent.
    pub(crate) fn is_measured(&self) -> bool {
        let result = self.result.as_ref();
        let is_scored = result.is_some_and(|result| matches!(result.status, Status::Completed | Status::TimedOut));
        is_scored && self.fault.is_none() && !self.interrupted
    }
}

/// Reruns unmeasured tasks at most `times` times. An agent that cannot be started is not tried again.
pub(super) async fn run_again(runner: &Runner, times: u32) -> anyhow::Result<()> {
    for attempt in 1..=times {
        let journal = runner.journal.read();
        let missing =
            merged_runs(&journal).iter().flat_map(|run| &run.tasks).filter(|task| !task.is_measured()).count();
        let mut records = journal.runs.iter().flat_map(|run| &run.tasks);
        if missing == 0 || runner.interrupt.is_stopped() || records.any(|task| task.agent_not_started) {
            return Ok(());
        }
        eprint(format_args!("retry {attempt} of {times}: {} not measured", counted(missing, "task")));
        runner.gave_up.store(false, Ordering::Relaxed);
        super::fetch_summaries(runner).await?;
        runner.journal.change(add_reruns)?;
        runner.run_all().await?;
    }
    Ok(())
}

/// Adds a run for each finished run with unmeasured tasks. Unfinished runs can be resumed instead.
fn add_reruns(journal: &mut Journal) {
    for (index, run) in merged_runs(journal).into_iter().enumerate() {
        let has_ended = run.tasks.iter().all(|task| task.step == TaskStage::Done);
        let only: Vec<String> =
            run.tasks.iter().filter(|task| !task.is_measured()).map(|task| task.task.to_string()).collect();
        if has_ended && !only.is_empty() {
            journal.runs.push(RunRecord { retry_of: Some(index), only, ..RunRecord::default() });
        }
    }
}

/// The requested runs, with the results of reruns merged into them.
pub(crate) fn merged_runs(journal: &Journal) -> Vec<RunRecord> {
    let mut runs: Vec<RunRecord> = journal.runs.iter().filter(|run| run.retry_of.is_none()).cloned().collect();
    for retry in &journal.runs {
        let Some(run) = retry.retry_of.and_then(|index| runs.get_mut(index)) else { continue };
        for rerun_task in &retry.tasks {
            let unmeasured = run.tasks.iter_mut().find(|task| task.task == rerun_task.task && !task.is_measured());
            if let Some(task) = unmeasured {
                let id = retry.created.as_ref().map(|created| created.run.to_string()).unwrap_or_default();
                let reason = task.fault.clone().unwrap_or_else(|| "it was interrupted".into());
                *task = rerun_task.clone();
                task.notes.insert(0, format!("rerun in {id}: {reason}"));
            }
        }
    }
    runs
}
