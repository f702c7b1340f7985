//! Ends overdue task runs, and ends a run with its last task run.

use model::run::{Phase, Status};
use model::{BenchmarkRunId, OrgId, PlaygroundId, Timestamp, score};
use store::task_runs::{self, Ending, StoredTaskRun};
use store::{Db, playgrounds};

use super::{complete, engines};
use crate::{App, AppError};

/// Maximum number of runs that one sweep expires.
const MAX_SWEPT: i64 = 1000;
/// Maximum number of task runs that one sweep scores.
const MAX_FINISHED: i64 = 100;
/// The sweep leaves a completion this much time after sealing.
const MIN_SEALED_MILLISECONDS: i64 = 60 * 1000;
/// The sweep gives up on task runs that were sealed this long ago. They can still be completed by a request.
const MAX_SEALED_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;

/// Ends the overdue task runs of a run. Called by every request that reads the run.
pub(super) async fn expire_overdue(app: &App, org: &OrgId, run: &BenchmarkRunId) -> Result<(), AppError> {
    let (wanted, scope, now) = (run.clone(), org.clone(), app.now());
    let is_overdue = app.store().read(move |db| {
        let Some(run) = store::runs::find(db, &scope, &wanted)? else { return Ok(false) };
        let task_runs = task_runs::of_run(db, &run.id)?;
        Ok::<_, AppError>(task_runs.iter().any(|task_run| task_run.is_overdue(now)))
    });
    if is_overdue.await? {
        expire(app, run).await?;
    }
    Ok(())
}

async fn expire(app: &App, run: &BenchmarkRunId) -> Result<(), AppError> {
    let (app, run) = (app.clone(), run.clone());
    // In its own task: if the client disconnects, the copies in memory must still be invalidated.
    let expiring = tokio::spawn(async move {
        flush_reads(&app, &run).await?;
        let (id, now) = (run.clone(), app.now());
        let ended = app.store().write(move |db| expire_overdue_in(db, &id, now)).await;
        invalidate(&app, &run).await;
        ended
    });
    expiring.await.unwrap_or_else(|_| Err(AppError::Internal("the end of a task run panicked".into())))
}

/// Writes the events of reads that are only in memory. After the end of a playground nothing can be written to its log.
pub(super) async fn flush_reads(app: &App, run: &BenchmarkRunId) -> Result<(), AppError> {
    let id = run.clone();
    let task_runs = app.store().read(move |db| task_runs::of_run(db, &id)).await?;
    for playground in task_runs.into_iter().filter_map(|task_run| task_run.playground) {
        app.runtime().flush_waiting(&playground).await?;
    }
    Ok(())
}

/// Ends the overdue task runs of a run within a transaction of the caller.
pub(super) fn expire_overdue_in(db: &mut Db<'_>, run: &BenchmarkRunId, now: Timestamp) -> Result<(), AppError> {
    for task_run in task_runs::of_run(db, run)?.into_iter().filter(|task_run| task_run.is_overdue(now)) {
        end_task_run(db, &task_run, &Ending::unscored(Status::TimedOut), now)?;
    }
    finish_if_last(db, run, now)
}

/// Cancels every task run that has not ended.
pub(super) fn cancel_rest(db: &mut Db<'_>, run: &BenchmarkRunId, now: Timestamp) -> Result<(), AppError> {
    Ok(task_runs::end_rest(db, run, &Ending::unscored(Status::Cancelled), now)?)
}

/// Ends a task run and its playground. False when it had ended before.
pub(super) fn end_task_run(
    db: &mut Db<'_>,
    task_run: &StoredTaskRun,
    ending: &Ending,
    now: Timestamp,
) -> Result<bool, AppError> {
    if let Some(playground) = &task_run.playground {
        playgrounds::tear_down(db, playground, now)?;
    }
    Ok(task_runs::end(db, &task_run.id, ending, now)?)
}

/// Ends the run if all of its task runs have ended. Its score is their mean; a task run without a score counts as 0.
pub(super) fn finish_if_last(db: &mut Db<'_>, run: &BenchmarkRunId, now: Timestamp) -> Result<(), AppError> {
    let task_runs = task_runs::of_run(db, run)?;
    if task_runs.iter().any(|task_run| task_run.phase != Phase::Completed) {
        return Ok(());
    }
    let engine = engines::of_task_runs(&task_runs);
    let results: Vec<_> = task_runs.into_iter().filter_map(|task_run| task_run.result).collect();
    store::runs::end(db, run, Status::Completed, Some(&score::run(&results)), engine.as_deref(), now)?;
    Ok(())
}

/// Marks the copies in memory of the run's playgrounds as stale. Playgrounds of tasks that were never started have none.
pub(super) async fn invalidate(app: &App, run: &BenchmarkRunId) {
    app.inner.started_tasks.invalidate(run);
    let id = run.clone();
    let read = app.store().read(move |db| task_runs::of_run(db, &id)).await;
    let playgrounds: Vec<PlaygroundId> = match read {
        Ok(task_runs) => task_runs
            .into_iter()
            .filter(|task_run| task_run.phase != Phase::Created)
            .filter_map(|task_run| task_run.playground)
            .collect(),
        Err(error) => {
            tracing::warn!(%error, "the playgrounds of a run could not be read");
            return;
        }
    };
    playgrounds.iter().for_each(|playground| app.runtime().invalidate(playground));
}

/// Ends overdue task runs, and scores those that were sealed and not scored. Called every few seconds.
pub async fn sweep(app: &App) -> Result<(), AppError> {
    let expired = expire_some(app, None).await;
    score_sealed(app).await.and(expired)
}

/// Scores task runs that were sealed a while ago and not scored yet, because a server has crashed.
async fn score_sealed(app: &App) -> Result<(), AppError> {
    let ago = |milliseconds: i64| app.now().plus_milliseconds(-milliseconds);
    let times = (ago(MAX_SEALED_MILLISECONDS), ago(MIN_SEALED_MILLISECONDS));
    let sealed = app.store().read(move |db| task_runs::sealed_between(db, times, MAX_FINISHED)).await?;
    let mut finished = Ok(());
    for (org, task_run) in sealed {
        // A failure does not stop the others.
        finished = complete::finish_sealed(app, &org, &task_run).await.and(finished);
    }
    finished
}

/// Ends the overdue task runs of an organization's runs.
pub(super) async fn expire_all_overdue(app: &App, org: &OrgId) -> Result<(), AppError> {
    expire_some(app, Some(org.clone())).await
}

async fn expire_some(app: &App, org: Option<OrgId>) -> Result<(), AppError> {
    let now = app.now();
    let overdue = app.store().read(move |db| task_runs::overdue(db, org.as_ref(), now, MAX_SWEPT)).await?;
    let mut ended = Ok(());
    for run in overdue {
        // A failure does not stop the others.
        ended = expire(app, &run).await.and(ended);
    }
    ended
}
