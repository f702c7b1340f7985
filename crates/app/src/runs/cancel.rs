//! Cancels task runs and runs, which then have no score.

use model::run::{BenchmarkRun, Status};
use model::{BenchmarkRunId, TaskRunId};
use store::Db;
use store::task_runs::{self, Ending};

use super::views::{self, TaskRunGrant, TaskRunView};
use super::{engines, expire, find_active_run};
use crate::idempotency::ResponseStorage;
use crate::{App, AppError, Created, Once, OrgGrant};

/// Ends one task run. It counts as 0, and the run continues.
pub async fn cancel_task_run<G: TaskRunGrant>(
    app: &App,
    grant: &G,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<G::View>, AppError> {
    let caller = &grant.caller();
    if let Some(replayed) = app.replayed(caller, once.as_ref(), ResponseStorage::Plain).await? {
        return views::with_snapshot(app, caller, id, replayed).await;
    }
    views::expire_task_run(app, &caller.scope, id).await?;
    let (scope, wanted) = (caller.scope.clone(), id.clone());
    let (run, _) = app.store().read(move |db| scope.task_run(db, &wanted)).await?;
    expire::flush_reads(app, &run.id).await?;
    let (scope, task_run_id, now) = (caller.scope.clone(), id.clone(), app.now());
    let work = move |db: &mut Db<'_>| {
        let (run, task_run) = scope.task_run(db, &task_run_id)?;
        if !expire::end_task_run(db, &task_run, &Ending::unscored(Status::Cancelled), now)? {
            let status = task_run.status.name();
            return Err(AppError::conflict(format!("the task run is {status}; it has ended already")));
        }
        expire::finish_if_last(db, &run.id, now)?;
        let (run, task_run) = scope.task_run(db, &task_run_id)?;
        Ok(G::View::new(&run, &task_run, Vec::new()))
    };
    let cancelled = app.once(caller, once, ResponseStorage::Plain, work).await;
    expire::invalidate(app, &run.id).await;
    views::with_snapshot(app, caller, id, cancelled?).await
}

/// Ends a run without a score: completed tasks keep their results, the others are cancelled, and the token expires.
pub async fn cancel_run(
    app: &App,
    grant: &OrgGrant,
    id: &BenchmarkRunId,
    once: Option<Once>,
) -> Result<Created<BenchmarkRun>, AppError> {
    if let Some(replayed) = app.replayed(grant, once.as_ref(), ResponseStorage::Plain).await? {
        return Ok(replayed);
    }
    expire::expire_overdue(app, &grant.org, id).await?;
    let (org, wanted) = (grant.org.clone(), id.clone());
    let run = app.store().read(move |db| super::find_run(db, &org, &wanted)).await?.id;
    expire::flush_reads(app, &run).await?;
    let (org, id, now) = (grant.org.clone(), id.clone(), app.now());
    let work = move |db: &mut Db<'_>| {
        let run = find_active_run(db, &org, &id)?;
        expire::cancel_rest(db, &run.id, now)?;
        let engine = engines::of_task_runs(&task_runs::of_run(db, &run.id)?);
        store::runs::end(db, &run.id, Status::Cancelled, None, engine.as_deref(), now)?;
        views::full_run(db, &org, &id)
    };
    let cancelled = app.once(grant, once, ResponseStorage::Plain, work).await;
    app.inner.credentials.clear();
    expire::invalidate(app, &run).await;
    cancelled
}
