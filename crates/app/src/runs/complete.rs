//! The completion of a task: the playground is sealed, what it holds is scored, and the result is one transaction.

use std::sync::Arc;

use model::run::{Phase, Status, TaskRun, TaskRunResult};
use model::{CriterionRunId, FieldErrors, OrgId, TaskRunId, Timestamp};
use serde_json::Value;
use store::Db;
use store::runs::StoredRun;
use store::task_runs::{self, Ending, StoredCriterionRun, StoredTaskRun};

use super::evaluate::{self, Judged};
use super::reach::Reach;
use super::{end, snapshots, start, unread_faxes, views};
use crate::idempotency::{Holder, Keep};
use crate::{App, AppError, Created, Once, OrgGrant, RunGrant};

pub(super) async fn complete(
    app: &App,
    grant: &RunGrant,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<TaskRunResult>, AppError> {
    let shown = |run: StoredRun, task_run: StoredTaskRun, criteria| views::result(&run, &task_run, criteria);
    score(app, grant.into(), grant.into(), id, once, shown).await
}

pub(super) async fn complete_as_owner(
    app: &App,
    grant: &OrgGrant,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<TaskRun>, AppError> {
    let shown = |run: StoredRun, task_run: StoredTaskRun, criteria: Vec<(StoredCriterionRun, Value)>| {
        let criteria: Vec<StoredCriterionRun> = criteria.into_iter().map(|(criterion, _)| criterion).collect();
        views::task_run(&run, &task_run, &criteria)
    };
    if let Some(replayed) = app.replayed(grant, once.as_ref(), Keep::Plain).await? {
        return Ok(replayed);
    }
    start_if_created(app, grant, id).await?;
    score(app, grant.into(), grant.into(), id, once, shown).await
}

/// An organization may complete a task run that nobody has started: it is started first, so that its scenario counts.
async fn start_if_created(app: &App, grant: &OrgGrant, id: &TaskRunId) -> Result<(), AppError> {
    let (reach, wanted) = (Reach::from(grant), id.clone());
    let (_, task_run) = app.store().read(move |db| reach.task_run(db, &wanted)).await?;
    if task_run.phase == Phase::Created {
        start::start_as_owner(app, grant, "", id, None).await?;
    }
    Ok(())
}

async fn score<T, F>(
    app: &App,
    holder: Holder,
    reach: Reach,
    id: &TaskRunId,
    once: Option<Once>,
    shown: F,
) -> Result<Created<T>, AppError>
where
    T: serde::Serialize + serde::de::DeserializeOwned + Send + 'static,
    F: Fn(StoredRun, StoredTaskRun, Vec<(StoredCriterionRun, Value)>) -> T + Send + 'static,
{
    if let Some(replayed) = app.replayed(holder.clone(), once.as_ref(), Keep::Plain).await? {
        return Ok(replayed);
    }
    let (scope, wanted) = (reach.clone(), id.clone());
    let (run, _) = app.store().read(move |db| scope.task_run(db, &wanted)).await?;
    end::expire_overdue(app, &run.org, &run.id).await?;
    let (scope, wanted) = (reach.clone(), id.clone());
    let (run, task_run) = app.store().read(move |db| scope.task_run(db, &wanted)).await?;
    let scored = match check_phase(&task_run) {
        Ok(()) => match scored(app, &run, &task_run).await? {
            Some(scored) => Some(scored),
            None => {
                let refusal = not_sealed(app, &reach, id).await?;
                if once.is_none() {
                    return Err(refusal);
                }
                None
            }
        },
        // The caller may be repeating a request that succeeded. What is not even started may be before this is written.
        Err(_) if once.is_some() && task_run.phase == Phase::Completed => None,
        Err(error) => return Err(error),
    };
    let (task_run_id, now) = (id.clone(), app.now());
    let work = move |db: &mut Db<'_>| {
        let (_, task_run) = reach.task_run(db, &task_run_id)?;
        check_phase(&task_run)?;
        let meanwhile = || AppError::conflict("the task run was started a moment ago; complete it again");
        let scored = scored.as_ref().ok_or_else(meanwhile)?;
        scored.write(db, &task_run, now)?;
        let (run, task_run) = reach.task_run(db, &task_run_id)?;
        Ok(shown(run, task_run, scored.criteria.clone()))
    };
    let answered = app.once(holder, once, Keep::Plain, work).await;
    forget(app, &task_run);
    answered
}

/// Scores what was sealed and not scored, because whoever was to do it has crashed. What was scored or has ended meanwhile
/// is left alone.
pub(super) async fn finish(app: &App, org: &OrgId, id: &TaskRunId) -> Result<(), AppError> {
    let (scope, wanted) = (org.clone(), id.clone());
    let read = move |db: &mut Db<'_>| {
        let task_run = task_runs::find(db, &scope, &wanted)?;
        let task_run = task_run.filter(|task_run| task_run.phase == Phase::Started && task_run.sealed_at.is_some());
        let Some(task_run) = task_run else { return Ok(None) };
        Ok::<_, AppError>(Some((super::found(db, &scope, &task_run.run)?, task_run)))
    };
    let Some((run, task_run)) = app.store().read(read).await? else { return Ok(()) };
    let Some(scored) = scored(app, &run, &task_run).await? else { return Ok(()) };
    let (org, id, now) = (org.clone(), id.clone(), app.now());
    let write = move |db: &mut Db<'_>| match task_runs::find(db, &org, &id)? {
        Some(task_run) if task_run.phase == Phase::Started => scored.write(db, &task_run, now),
        _ => Ok(()),
    };
    let written = app.store().write(write).await;
    forget(app, &task_run);
    written
}

/// What memory has of a task run that has ended.
fn forget(app: &App, task_run: &StoredTaskRun) {
    app.inner.started.forget(&task_run.run);
    if let Some(playground) = &task_run.playground {
        app.runtime().unload(playground);
    }
}

/// Why a task run could not be sealed: it has ended meanwhile.
async fn not_sealed(app: &App, reach: &Reach, id: &TaskRunId) -> Result<AppError, AppError> {
    let (scope, wanted) = (reach.clone(), id.clone());
    let (run, _) = app.store().read(move |db| scope.task_run(db, &wanted)).await?;
    end::expire_overdue(app, &run.org, &run.id).await?;
    let (scope, wanted) = (reach.clone(), id.clone());
    let (_, task_run) = app.store().read(move |db| scope.task_run(db, &wanted)).await?;
    let changing = || AppError::conflict("the task run is just being ended by another request; read its result");
    Ok(check_phase(&task_run).err().unwrap_or_else(changing))
}

fn check_phase(task_run: &StoredTaskRun) -> Result<(), AppError> {
    match task_run.phase {
        Phase::Started => Ok(()),
        Phase::Created => Err(AppError::conflict("the task run is not started; start it first")),
        Phase::Completed => Err(ended(task_run)),
    }
}

/// Says what became of it.
fn ended(task_run: &StoredTaskRun) -> AppError {
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

/// What is to be written.
struct Scored {
    ending: Ending,
    criteria: Vec<(StoredCriterionRun, Value)>,
}

impl Scored {
    fn write(&self, db: &mut Db<'_>, task_run: &StoredTaskRun, now: Timestamp) -> Result<(), AppError> {
        task_runs::end(db, &task_run.id, &self.ending, now)?;
        self.criteria.iter().try_for_each(|(criterion, _)| task_runs::insert_criterion(db, criterion))?;
        end::finish_if_last(db, &task_run.run, now)
    }
}

/// Seals a started task run and scores it. None when it cannot be sealed: it has ended, or its deadline has passed.
async fn scored(app: &App, run: &StoredRun, task_run: &StoredTaskRun) -> Result<Option<Scored>, AppError> {
    let playground = task_run.playground.as_ref();
    let playground = playground.ok_or_else(|| AppError::Internal("a started task run has no playground".into()))?;
    let snapshot = snapshots::of(app, run).await?;
    let task = snapshots::task(&snapshot, &task_run.task)?.clone();
    unread_faxes::check(app, &snapshot, &task, playground).await?;
    let begun_at = app.now();
    let Some(sealed) = app.runtime().freeze(&task_run.id, playground).await? else { return Ok(None) };
    sealed.world.sandboxes.keys().for_each(|sandbox| app.inner.mllp.close(sandbox));
    app.inner.started.forget(&run.id);
    let frozen = Arc::new(app.frozen(playground, sealed.world, sealed.completed_seq).await?);
    let judged = app.judge(Arc::clone(&snapshot), task, Arc::clone(&frozen)).await?;
    let (score, axes) = evaluate::total(&judged);
    let state = evaluate::sealed(&frozen, &snapshot, &run.content_hash, app.engine(), sealed.sealed_at);
    let ending = Ending {
        status: Status::Completed,
        score,
        axes: Some(axes),
        critical_failures: judged.iter().filter(|one| one.is_critical_failure()).count() as i64,
        clean: !judged.is_empty() && judged.iter().all(|one| one.outcome.passed),
        sealed: Some(state),
        failure: None,
    };
    let mut criteria = Vec::new();
    for (one, position) in judged.into_iter().zip(0..) {
        criteria.push(stored(app, task_run, one, position, begun_at).await?);
    }
    Ok(Some(Scored { ending, criteria }))
}

async fn stored(
    app: &App,
    task_run: &StoredTaskRun,
    judged: Judged,
    position: i64,
    started_at: Timestamp,
) -> Result<(StoredCriterionRun, Value), AppError> {
    let Judged { criterion, outcome } = judged;
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
