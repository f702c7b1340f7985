//! The start of a task: runs the scenario in memory, and writes the playground, the log and the deadline in one transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::publication::{FrozenTask, Snapshot};
use model::run::{Phase, StartedSandbox, StartedTask, StartedTaskRun, Status};
use model::template::{self, Bindings};
use model::{FieldErrors, PlaygroundId, TaskRunId, Timestamp};
use serde_json::Value;
use sims::scenario::{self, DatasetFile, PreparedStep, ScenarioContext, ScenarioSandbox};
use store::Db;
use store::log::{self, Entry};
use store::playgrounds::{self, Provisioned};
use store::runs::StoredRun;
use store::sandboxes::StoredSandbox;
use store::task_runs::{self, Ending, StoredTaskRun};
use world::World;

use super::create::provision::{self, NewPlayground, RunSecret};
use super::views::{TaskRunGrant, neutral};
use super::{channels, expire, snapshots};
use crate::caller::{Caller, TaskIdentity};
use crate::idempotency::ResponseStorage;
use crate::sandboxes::{self, Addresses, BaseUrl};
use crate::{App, AppError, Created, Once};

/// Opens the task's playground, runs the steps of its scenario that are due, and returns the addresses of its sandboxes.
pub async fn start_task_run<G: TaskRunGrant>(
    app: &App,
    grant: &G,
    base: BaseUrl<'_>,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<StartedTaskRun>, AppError> {
    let caller = &grant.caller();
    if let Some(replayed) = app.replayed(caller, once.as_ref(), ResponseStorage::Encrypted).await? {
        return Ok(replayed);
    }
    // A caller with an idempotency key may be repeating a request that succeeded, so `write` decides.
    let must_be_startable = once.is_none();
    let (run, task_run, provisioned) = find(app, caller, id, must_be_startable).await?;
    let snapshot = snapshots::of(app, &run).await?;
    let prepared = PreparedStart::new(app, &run, (&task_run, provisioned), &snapshot)?;
    let outcome = match prepared.run_scenario(app, &snapshot).await? {
        Ok(outcome) => outcome,
        Err(errors) => return fail(app, caller, &task_run, errors).await,
    };
    write(app, caller, base, once, &run, prepared, outcome).await
}

/// The task run with its run, and its sandboxes if they are provisioned.
async fn find(
    app: &App,
    caller: &Caller,
    id: &TaskRunId,
    must_be_startable: bool,
) -> Result<(StoredRun, StoredTaskRun, Option<Vec<StoredSandbox>>), AppError> {
    let (scope, wanted) = (caller.scope.clone(), id.clone());
    let (run, _) = app.store().read(move |db| scope.task_run(db, &wanted)).await?;
    expire::expire_overdue(app, &run.org, &run.id).await?;
    let (scope, wanted) = (caller.scope.clone(), id.clone());
    let read = move |db: &mut Db<'_>| {
        let (run, task_run) = scope.task_run(db, &wanted)?;
        if must_be_startable {
            check_startable(db, &run, &task_run)?;
        }
        let provisioned = match &task_run.playground {
            Some(playground) => Some(store::sandboxes::of_playground(db, playground)?),
            None => None,
        };
        Ok::<_, AppError>((run, task_run, provisioned))
    };
    let found = app.store().read(read).await;
    if found.is_err() {
        // Another request may have started the task a moment ago, so the cached list may be out of date.
        app.inner.started_tasks.invalidate(&run.id);
    }
    found
}

/// Writes the start, and publishes the world in memory.
async fn write(
    app: &App,
    caller: &Caller,
    base: BaseUrl<'_>,
    once: Option<Once>,
    run: &StoredRun,
    prepared: PreparedStart,
    outcome: ScenarioOutcome,
) -> Result<Created<StartedTaskRun>, AppError> {
    let identity = caller.scope.task_identity(run, prepared.now);
    let view = prepared.view(&outcome, &app.addresses(base), identity);
    let (playground, sandboxes) = (prepared.playground.clone(), prepared.sandboxes.clone());
    let ScenarioOutcome { world, entries, .. } = outcome;
    let entries: Arc<[Entry]> = entries.into();
    let (scope, appended) = (caller.scope.clone(), Arc::clone(&entries));
    let work = move |db: &mut Db<'_>| {
        let (run, task_run) = scope.task_run(db, &prepared.task_run.id)?;
        expire::expire_overdue_in(db, &run.id, prepared.now)?;
        check_startable(db, &run, &task_run)?;
        prepared.write(db, &run, &appended)?;
        Ok(view.clone())
    };
    let started = app.once(caller, once, ResponseStorage::Encrypted, work).await;
    app.inner.started_tasks.invalidate(&run.id);
    let started = started?;
    if !started.replayed {
        app.runtime().publish_started(&playground, world, started.value.deadline_at);
        app.deliver_arrivals(&entries);
        app.deliver_later(&playground, &sandboxes);
    }
    Ok(started)
}

fn check_phase(task_run: &StoredTaskRun) -> Result<(), AppError> {
    match task_run.phase {
        Phase::Created => Ok(()),
        Phase::Started => Err(AppError::conflict("the task run is started already; do it and complete it")),
        Phase::Completed => {
            let status = task_run.status.name();
            Err(AppError::conflict(format!("the task run is {status}; it cannot be started again")))
        }
    }
}

fn check_startable(db: &mut Db<'_>, run: &StoredRun, task_run: &StoredTaskRun) -> Result<(), AppError> {
    check_phase(task_run)?;
    if run.status != Status::Active {
        return Err(AppError::conflict(format!("the run is {}; nothing in it can be started", run.status.name())));
    }
    let others = task_runs::of_run(db, &run.id)?;
    let started: Vec<&StoredTaskRun> = others.iter().filter(|other| other.is_open()).collect();
    if (started.len() as i64) < run.concurrency {
        return Ok(());
    }
    let names: Vec<String> = started.iter().map(|other| other.id.to_string()).collect();
    let (max, names) = (run.concurrency, names.join(", "));
    Err(AppError::conflict(format!("{max} task run(s) of this run may be started at a time: complete {names} first")))
}

/// The scenario cannot run, which is the benchmark's error. The task run ends as failed, so that the run can continue. Only
/// the organization sees the errors: they would reveal parts of the task that the agent does not know yet.
async fn fail<T>(app: &App, caller: &Caller, task_run: &StoredTaskRun, errors: FieldErrors) -> Result<T, AppError> {
    let (id, run, now) = (task_run.id.clone(), task_run.run.clone(), app.now());
    let scope = caller.scope.clone();
    let failure = model::reading::shortened(&errors.to_string(), 2000);
    let work = move |db: &mut Db<'_>| {
        let (run, task_run) = scope.task_run(db, &id)?;
        check_startable(db, &run, &task_run)?;
        let ending = Ending { failure: Some(failure.clone()), ..Ending::unscored(Status::Failed) };
        expire::end_task_run(db, &task_run, &ending, now)?;
        expire::finish_if_last(db, &run.id, now)
    };
    app.store().write(work).await?;
    expire::invalidate(app, &run).await;
    let message = "the task's scenario cannot be carried out; the task run has failed, which is no fault of the agent";
    let details = if caller.scope.is_organization() { errors } else { FieldErrors::new() };
    Err(AppError::Conflict { message: message.into(), details })
}

/// A start before its scenario runs.
struct PreparedStart {
    task_run: StoredTaskRun,
    task: FrozenTask,
    environment: model::EnvironmentId,
    playground: PlaygroundId,
    sandboxes: Vec<StoredSandbox>,
    /// Whether the rows of the playground and its sandboxes exist already.
    is_provisioned: bool,
    now: Timestamp,
    deadline: Timestamp,
}

/// The playground after the first steps of its scenario.
struct ScenarioOutcome {
    task_item: Value,
    world: World,
    entries: Vec<Entry>,
}

impl PreparedStart {
    /// In the playground that was provisioned with the run. Very large runs, and runs of older servers, have none yet.
    fn new(
        app: &App,
        run: &StoredRun,
        (task_run, provisioned): (&StoredTaskRun, Option<Vec<StoredSandbox>>),
        snapshot: &Snapshot,
    ) -> Result<Self, AppError> {
        let now = app.now();
        let is_provisioned = provisioned.is_some();
        let (playground, sandboxes) = match (&task_run.playground, provisioned) {
            (Some(playground), Some(stored)) => (playground.clone(), provision::with_full_configs(stored, snapshot)?),
            _ => {
                let new = NewPlayground::new(app, run, snapshot, &RunSecret::new()?, now)?;
                (new.id, new.sandboxes)
            }
        };
        Ok(Self {
            task: snapshots::task(snapshot, &task_run.task)?.clone(),
            task_run: task_run.clone(),
            environment: snapshot.environment.id.clone(),
            sandboxes,
            playground,
            is_provisioned,
            now,
            deadline: now.plus_milliseconds(task_run.timeout.saturating_mul(1000)),
        })
    }

    /// Runs the scenario on the datasets. The inner errors are the author's.
    async fn run_scenario(
        &self,
        app: &App,
        snapshot: &Snapshot,
    ) -> Result<Result<ScenarioOutcome, FieldErrors>, AppError> {
        let (task_item, steps) = match self.bind_templates(snapshot) {
            Ok(bound) => bound,
            Err(errors) => return Ok(Err(errors)),
        };
        let mut sandboxes = BTreeMap::new();
        for stored in &self.sandboxes {
            sandboxes.insert(stored.id.clone(), app.runtime().sandbox_at_baseline(stored.clone(), self.now).await?);
        }
        let world = World { seq: 0, oldest: 0, sandboxes };
        let (world, mut entries) = match run_steps(app.clone(), world, steps).await? {
            Ok(outcome) => outcome,
            Err(errors) => return Ok(Err(errors)),
        };
        for entry in &mut entries {
            app.runtime().store_texts(entry).await?;
        }
        Ok(Ok(ScenarioOutcome { task_item, world, entries }))
    }

    /// Fills in the templates of the task item and the scenario.
    fn bind_templates(&self, snapshot: &Snapshot) -> Result<(Value, Vec<PreparedStep>), FieldErrors> {
        let task = snapshots::task_value(&self.task);
        let entity = snapshots::entity_value(snapshot, self.task.entities.first());
        let bindings = Bindings { entity: entity.as_ref(), task: Some(&task) };
        let task_item = template::bind(&self.task.task_item, &bindings).map_err(|nested| {
            let mut errors = FieldErrors::new();
            errors.nest("task_item", nested);
            errors
        })?;
        let sandboxes: Vec<ScenarioSandbox<'_>> = self
            .sandboxes
            .iter()
            .map(|sandbox| ScenarioSandbox { id: &sandbox.id, kind: sandbox.kind, name: &sandbox.name })
            .collect();
        let files = dataset_files(snapshot);
        let context =
            ScenarioContext { sandboxes: &sandboxes, entity: entity.as_ref(), task: &task, dataset_files: &files };
        let steps = scenario::prepare(&self.task.scenario, &context)?;
        Ok((task_item, steps))
    }

    fn write(&self, db: &mut Db<'_>, run: &StoredRun, entries: &[Entry]) -> Result<(), AppError> {
        if self.is_provisioned {
            self.sandboxes.iter().try_for_each(|sandbox| store::sandboxes::open(db, sandbox))?;
        } else {
            let row = Provisioned { id: &self.playground, task_run: &self.task_run.id };
            playgrounds::provision(db, &run.org, &self.environment, &[row], self.now)?;
            store::sandboxes::insert_all(db, &self.sandboxes)?;
        }
        if !playgrounds::open(db, &self.playground, self.deadline)? {
            return Err(AppError::conflict("the playground of the task run has ended, or was used before the start"));
        }
        if !entries.is_empty() {
            log::append(db, &self.playground, 0, entries)?;
        }
        task_runs::start(db, &self.task_run.id, &self.playground, self.now, self.deadline)?;
        Ok(store::runs::note_start(db, &run.id, self.now)?)
    }

    fn view(&self, outcome: &ScenarioOutcome, base: &Addresses, identity: TaskIdentity) -> StartedTaskRun {
        let sandbox = |stored: &StoredSandbox| {
            let prefix = channels::prefix_of(&self.task_run.id, stored, &self.sandboxes);
            StartedSandbox {
                id: stored.id.clone(),
                r#type: stored.kind,
                name: stored.name.clone(),
                credentials: sandboxes::credentials::of(stored, base, &format!("{}{prefix}", base.base)),
            }
        };
        StartedTaskRun {
            task_run_id: self.task_run.id.clone(),
            phase: Phase::Started,
            started_at: self.now,
            deadline_at: self.deadline,
            task: self.task_view(outcome, identity),
            endpoints: channels::of_task_run(&self.task_run.id, &self.sandboxes),
            sandboxes: self.sandboxes.iter().map(sandbox).collect(),
        }
    }

    fn task_view(&self, outcome: &ScenarioOutcome, identity: TaskIdentity) -> StartedTask {
        let task_item = outcome.task_item.clone();
        match identity {
            TaskIdentity::Real => StartedTask { name: self.task.name.clone(), tags: self.task.tags.clone(), task_item },
            TaskIdentity::Neutral => {
                let name = neutral::name(Some(&task_item), self.task_run.position);
                StartedTask { name, tags: Vec::new(), task_item }
            }
        }
    }
}

/// Runs the steps that are due. Their events all have the first position of the log, like those of one message.
async fn run_steps(
    app: App,
    mut world: World,
    steps: Vec<PreparedStep>,
) -> Result<Result<(World, Vec<Entry>), FieldErrors>, AppError> {
    if steps.is_empty() {
        return Ok(Ok((world, Vec::new())));
    }
    let running = tokio::task::spawn_blocking(move || {
        let outcome = app.runtime().with_context(|context| scenario::begin(&world, context, &steps))?;
        let entries = app.runtime().record(&mut world, outcome.changes, outcome.events);
        Ok((world, entries))
    });
    running.await.map_err(|_| AppError::Internal("a scenario panicked".into()))
}

fn dataset_files(snapshot: &Snapshot) -> BTreeMap<String, DatasetFile> {
    let files = snapshot.datasets.iter().flat_map(|dataset| &dataset.manifest.files);
    let described = files.map(|(path, file)| {
        let (sha256, content_type) = (file.sha256.clone(), file.content_type.clone());
        (path.clone(), DatasetFile { sha256, size: file.size, content_type, text: None })
    });
    described.collect()
}
