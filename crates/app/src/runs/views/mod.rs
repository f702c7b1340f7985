//! Reads runs, task runs and criterion runs, as each caller may see them.

mod evidence_names;
pub(super) mod neutral;
mod render;

use model::page::{Page, PageRequest};
use model::run::{
    BenchmarkRun, CriterionRun, CriticalFailure, MOST_CRITICAL_CRITERIA, RunFilter, RunSummary, TaskRun, TaskRunResult,
    TaskSnapshot,
};
use model::{BenchmarkRunId, CriterionRunId, OrgId, TaskRunId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::Db;
use store::runs::StoredRun;
use store::task_runs::{self, StoredCriterionRun, StoredTaskRun};

use super::{engines, expire, find_run, snapshots};
use crate::caller::{Caller, Scope};
use crate::{App, AppError, Created, OrgGrant, RunGrant};

pub(super) use evidence_names::with_both;
pub(super) use render::created_run;

/// A grant to work on the tasks of a run. `View` is how its holder sees a task run.
pub trait TaskRunGrant {
    type View: TaskRunView;

    fn caller(&self) -> Caller;
}

/// An organization sees everything.
impl TaskRunGrant for OrgGrant {
    type View = TaskRun;

    fn caller(&self) -> Caller {
        self.into()
    }
}

/// The agent, which has the run's token, does not see everything.
impl TaskRunGrant for RunGrant {
    type View = TaskRunResult;

    fn caller(&self) -> Caller {
        self.into()
    }
}

/// A task run as one kind of caller sees it.
pub trait TaskRunView: Serialize + DeserializeOwned + Send + 'static {
    fn new(run: &StoredRun, task_run: &StoredTaskRun, criteria: Vec<(StoredCriterionRun, Value)>) -> Self;

    /// Whether it contains the evidence of criteria.
    fn has_evidence(run: &StoredRun) -> bool;

    /// The place for the frozen task, if the view has one. The frozen task never changes, so it is not stored with
    /// responses.
    fn snapshot(&mut self) -> Option<&mut Option<TaskSnapshot>>;
}

impl TaskRunView for TaskRun {
    fn new(run: &StoredRun, task_run: &StoredTaskRun, criteria: Vec<(StoredCriterionRun, Value)>) -> Self {
        let criteria: Vec<StoredCriterionRun> = criteria.into_iter().map(|(criterion, _)| criterion).collect();
        render::task_run(run, task_run, &criteria)
    }

    fn has_evidence(_: &StoredRun) -> bool {
        false
    }

    fn snapshot(&mut self) -> Option<&mut Option<TaskSnapshot>> {
        Some(&mut self.snapshot)
    }
}

impl TaskRunView for TaskRunResult {
    fn new(run: &StoredRun, task_run: &StoredTaskRun, criteria: Vec<(StoredCriterionRun, Value)>) -> Self {
        render::result(run, task_run, criteria)
    }

    fn has_evidence(run: &StoredRun) -> bool {
        !run.scored
    }

    fn snapshot(&mut self) -> Option<&mut Option<TaskSnapshot>> {
        None
    }
}

/// A run as its agent sees it, for the run's token and the key of its solver.
pub async fn get_run_summary(
    app: &App,
    caller: impl Into<Caller>,
    id: &BenchmarkRunId,
) -> Result<RunSummary, AppError> {
    let Caller { scope, .. } = caller.into();
    expire::expire_overdue(app, &scope.org, id).await?;
    let (reader, wanted) = (scope.clone(), id.clone());
    let read = move |db: &mut Db<'_>| {
        let run = reader.run(db, &wanted)?;
        let task_runs = task_runs::of_run(db, &run.id)?;
        Ok::<_, AppError>((run, task_runs))
    };
    let (run, task_runs) = app.store().read(read).await?;
    let snapshot = snapshots::of(app, &run).await?;
    Ok(render::summary(&run, &task_runs, &snapshot, scope.task_identity(&run, app.now())))
}

/// A run as its organization sees it, with its task runs and their criteria.
pub async fn get_run(app: &App, grant: &OrgGrant, id: &BenchmarkRunId) -> Result<BenchmarkRun, AppError> {
    expire::expire_overdue(app, &grant.org, id).await?;
    let (org, id) = (grant.org.clone(), id.clone());
    app.store().read(move |db| full_run(db, &org, &id)).await
}

pub(super) fn full_run(db: &mut Db<'_>, org: &OrgId, id: &BenchmarkRunId) -> Result<BenchmarkRun, AppError> {
    let run = find_run(db, org, id)?;
    let stored = task_runs::of_run(db, &run.id)?;
    let mut view = render::run(&run, &stored);
    view.critical_criteria = critical_criteria(db, &run)?;
    view.results = Some(engines::scores(db, &run)?);
    let criteria = task_runs::criterion_runs_of_run(db, &run.id)?;
    let of = |task_run: &StoredTaskRun| criteria.get(&task_run.id).map_or(&[][..], Vec::as_slice);
    view.task_runs = Some(stored.iter().map(|task_run| render::task_run(&run, task_run, of(task_run))).collect());
    Ok(view)
}

fn critical_criteria(db: &mut Db<'_>, run: &StoredRun) -> Result<Vec<CriticalFailure>, AppError> {
    if run.counts.critical_failures == 0 {
        return Ok(Vec::new());
    }
    Ok(task_runs::critical_failures_of(db, &run.id, MOST_CRITICAL_CRITERIA)?)
}

/// Newest first.
pub async fn list_runs(
    app: &App,
    grant: &OrgGrant,
    filter: RunFilter,
    page: PageRequest,
) -> Result<Page<BenchmarkRun>, AppError> {
    expire::expire_all_overdue(app, &grant.org).await?;
    let org = grant.org.clone();
    let read = move |db: &mut Db<'_>| {
        let page = store::runs::list(db, &org, &filter, &page)?;
        page.try_map(|run| {
            let task_runs = task_runs::of_run(db, &run.id)?;
            let mut view = render::run(&run, &task_runs);
            view.critical_criteria = critical_criteria(db, &run)?;
            Ok(view)
        })
    };
    app.store().read(read).await
}

pub async fn get_task_run<G: TaskRunGrant>(app: &App, grant: &G, id: &TaskRunId) -> Result<G::View, AppError> {
    let caller = &grant.caller();
    expire_task_run(app, &caller.scope, id).await?;
    let (scope, wanted) = (caller.scope.clone(), id.clone());
    let read = move |db: &mut Db<'_>| {
        let (run, task_run) = scope.task_run(db, &wanted)?;
        let criteria = task_runs::criterion_runs_of(db, &task_run.id)?;
        Ok::<_, AppError>((run, task_run, criteria))
    };
    let (run, task_run, criteria) = app.store().read(read).await?;
    let mut with_evidence = Vec::new();
    for criterion in criteria {
        let evidence = if G::View::has_evidence(&run) { evidence(app, &criterion).await? } else { Value::Null };
        with_evidence.push((criterion, evidence));
    }
    let value = G::View::new(&run, &task_run, with_evidence);
    Ok(with_snapshot(app, caller, id, Created { value, replayed: false }).await?.value)
}

/// Ends the overdue task runs of the run if this task run is overdue.
pub(super) async fn expire_task_run(app: &App, scope: &Scope, id: &TaskRunId) -> Result<(), AppError> {
    let (reader, wanted) = (scope.clone(), id.clone());
    let (run, task_run) = app.store().read(move |db| reader.task_run(db, &wanted)).await?;
    if task_run.is_overdue(app.now()) {
        expire::expire_overdue(app, &scope.org, &run.id).await?;
    }
    Ok(())
}

/// Adds the frozen task to views that have it.
pub(super) async fn with_snapshot<V: TaskRunView>(
    app: &App,
    caller: &Caller,
    id: &TaskRunId,
    mut created: Created<V>,
) -> Result<Created<V>, AppError> {
    if let Some(snapshot) = created.value.snapshot() {
        let (scope, id) = (caller.scope.clone(), id.clone());
        let (run, task_run) = app.store().read(move |db| scope.task_run(db, &id)).await?;
        *snapshot = Some(task_snapshot(app, &run, &task_run).await?);
    }
    Ok(created)
}

async fn task_snapshot(app: &App, run: &StoredRun, task_run: &StoredTaskRun) -> Result<TaskSnapshot, AppError> {
    // Criteria of another organization's version are not shown.
    let is_own = match run.reference() {
        Some(version) => {
            let owner = app.store().read(move |db| store::runs::version_org(db, &version)).await?;
            owner.as_ref() == Some(&run.org)
        }
        None => true,
    };
    let snapshot = snapshots::of(app, run).await?;
    let view = render::task_snapshot(&snapshot, snapshots::task(&snapshot, &task_run.task)?);
    Ok(if is_own { view } else { view.for_others() })
}

/// Newest first; only those of one run, if one is given.
pub async fn list_task_runs(
    app: &App,
    grant: &OrgGrant,
    run: Option<BenchmarkRunId>,
    page: PageRequest,
) -> Result<Page<TaskRun>, AppError> {
    expire::expire_all_overdue(app, &grant.org).await?;
    let org = grant.org.clone();
    let read = move |db: &mut Db<'_>| {
        let mut previous: Option<StoredRun> = None;
        task_runs::list(db, &org, run.as_ref(), &page)?.try_map(|task_run| {
            // Task runs of one run are consecutive.
            let run = match previous.take().filter(|run| run.id == task_run.run) {
                Some(run) => run,
                None => find_run(db, &org, &task_run.run)?,
            };
            previous = Some(run.clone());
            let criteria = task_runs::criterion_runs_of(db, &task_run.id)?;
            Ok::<_, AppError>((run, task_run, criteria))
        })
    };
    let stored = app.store().read(read).await?;
    let mut items = Vec::new();
    for (run, task_run, criteria) in &stored.items {
        let mut view = render::task_run(run, task_run, criteria);
        view.snapshot = Some(task_snapshot(app, run, task_run).await?);
        items.push(view);
    }
    Ok(Page { items, next: stored.next, prev: stored.prev, limit: stored.limit })
}

/// Newest first; only those of one task run, if one is given.
pub async fn list_criterion_runs(
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
        items.push(render::criterion_run(criterion, evidence(app, criterion).await?));
    }
    Ok(Page { items, next: stored.next, prev: stored.prev, limit: stored.limit })
}

/// With details and evidence, also for scored runs.
pub async fn get_criterion_run(app: &App, grant: &OrgGrant, id: &CriterionRunId) -> Result<CriterionRun, AppError> {
    let (org, id) = (grant.org.clone(), id.clone());
    let stored = app.store().read(move |db| task_runs::find_criterion(db, &org, &id)).await?;
    let criterion = stored.ok_or(AppError::missing::<CriterionRunId>())?;
    Ok(render::criterion_run(&criterion, evidence(app, &criterion).await?))
}

async fn evidence(app: &App, criterion: &StoredCriterionRun) -> Result<Value, AppError> {
    let text = app.runtime().read_text(criterion.evidence.clone()).await?;
    serde_json::from_str(&text).map_err(|error| AppError::Internal(error.to_string()))
}
