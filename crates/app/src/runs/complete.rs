//! The completion of a task: freezes the playground, scores it, and writes the result in one transaction.

use std::sync::Arc;

use model::run::{BenchmarkRun, Phase, Status, TaskRun};
use model::{BenchmarkRunId, CriterionRunId, FieldErrors, OrgId, TaskRunId, Timestamp};
use serde_json::Value;
use store::Db;
use store::runs::StoredRun;
use store::task_runs::{self, Ending, StoredCriterionRun, StoredTaskRun};

use super::evaluate::{self, CriterionOutcome};
use super::views::{self, TaskRunGrant, TaskRunView};
use super::{expire, find_active_run, find_run, snapshots, start_task_run, unread_faxes};
use crate::caller::{Caller, Scope};
use crate::idempotency::ResponseStorage;
use crate::{App, AppError, Created, Once, OrgGrant};

/// Freezes the task's playground and scores it.
pub async fn complete_task_run<G: TaskRunGrant>(
    app: &App,
    grant: &G,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<G::View>, AppError> {
    let caller = &grant.caller();
    if let Some(replayed) = app.replayed(caller, once.as_ref(), ResponseStorage::Plain).await? {
        return views::with_snapshot(app, caller, id, replayed).await;
    }
    if caller.scope.is_organization() {
        start_if_created(app, grant, id).await?;
    }
    let completed = score_task_run(app, caller, id, once).await?;
    views::with_snapshot(app, caller, id, completed).await
}

/// An organization may complete a task run that was not started. It is started first, so that its scenario counts.
async fn start_if_created<G: TaskRunGrant>(app: &App, grant: &G, id: &TaskRunId) -> Result<(), AppError> {
    let (scope, wanted) = (grant.caller().scope, id.clone());
    let (_, task_run) = app.store().read(move |db| scope.task_run(db, &wanted)).await?;
    if task_run.phase == Phase::Created {
        start_task_run(app, grant, "", id, None).await?;
    }
    Ok(())
}

async fn score_task_run<V: TaskRunView>(
    app: &App,
    caller: &Caller,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<V>, AppError> {
    let (scope, wanted) = (caller.scope.clone(), id.clone());
    let (run, _) = app.store().read(move |db| scope.task_run(db, &wanted)).await?;
    expire::expire_overdue(app, &run.org, &run.id).await?;
    let (scope, wanted) = (caller.scope.clone(), id.clone());
    let (run, task_run) = app.store().read(move |db| scope.task_run(db, &wanted)).await?;
    let scored = match check_phase(&task_run) {
        Ok(()) => match freeze_and_score(app, &run, &task_run).await? {
            Some(scored) => Some(scored),
            None => {
                let error = not_frozen(app, &caller.scope, id).await?;
                if once.is_none() {
                    return Err(error);
                }
                None
            }
        },
        // The caller may be repeating a request that succeeded. For a task that is not started this cannot be.
        Err(_) if once.is_some() && task_run.phase == Phase::Completed => None,
        Err(error) => return Err(error),
    };
    let (scope, task_run_id, now) = (caller.scope.clone(), id.clone(), app.now());
    let work = move |db: &mut Db<'_>| {
        let (_, task_run) = scope.task_run(db, &task_run_id)?;
        check_phase(&task_run)?;
        let started_meanwhile = || AppError::conflict("the task run was started a moment ago; complete it again");
        let scored = scored.as_ref().ok_or_else(started_meanwhile)?;
        scored.write(db, &task_run, now)?;
        let (run, task_run) = scope.task_run(db, &task_run_id)?;
        Ok(V::new(&run, &task_run, scored.criteria.clone()))
    };
    let completed = app.once(caller, once, ResponseStorage::Plain, work).await;
    unload(app, &task_run);
    completed
}

/// Ends a run with a score: started tasks are scored, the others are cancelled.
pub async fn complete_run(
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
    let started = match app.store().read(move |db| started_task_runs(db, &org, &wanted)).await {
        Ok(started) => Some(started),
        // The caller may be repeating a request that succeeded.
        Err(AppError::Conflict { .. }) if once.is_some() => None,
        Err(error) => return Err(error),
    };
    let was_active = started.is_some();
    for task_run in started.into_iter().flatten() {
        match score_task_run::<TaskRun>(app, &grant.into(), &task_run, None).await {
            Ok(_) | Err(AppError::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let (org, run, now) = (grant.org.clone(), id.clone(), app.now());
    let work = move |db: &mut Db<'_>| {
        // The last of the started tasks may have ended the run.
        let is_completed = was_active && find_run(db, &org, &run)?.status == Status::Completed;
        if !is_completed {
            find_active_run(db, &org, &run)?;
            expire::cancel_rest(db, &run, now)?;
            expire::finish_if_last(db, &run, now)?;
        }
        views::full_run(db, &org, &run)
    };
    let completed = app.once(grant, once, ResponseStorage::Plain, work).await;
    expire::invalidate(app, id).await;
    completed
}

fn started_task_runs(db: &mut Db<'_>, org: &OrgId, id: &BenchmarkRunId) -> Result<Vec<TaskRunId>, AppError> {
    let run = find_active_run(db, org, id)?;
    let all = task_runs::of_run(db, &run.id)?;
    Ok(all.into_iter().filter(|task_run| task_run.phase == Phase::Started).map(|task_run| task_run.id).collect())
}

/// Scores a task run that was sealed and not scored, because the server crashed in between. Does nothing if it was scored
/// or has ended meanwhile.
pub(super) async fn finish_sealed(app: &App, org: &OrgId, id: &TaskRunId) -> Result<(), AppError> {
    let (scope, wanted) = (org.clone(), id.clone());
    let read = move |db: &mut Db<'_>| {
        let task_run = task_runs::find(db, &scope, &wanted)?;
        let task_run = task_run.filter(|task_run| task_run.phase == Phase::Started && task_run.sealed_at.is_some());
        let Some(task_run) = task_run else { return Ok(None) };
        Ok::<_, AppError>(Some((find_run(db, &scope, &task_run.run)?, task_run)))
    };
    let Some((run, task_run)) = app.store().read(read).await? else { return Ok(()) };
    let Some(scored) = freeze_and_score(app, &run, &task_run).await? else { return Ok(()) };
    let (org, id, now) = (org.clone(), id.clone(), app.now());
    let write = move |db: &mut Db<'_>| match task_runs::find(db, &org, &id)? {
        Some(task_run) if task_run.phase == Phase::Started => scored.write(db, &task_run, now),
        _ => Ok(()),
    };
    let written = app.store().write(write).await;
    unload(app, &task_run);
    written
}

/// Frees the memory of a task run that has ended.
fn unload(app: &App, task_run: &StoredTaskRun) {
    app.inner.started_tasks.invalidate(&task_run.run);
    if let Some(playground) = &task_run.playground {
        app.runtime().unload(playground);
    }
}

/// Why a task run could not be frozen: it has ended meanwhile.
async fn not_frozen(app: &App, scope: &Scope, id: &TaskRunId) -> Result<AppError, AppError> {
    let (current, wanted) = (scope.clone(), id.clone());
    let (run, _) = app.store().read(move |db| current.task_run(db, &wanted)).await?;
    expire::expire_overdue(app, &run.org, &run.id).await?;
    let (current, wanted) = (scope.clone(), id.clone());
    let (_, task_run) = app.store().read(move |db| current.task_run(db, &wanted)).await?;
    let changing = || AppError::conflict("the task run is just being ended by another request; read its result");
    Ok(check_phase(&task_run).err().unwrap_or_else(changing))
}

fn check_phase(task_run: &StoredTaskRun) -> Result<(), AppError> {
    match task_run.phase {
        Phase::Started => Ok(()),
        Phase::Created => Err(AppError::conflict("the task run is not started; start it first")),
        Phase::Completed => Err(already_ended(task_run)),
    }
}

/// The error names the result.
fn already_ended(task_run: &StoredTaskRun) -> AppError {
    let mut details = FieldErrors::new();
    details.add("status", task_run.status.name());
    if let (Some(verdict), Some((score, _))) = (task_run.verdict(), &task_run.result) {
        details.add("verdict", verdict.name());
        details.add("score", score.number().to_string());
        if task_run.critical_failures > 0 {
            details.add("critical_failures", task_run.critical_failures.to_string());
        }
    }
    let status = match task_run.status {
        Status::TimedOut => "timed out",
        status => status.name(),
    };
    AppError::Conflict { message: format!("the task run is {status}; its result stands"), details }
}

/// The result of a task run before it is written.
struct Scored {
    ending: Ending,
    criteria: Vec<(StoredCriterionRun, Value)>,
}

impl Scored {
    fn write(&self, db: &mut Db<'_>, task_run: &StoredTaskRun, now: Timestamp) -> Result<(), AppError> {
        task_runs::end(db, &task_run.id, &self.ending, now)?;
        self.criteria.iter().try_for_each(|(criterion, _)| task_runs::insert_criterion_run(db, criterion))?;
        expire::finish_if_last(db, &task_run.run, now)
    }
}

/// Freezes the playground of a started task run and scores it. None if it has ended, or its deadline has passed.
async fn freeze_and_score(app: &App, run: &StoredRun, task_run: &StoredTaskRun) -> Result<Option<Scored>, AppError> {
    let playground = task_run.playground.as_ref();
    let playground = playground.ok_or_else(|| AppError::Internal("a started task run has no playground".into()))?;
    let snapshot = snapshots::of(app, run).await?;
    let task = snapshots::task(&snapshot, &task_run.task)?.clone();
    unread_faxes::check(app, &snapshot, &task, playground).await?;
    let started_at = app.now();
    let Some(frozen) = app.runtime().freeze(&task_run.id, playground).await? else { return Ok(None) };
    frozen.world.sandboxes.keys().for_each(|sandbox| app.notify_sandbox_end(sandbox));
    app.inner.started_tasks.invalidate(&run.id);
    let sealed_at = frozen.sealed_at;
    let evidence = Arc::new(app.frozen_evidence(playground, frozen.world, frozen.completed_seq).await?);
    let outcomes = app.evaluate(Arc::clone(&snapshot), task, Arc::clone(&evidence)).await?;
    let (score, axes) = evaluate::task_score(&outcomes);
    let sealed = evaluate::sealed(&evidence, &snapshot, &run.content_hash, app.engine(), sealed_at);
    let ending = Ending {
        status: Status::Completed,
        score,
        axes: Some(axes),
        critical_failures: outcomes.iter().filter(|one| one.is_critical_failure()).count() as i64,
        clean: !outcomes.is_empty() && outcomes.iter().all(|one| one.outcome.passed),
        sealed: Some(sealed),
        failure: None,
    };
    let mut criteria = Vec::new();
    for (one, position) in outcomes.into_iter().zip(0..) {
        criteria.push(criterion_run(app, task_run, one, position, started_at).await?);
    }
    Ok(Some(Scored { ending, criteria }))
}

async fn criterion_run(
    app: &App,
    task_run: &StoredTaskRun,
    outcome: CriterionOutcome,
    position: i64,
    started_at: Timestamp,
) -> Result<(StoredCriterionRun, Value), AppError> {
    let CriterionOutcome { criterion, outcome } = outcome;
    let text: Arc<str> = outcome.evidence.to_string().into();
    let stored = StoredCriterionRun {
        id: app.new_id::<CriterionRunId>(),
        org: task_run.org.clone(),
        task_run: task_run.id.clone(),
        position,
        criterion: criterion.id,
        label: criterion.label,
        axis: criterion.axis,
        weight: criterion.weight,
        critical: criterion.critical,
        guard: verify::is_guard(&criterion.assertion),
        public_label: criterion.public_label,
        passed: outcome.passed,
        score: outcome.score,
        details: outcome.details,
        evidence: app.runtime().store_text(&text).await?,
        started_at,
        completed_at: app.now(),
    };
    Ok((stored, outcome.evidence))
}
