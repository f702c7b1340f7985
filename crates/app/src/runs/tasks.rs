//! Task runs and criterion runs.

use model::page::{Page, PageRequest};
use model::run::{CriterionRun, StartedTaskRun, Status, TaskRun, TaskRunResult};
use model::{BenchmarkRunId, CriterionRunId, TaskRunId};
use serde_json::Value;
use store::Db;
use store::runs::StoredRun;
use store::task_runs::{self, Ending, StoredCriterionRun};

use super::reach::Reach;
use super::{complete as completion, end, snapshots, start as beginning, views};
use crate::idempotency::{Holder, Keep};
use crate::sandboxes::BaseUrl;
use crate::{App, AppError, Created, Once, OrgGrant, RunGrant};

/// Opens the task's playground, carries out its scenario, and says where everything is.
pub async fn start(
    app: &App,
    grant: &RunGrant,
    base: BaseUrl<'_>,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<StartedTaskRun>, AppError> {
    beginning::start(app, grant, base, id, once).await
}

pub async fn start_as_owner(
    app: &App,
    grant: &OrgGrant,
    base: BaseUrl<'_>,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<StartedTaskRun>, AppError> {
    beginning::start_as_owner(app, grant, base, id, once).await
}

/// Freezes the task's playground and scores it.
pub async fn complete(
    app: &App,
    grant: &RunGrant,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<TaskRunResult>, AppError> {
    completion::complete(app, grant, id, once).await
}

pub async fn complete_as_owner(
    app: &App,
    grant: &OrgGrant,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<TaskRun>, AppError> {
    let completed = completion::complete_as_owner(app, grant, id, once).await?;
    with_snapshot(app, grant, completed).await
}

/// With the task as it was frozen, which never changes and so is not kept with an answer.
async fn with_snapshot(
    app: &App,
    grant: &OrgGrant,
    mut created: Created<TaskRun>,
) -> Result<Created<TaskRun>, AppError> {
    let (org, id) = (grant.org.clone(), created.value.benchmark_run_id.clone());
    let read = move |db: &mut Db<'_>| {
        let run = super::found(db, &org, &id)?;
        // Of another organization's version nobody sees what is judged.
        let owner = run.reference().map(|version| store::runs::version_org(db, &version)).transpose()?;
        Ok::<_, AppError>((owner.is_none_or(|owner| owner.as_ref() == Some(&org)), run))
    };
    let (is_own, run) = app.store().read(read).await?;
    let snapshot = snapshots::of(app, &run).await?;
    let task = snapshots::task(&snapshot, &created.value.task_id)?;
    let shown = views::task_snapshot(&snapshot, task);
    created.value.snapshot = Some(if is_own { shown } else { shown.for_others() });
    Ok(created)
}

/// For the run's token.
pub async fn get(app: &App, grant: &RunGrant, id: &TaskRunId) -> Result<TaskRunResult, AppError> {
    let reach = Reach::from(grant);
    expire(app, &reach, id).await?;
    let id = id.clone();
    let read = move |db: &mut Db<'_>| {
        let (run, task_run) = reach.task_run(db, &id)?;
        let criteria = task_runs::criteria_of(db, &task_run.id)?;
        Ok::<_, AppError>((run, task_run, criteria))
    };
    let (run, task_run, criteria) = app.store().read(read).await?;
    let mut with_evidence = Vec::new();
    for criterion in criteria {
        // What is not shown need not be read.
        let evidence = if run.scored { Value::Null } else { evidence(app, &criterion).await? };
        with_evidence.push((criterion, evidence));
    }
    Ok(views::result(&run, &task_run, with_evidence))
}

pub async fn get_as_owner(app: &App, grant: &OrgGrant, id: &TaskRunId) -> Result<TaskRun, AppError> {
    let reach = Reach::from(grant);
    expire(app, &reach, id).await?;
    let id = id.clone();
    let value = app.store().read(move |db| shown(db, &reach, &id)).await?;
    Ok(with_snapshot(app, grant, Created { value, replayed: false }).await?.value)
}

fn shown(db: &mut Db<'_>, reach: &Reach, id: &TaskRunId) -> Result<TaskRun, AppError> {
    let (run, task_run) = reach.task_run(db, id)?;
    let criteria = task_runs::criteria_of(db, &task_run.id)?;
    Ok(views::task_run(&run, &task_run, &criteria))
}

async fn expire(app: &App, reach: &Reach, id: &TaskRunId) -> Result<(), AppError> {
    let (scope, wanted) = (reach.clone(), id.clone());
    let (run, task_run) = app.store().read(move |db| scope.task_run(db, &wanted)).await?;
    if task_run.is_overdue(app.now()) {
        end::expire_overdue(app, &reach.org, &run.id).await?;
    }
    Ok(())
}

/// Newest first; of one run, if it is named.
pub async fn list(
    app: &App,
    grant: &OrgGrant,
    run: Option<BenchmarkRunId>,
    page: PageRequest,
) -> Result<Page<TaskRun>, AppError> {
    end::expire_all_overdue(app, &grant.org).await?;
    let org = grant.org.clone();
    let read = move |db: &mut Db<'_>| {
        let mut known: Option<StoredRun> = None;
        task_runs::list(db, &org, run.as_ref(), &page)?.try_map(|task_run| {
            // Those of one run stand together.
            let run = match known.take().filter(|run| run.id == task_run.run) {
                Some(run) => run,
                None => super::found(db, &org, &task_run.run)?,
            };
            let criteria = task_runs::criteria_of(db, &task_run.id)?;
            let shown = views::task_run(&run, &task_run, &criteria);
            known = Some(run);
            Ok::<_, AppError>(shown)
        })
    };
    let mut page = app.store().read(read).await?;
    for shown in &mut page.items {
        let created = Created { value: shown.clone(), replayed: false };
        *shown = with_snapshot(app, grant, created).await?.value;
    }
    Ok(page)
}

/// Ends one task run without a score of its own: it counts 0, and the run goes on.
pub async fn cancel(
    app: &App,
    grant: &OrgGrant,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<TaskRun>, AppError> {
    let cancelled = cancel_as(app, (grant.into(), grant.into()), id, once, shown).await?;
    with_snapshot(app, grant, cancelled).await
}

/// The same for whoever drives the agent and could not measure it.
pub async fn cancel_as_agent(
    app: &App,
    grant: &RunGrant,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<TaskRunResult>, AppError> {
    let shown = |db: &mut Db<'_>, reach: &Reach, id: &TaskRunId| {
        let (run, task_run) = reach.task_run(db, id)?;
        Ok(views::result(&run, &task_run, Vec::new()))
    };
    cancel_as(app, (grant.into(), grant.into()), id, once, shown).await
}

async fn cancel_as<T, F>(
    app: &App,
    (holder, reach): (Holder, Reach),
    id: &TaskRunId,
    once: Option<Once>,
    shown: F,
) -> Result<Created<T>, AppError>
where
    T: serde::Serialize + serde::de::DeserializeOwned + Send + 'static,
    F: Fn(&mut Db<'_>, &Reach, &TaskRunId) -> Result<T, AppError> + Send + 'static,
{
    if let Some(replayed) = app.replayed(holder.clone(), once.as_ref(), Keep::Plain).await? {
        return Ok(replayed);
    }
    expire(app, &reach, id).await?;
    let (scope, wanted) = (reach.clone(), id.clone());
    let (run, _) = app.store().read(move |db| scope.task_run(db, &wanted)).await?;
    end::write_reads(app, &run.id).await?;
    let (id, now) = (id.clone(), app.now());
    let work = move |db: &mut Db<'_>| {
        let (run, task_run) = reach.task_run(db, &id)?;
        if !end::end_one(db, &task_run, &Ending::unscored(Status::Cancelled), now)? {
            let status = task_run.status.name();
            return Err(AppError::conflict(format!("the task run is {status}; it has ended already")));
        }
        end::finish_if_last(db, &run.id, now)?;
        shown(db, &reach, &id)
    };
    let cancelled = app.once(holder, once, Keep::Plain, work).await;
    end::doubt(app, &run.id).await;
    cancelled
}

/// Newest first; of one task run, if it is named.
pub async fn criterion_runs(
    app: &App,
    grant: &OrgGrant,
    task_run: Option<TaskRunId>,
    page: PageRequest,
) -> Result<Page<CriterionRun>, AppError> {
    let org = grant.org.clone();
    let read = move |db: &mut Db<'_>| task_runs::list_criteria(db, &org, task_run.as_ref(), &page);
    let stored = app.store().read(read).await?;
    let mut items = Vec::new();
    for criterion in &stored.items {
        items.push(views::criterion_run(criterion, evidence(app, criterion).await?));
    }
    Ok(Page { items, next: stored.next, prev: stored.prev, limit: stored.limit })
}

/// Always whole, scored or not.
pub async fn criterion_run(app: &App, grant: &OrgGrant, id: &CriterionRunId) -> Result<CriterionRun, AppError> {
    let (org, id) = (grant.org.clone(), id.clone());
    let found = app.store().read(move |db| task_runs::find_criterion(db, &org, &id)).await?;
    let criterion = found.ok_or(AppError::missing::<CriterionRunId>())?;
    Ok(views::criterion_run(&criterion, evidence(app, &criterion).await?))
}

async fn evidence(app: &App, criterion: &StoredCriterionRun) -> Result<Value, AppError> {
    let text = app.runtime().read_text(criterion.evidence.clone()).await?;
    serde_json::from_str(&text).map_err(|error| AppError::Internal(error.to_string()))
}
