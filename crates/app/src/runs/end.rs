//! How task runs end without being completed, and how the last one ends the run.

use model::run::{Phase, Status};
use model::{BenchmarkRunId, OrgId, PlaygroundId, Timestamp, score};
use store::task_runs::{self, Ending, StoredTaskRun};
use store::{Db, playgrounds};

use super::{complete, engines};
use crate::{App, AppError};

/// Runs that one sweep looks after.
const MOST_SWEPT: i64 = 1000;
/// Task runs that one sweep scores.
const MOST_FINISHED: i64 = 100;
/// A completion that takes less than this after sealing is not disturbed.
const EARLIEST_FINISH_MILLISECONDS: i64 = 60 * 1000;
/// What could not be scored for so long is not tried again, unless somebody completes it.
const LATEST_FINISH_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;

/// Records what is past its time in a run: whoever looks first does it.
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
    // Its own task: whoever only wanted to look may go away, and memory must hear of what is written.
    let expiring = tokio::spawn(async move {
        write_reads(&app, &run).await?;
        let (id, now) = (run.clone(), app.now());
        let ended = app.store().write(move |db| expire_in(db, &id, now)).await;
        doubt(&app, &run).await;
        ended
    });
    expiring.await.unwrap_or_else(|_| Err(AppError::Internal("the end of a task run panicked".into())))
}

/// Writes what is only in memory of the run's reads: after the end of their playgrounds nothing can be written.
pub(super) async fn write_reads(app: &App, run: &BenchmarkRunId) -> Result<(), AppError> {
    let id = run.clone();
    let task_runs = app.store().read(move |db| task_runs::of_run(db, &id)).await?;
    for playground in task_runs.into_iter().filter_map(|task_run| task_run.playground) {
        app.runtime().flush_waiting(&playground).await?;
    }
    Ok(())
}

/// In a transaction that changes the run anyway.
pub(super) fn expire_in(db: &mut Db<'_>, run: &BenchmarkRunId, now: Timestamp) -> Result<(), AppError> {
    for task_run in task_runs::of_run(db, run)?.into_iter().filter(|task_run| task_run.is_overdue(now)) {
        end_one(db, &task_run, &Ending::unscored(Status::TimedOut), now)?;
    }
    finish_if_last(db, run, now)
}

/// Every task run that has not ended.
pub(super) fn cancel_rest(db: &mut Db<'_>, run: &BenchmarkRunId, now: Timestamp) -> Result<(), AppError> {
    Ok(task_runs::end_rest(db, run, &Ending::unscored(Status::Cancelled), now)?)
}

/// Ends a task run and its playground. False when it had ended before.
pub(super) fn end_one(
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

/// The last task run ends the run: the mean of all, those without a score of their own counting 0.
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

/// What memory has of the run's playgrounds may be older than what was just written.
pub(super) async fn doubt(app: &App, run: &BenchmarkRunId) {
    app.inner.started.forget(run);
    let id = run.clone();
    let read = app.store().read(move |db| task_runs::of_run(db, &id)).await;
    let playgrounds: Vec<PlaygroundId> = match read {
        Ok(task_runs) => task_runs.into_iter().filter_map(|task_run| task_run.playground).collect(),
        Err(error) => {
            tracing::warn!(%error, "the playgrounds of a run could not be read");
            return;
        }
    };
    playgrounds.iter().for_each(|playground| app.runtime().invalidate(playground));
}

pub(super) async fn sweep(app: &App) -> Result<(), AppError> {
    let expired = expire_some(app, None).await;
    finish_sealed(app).await.and(expired)
}

/// Scores what was sealed a while ago and is not scored yet: the server or the agent that was to do it has crashed.
async fn finish_sealed(app: &App) -> Result<(), AppError> {
    let ago = |milliseconds: i64| app.now().plus_milliseconds(-milliseconds);
    let times = (ago(LATEST_FINISH_MILLISECONDS), ago(EARLIEST_FINISH_MILLISECONDS));
    let sealed = app.store().read(move |db| task_runs::sealed_between(db, times, MOST_FINISHED)).await?;
    let mut finished = Ok(());
    for (org, task_run) in sealed {
        // One that cannot be scored does not keep the others.
        finished = complete::finish(app, &org, &task_run).await.and(finished);
    }
    finished
}

/// Records what is past its time in an organization's runs.
pub(super) async fn expire_all_overdue(app: &App, org: &OrgId) -> Result<(), AppError> {
    expire_some(app, Some(org.clone())).await
}

async fn expire_some(app: &App, org: Option<OrgId>) -> Result<(), AppError> {
    let now = app.now();
    let overdue = app.store().read(move |db| task_runs::overdue(db, org.as_ref(), now, MOST_SWEPT)).await?;
    let mut ended = Ok(());
    for run in overdue {
        // One that cannot be ended does not keep the others.
        ended = expire(app, &run).await.and(ended);
    }
    ended
}
