//! The start of a task: its playground is opened, with the scenario carried out in it, and the phase, in one transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::publication::{FrozenTask, Snapshot};
use model::run::{Phase, StartedSandbox, StartedTask, StartedTaskRun, Status};
use model::template::{self, Bindings};
use model::{FieldErrors, PlaygroundId, SandboxId, TaskRunId, Timestamp};
use serde_json::Value;
use sims::scenario::{self, DatasetFile, PreparedStep, ScenarioContext, ScenarioSandbox};
use store::Db;
use store::log::{self, Entry};
use store::playgrounds::{self, Provisioned};
use store::runs::StoredRun;
use store::sandboxes::StoredSandbox;
use store::task_runs::{self, Ending, StoredTaskRun};
use world::World;

use super::neutral::{self, TaskIdentity};
use super::provision::{self, NewPlayground, RunSecret};
use super::reach::Reach;
use super::{channels, end, snapshots};
use crate::idempotency::{Holder, Keep};
use crate::sandboxes::{self, Addresses, BaseUrl};
use crate::{App, AppError, Created, Once, OrgGrant, RunGrant};

pub(super) async fn start(
    app: &App,
    grant: &RunGrant,
    base: BaseUrl<'_>,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<StartedTaskRun>, AppError> {
    begin(app, grant.into(), grant.into(), base, id, once).await
}

pub(super) async fn start_as_owner(
    app: &App,
    grant: &OrgGrant,
    base: BaseUrl<'_>,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<StartedTaskRun>, AppError> {
    begin(app, grant.into(), grant.into(), base, id, once).await
}

async fn begin(
    app: &App,
    holder: Holder,
    reach: Reach,
    base: BaseUrl<'_>,
    id: &TaskRunId,
    once: Option<Once>,
) -> Result<Created<StartedTaskRun>, AppError> {
    if let Some(mut replayed) = app.replayed::<StartedTaskRun>(holder.clone(), once.as_ref(), Keep::Sealed).await? {
        replayed.value.sandboxes.iter_mut().for_each(|sandbox| app.tell_started_port(sandbox, base));
        return Ok(replayed);
    }
    let (scope, wanted) = (reach.clone(), id.clone());
    let (run, _) = app.store().read(move |db| scope.task_run(db, &wanted)).await?;
    end::expire_overdue(app, &run.org, &run.id).await?;
    // A caller with a key may be repeating a request that succeeded.
    let (scope, wanted, is_new) = (reach.clone(), id.clone(), once.is_none());
    let read = move |db: &mut Db<'_>| {
        let (run, task_run) = scope.task_run(db, &wanted)?;
        if is_new {
            check_startable(db, &run, &task_run)?;
        }
        let provisioned = match &task_run.playground {
            Some(playground) => Some(store::sandboxes::of_playground(db, playground)?),
            None => None,
        };
        Ok::<_, AppError>((run, task_run, provisioned))
    };
    let read = app.store().read(read).await;
    if read.is_err() {
        // Another request may have started it and not said so yet: what is remembered may be older than this refusal.
        app.inner.started.forget(&run.id);
    }
    let (run, task_run, provisioned) = read?;
    let snapshot = snapshots::of(app, &run).await?;
    let stage = Stage::new(app, &run, (&task_run, provisioned), &snapshot)?;
    let scene = match stage.scene(app, &snapshot).await? {
        Ok(scene) => scene,
        Err(faults) => return fail(app, reach, &task_run, faults).await,
    };
    let identity = reach.task_identity(&run, stage.now);
    let started = stage.shown(&scene, &app.addresses(base), identity);
    let (run_id, playground, world) = (run.id.clone(), stage.playground.clone(), scene.world);
    let entries: Arc<[Entry]> = scene.entries.into();
    let (brought, sandboxes) = (Arc::clone(&entries), stage.sandboxes.clone());
    let work = move |db: &mut Db<'_>| {
        let (run, task_run) = reach.task_run(db, &stage.task_run.id)?;
        end::expire_in(db, &run.id, stage.now)?;
        check_startable(db, &run, &task_run)?;
        stage.write(db, &run, &entries)?;
        Ok(started.clone())
    };
    let answered = app.once(holder, once, Keep::Sealed, work).await;
    app.inner.started.forget(&run_id);
    if let Ok(Created { value, replayed: false }) = &answered {
        app.runtime().publish_started(&playground, world, value.deadline_at);
        app.push_arrivals(&brought);
        app.push_later(&playground, &sandboxes);
    }
    let mut answered = answered?;
    answered.value.sandboxes.iter_mut().for_each(|sandbox| app.tell_started_port(sandbox, base));
    Ok(answered)
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
    let (most, names) = (run.concurrency, names.join(", "));
    Err(AppError::conflict(format!("{most} task run(s) of this run may be started at a time: complete {names} first")))
}

/// A scenario that cannot be carried out is the benchmark's fault. The task run ends as failed, so that the run can go on.
/// What is wrong in it is not for the agent: it would tell of what it does not know yet.
async fn fail<T>(app: &App, reach: Reach, task_run: &StoredTaskRun, faults: FieldErrors) -> Result<T, AppError> {
    let (id, run, now) = (task_run.id.clone(), task_run.run.clone(), app.now());
    let is_told = reach.is_of_organization();
    let failure = model::reading::shortened(&faults.to_string(), 2000);
    let work = move |db: &mut Db<'_>| {
        let (run, task_run) = reach.task_run(db, &id)?;
        check_startable(db, &run, &task_run)?;
        let ending = Ending { failure: Some(failure.clone()), ..Ending::unscored(Status::Failed) };
        end::end_one(db, &task_run, &ending, now)?;
        end::finish_if_last(db, &run.id, now)
    };
    app.store().write(work).await?;
    end::doubt(app, &run).await;
    let message = "the task's scenario cannot be carried out; the task run has failed, which is no fault of the agent";
    let details = if is_told { faults } else { FieldErrors::new() };
    Err(AppError::Conflict { message: message.into(), details })
}

/// What a start makes, before it is written.
struct Stage {
    task_run: StoredTaskRun,
    task: FrozenTask,
    environment: model::EnvironmentId,
    playground: PlaygroundId,
    sandboxes: Vec<StoredSandbox>,
    /// Whether the rows of the playground and its sandboxes are there already.
    is_provisioned: bool,
    now: Timestamp,
    deadline: Timestamp,
}

/// The playground after the first steps of its scenario.
struct Scene {
    task_item: Value,
    world: World,
    entries: Vec<Entry>,
}

impl Stage {
    /// In the playground that was provisioned with the run. A run of an older server, or a very large one, has none yet.
    fn new(
        app: &App,
        run: &StoredRun,
        (task_run, provisioned): (&StoredTaskRun, Option<Vec<StoredSandbox>>),
        snapshot: &Snapshot,
    ) -> Result<Self, AppError> {
        let now = app.now();
        let is_provisioned = provisioned.is_some();
        let (playground, sandboxes) = match (&task_run.playground, provisioned) {
            (Some(playground), Some(stored)) => (playground.clone(), provision::opened(stored, snapshot)?),
            _ => {
                let made = NewPlayground::new(app, run, snapshot, &RunSecret::new()?, now)?;
                (made.id, made.sandboxes)
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

    /// Carries out the scenario on the datasets. The inner fault is the author's.
    async fn scene(&self, app: &App, snapshot: &Snapshot) -> Result<Result<Scene, FieldErrors>, AppError> {
        let (task_item, steps) = match self.prepared(snapshot) {
            Ok(prepared) => prepared,
            Err(faults) => return Ok(Err(faults)),
        };
        let mut sandboxes = BTreeMap::new();
        for stored in &self.sandboxes {
            sandboxes.insert(stored.id.clone(), app.runtime().sandbox_at_baseline(stored.clone(), self.now).await?);
        }
        let world = World { seq: 0, oldest: 0, sandboxes };
        let played = play(app.clone(), world, steps).await?;
        let (world, mut entries) = match played {
            Ok(played) => played,
            Err(faults) => return Ok(Err(faults)),
        };
        for entry in &mut entries {
            app.runtime().store_texts(entry).await?;
        }
        Ok(Ok(Scene { task_item, world, entries }))
    }

    /// Templates filled in, in what the agent is told and in what happens.
    fn prepared(&self, snapshot: &Snapshot) -> Result<(Value, Vec<PreparedStep>), FieldErrors> {
        let task = snapshots::task_value(&self.task);
        let entity = snapshots::entity_value(snapshot, self.task.entities.first());
        let bindings = Bindings { entity: entity.as_ref(), task: Some(&task) };
        let task_item = template::bind(&self.task.task_item, &bindings).map_err(|faults| {
            let mut errors = FieldErrors::new();
            errors.nest("task_item", faults);
            errors
        })?;
        let place = |sandbox: &'_ StoredSandbox| (sandbox.id.clone(), sandbox.kind, sandbox.name.clone());
        let places: Vec<(SandboxId, _, String)> = self.sandboxes.iter().map(place).collect();
        let places: Vec<ScenarioSandbox<'_>> =
            places.iter().map(|(id, kind, name)| ScenarioSandbox { id, kind: *kind, name: name.as_str() }).collect();
        let files = dataset_files(snapshot);
        let setting =
            ScenarioContext { sandboxes: &places, entity: entity.as_ref(), task: &task, dataset_files: &files };
        let steps = scenario::prepare(&self.task.scenario, &setting)?;
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

    fn shown(&self, scene: &Scene, base: &Addresses, identity: TaskIdentity) -> StartedTaskRun {
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
            task: self.shown_task(scene, identity),
            endpoints: channels::of_task_run(&self.task_run.id, &self.sandboxes),
            sandboxes: self.sandboxes.iter().map(sandbox).collect(),
        }
    }

    fn shown_task(&self, scene: &Scene, identity: TaskIdentity) -> StartedTask {
        let task_item = scene.task_item.clone();
        match identity {
            TaskIdentity::Real => StartedTask { name: self.task.name.clone(), tags: self.task.tags.clone(), task_item },
            TaskIdentity::Neutral => {
                let name = neutral::name(Some(&task_item), self.task_run.position);
                StartedTask { name, tags: Vec::new(), task_item }
            }
        }
    }
}

/// The first events and the world after them. All at the first place of the log, as one message would be.
async fn play(
    app: App,
    mut world: World,
    steps: Vec<PreparedStep>,
) -> Result<Result<(World, Vec<Entry>), FieldErrors>, AppError> {
    if steps.is_empty() {
        return Ok(Ok((world, Vec::new())));
    }
    let played = tokio::task::spawn_blocking(move || {
        let outcome = app.runtime().with_context(|context| scenario::begin(&world, context, &steps))?;
        let entries = app.runtime().record(&mut world, outcome.changes, outcome.events);
        Ok((world, entries))
    });
    played.await.map_err(|_| AppError::Internal("a scenario panicked".into()))
}

fn dataset_files(snapshot: &Snapshot) -> BTreeMap<String, DatasetFile> {
    let files = snapshot.datasets.iter().flat_map(|dataset| &dataset.manifest.files);
    let known = files.map(|(path, file)| {
        let (sha256, content_type) = (file.sha256.clone(), file.content_type.clone());
        (path.clone(), DatasetFile { sha256, size: file.size, content_type, text: None })
    });
    known.collect()
}
