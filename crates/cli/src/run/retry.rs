//! Tasks that were not measured through no fault of the agent are run again, in runs of their own.

use std::sync::atomic::Ordering;

use model::run::Status;

use super::drive::Drive;
use super::journal::{Journal, RunRecord, Step, TaskRecord};
use crate::output::tell;
use crate::output::text::counted;

impl TaskRecord {
    /// Whether its result says something about the agent.
    pub(crate) fn is_measured(&self) -> bool {
        let result = self.result.as_ref();
        let is_scored = result.is_some_and(|result| matches!(result.status, Status::Completed | Status::TimedOut));
        is_scored && self.fault.is_none() && !self.interrupted
    }
}

/// Runs again what was not measured, at most so many times. An agent that cannot be started is not tried again.
pub(super) async fn run_again(drive: &Drive, times: u32) -> anyhow::Result<()> {
    for attempt in 1..=times {
        let journal = drive.journal.read();
        let missing = settled(&journal).iter().flat_map(|run| &run.tasks).filter(|task| !task.is_measured()).count();
        let mut records = journal.runs.iter().flat_map(|run| &run.tasks);
        if missing == 0 || drive.interrupt.is_stopped() || records.any(|task| task.agent_not_started) {
            return Ok(());
        }
        tell(format_args!("retry {attempt} of {times}: {} not measured", counted(missing, "task")));
        drive.is_hopeless.store(false, Ordering::Relaxed);
        super::name_ended_runs(drive).await?;
        drive.journal.change(add_retries)?;
        drive.all().await?;
    }
    Ok(())
}

/// One more run for each run that has ended with tasks that were not measured. What has not ended can be gone on with.
fn add_retries(journal: &mut Journal) {
    for (place, run) in settled(journal).into_iter().enumerate() {
        let has_ended = run.tasks.iter().all(|task| task.step == Step::Done);
        let only: Vec<String> =
            run.tasks.iter().filter(|task| !task.is_measured()).map(|task| task.task.to_string()).collect();
        if has_ended && !only.is_empty() {
            journal.runs.push(RunRecord { retry_of: Some(place), only, ..RunRecord::default() });
        }
    }
}

/// The runs that were asked for, with what was measured when their tasks were run again.
pub(crate) fn settled(journal: &Journal) -> Vec<RunRecord> {
    let mut runs: Vec<RunRecord> = journal.runs.iter().filter(|run| run.retry_of.is_none()).cloned().collect();
    for retry in &journal.runs {
        let Some(run) = retry.retry_of.and_then(|place| runs.get_mut(place)) else { continue };
        for again in &retry.tasks {
            let open = run.tasks.iter_mut().find(|task| task.task == again.task && !task.is_measured());
            if let Some(task) = open {
                let id = retry.created.as_ref().map(|created| created.run.to_string()).unwrap_or_default();
                let reason = task.fault.clone().unwrap_or_else(|| "it was interrupted".into());
                *task = again.clone();
                task.notes.insert(0, format!("run again in {id}: {reason}"));
            }
        }
    }
    runs
}
