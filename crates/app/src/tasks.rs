//! Tasks, whose scenarios are checked against the benchmark's environment, and the entities bound to them.

use model::dataset::DatasetEntity;
use model::page::{Page, PageRequest};
use model::task::{NewTask, Task, TaskPatch};
use model::{BenchmarkId, EntityId, FieldErrors, OrgId, TaskId};
use store::{Db, benchmarks, entities, environments, tasks};

use crate::criteria::{self, SimulatorNames};
use crate::etag::IfMatch;
use crate::idempotency::ResponseStorage;
use crate::{App, AppError, Created, Once, OrgGrant};

const MAX_ENTITIES: usize = 100;

pub async fn create(app: &App, grant: &OrgGrant, once: Option<Once>, new: NewTask) -> Result<Created<Task>, AppError> {
    let task = new.into_task(app.new_id(), app.now());
    let org = grant.org.clone();
    let work = move |db: &mut Db<'_>| {
        validate(db, &org, &task)?;
        tasks::insert(db, &org, &task)?;
        Ok(task.clone())
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
}

pub async fn get(app: &App, grant: &OrgGrant, task: &TaskId) -> Result<Task, AppError> {
    let (org, task) = (grant.org.clone(), task.clone());
    app.store().read(move |db| found(db, &org, &task)).await
}

pub async fn list(
    app: &App,
    grant: &OrgGrant,
    benchmark: Option<BenchmarkId>,
    page: PageRequest,
) -> Result<Page<Task>, AppError> {
    let org = grant.org.clone();
    let read = move |db: &mut Db<'_>| {
        let mut simulators = SimulatorNames::default();
        tasks::list(db, &org, benchmark.as_ref(), &page)?.try_map(|mut task| {
            criteria::derive(db, &org, &mut task, &mut simulators)?;
            Ok(task)
        })
    };
    app.store().read(read).await
}

pub async fn update(
    app: &App,
    grant: &OrgGrant,
    task: &TaskId,
    if_match: IfMatch,
    patch: TaskPatch,
) -> Result<Task, AppError> {
    let (org, task, now) = (grant.org.clone(), task.clone(), app.now());
    let change = move |db: &mut Db<'_>| {
        let mut task = found(db, &org, &task)?;
        if_match.check(&task)?;
        patch.clone().apply(&mut task);
        // A change of the name must not fail if the scenario does not fit a changed environment.
        if patch.scenario.is_some() {
            validate(db, &org, &task)?
        } else {
            task.validate()?
        }
        task.updated_at = now;
        tasks::update(db, &org, &task)?;
        Ok(task)
    };
    app.store().write(change).await
}

/// Deletes the task with its criteria. Published versions do not change.
pub async fn delete(app: &App, grant: &OrgGrant, task: &TaskId, if_match: IfMatch) -> Result<(), AppError> {
    let (org, task) = (grant.org.clone(), task.clone());
    let change = move |db: &mut Db<'_>| {
        if_match.check(&found(db, &org, &task)?)?;
        Ok(tasks::delete(db, &org, &task)?)
    };
    app.store().write(change).await
}

/// In the order in which they were bound.
pub async fn entities(
    app: &App,
    grant: &OrgGrant,
    task: &TaskId,
    page: PageRequest,
) -> Result<Page<DatasetEntity>, AppError> {
    let (org, task) = (grant.org.clone(), task.clone());
    let read = move |db: &mut Db<'_>| {
        found(db, &org, &task)?;
        Ok(entities::list_of_task(db, &org, &task, &page)?)
    };
    app.store().read(read).await
}

/// Binding it again changes nothing.
pub async fn bind_entity(
    app: &App,
    grant: &OrgGrant,
    task: &TaskId,
    entity: &EntityId,
    once: Option<Once>,
) -> Result<Created<DatasetEntity>, AppError> {
    let (org, task, entity) = (grant.org.clone(), task.clone(), entity.clone());
    let work = move |db: &mut Db<'_>| {
        found(db, &org, &task)?;
        let Some(bound) = entities::find(db, &org, &entity)? else {
            let mut errors = FieldErrors::new();
            errors.no_such("entity_id", &entity);
            return Err(errors.into());
        };
        let others = entities::of_task(db, &org, &task)?.iter().filter(|other| other.id != entity).count();
        if others >= MAX_ENTITIES {
            return Err(AppError::conflict(format!("a task has at most {MAX_ENTITIES} entities")));
        }
        entities::bind_to_task(db, &task, &entity)?;
        Ok(bound)
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
}

pub async fn unbind_entity(app: &App, grant: &OrgGrant, task: &TaskId, entity: &EntityId) -> Result<(), AppError> {
    let (org, task, entity) = (grant.org.clone(), task.clone(), entity.clone());
    let change = move |db: &mut Db<'_>| {
        found(db, &org, &task)?;
        let was_bound = entities::unbind_from_task(db, &task, &entity)?;
        if was_bound { Ok(()) } else { Err(AppError::missing::<EntityId>()) }
    };
    app.store().write(change).await
}

fn validate(db: &mut Db<'_>, org: &OrgId, task: &Task) -> Result<(), AppError> {
    let mut errors = task.validate().err().unwrap_or_default();
    match benchmarks::find(db, org, &task.benchmark_id)? {
        None => errors.no_such("benchmark_id", &task.benchmark_id),
        Some(benchmark) => {
            let environment = match &benchmark.environment_id {
                Some(environment) => environments::find(db, org, environment)?,
                None => None,
            };
            if let Err(nested) = check_scenario(task, environment.as_ref()) {
                errors.nest("scenario", nested);
            }
        }
    }
    Ok(errors.into_result()?)
}

/// Checks that every step has a simulator in the environment.
pub(crate) fn check_scenario(
    task: &Task,
    environment: Option<&model::environment::Environment>,
) -> Result<(), FieldErrors> {
    if task.scenario.is_null() {
        return Ok(());
    }
    let available = environment.map(|environment| {
        let simulators = environment.simulators.iter();
        simulators
            .map(|simulator| sims::EnvironmentSimulator { kind: simulator.r#type, name: &simulator.name })
            .collect::<Vec<_>>()
    });
    sims::validate_scenario(&task.scenario, available.as_deref())
}

fn found(db: &mut Db<'_>, org: &OrgId, task: &TaskId) -> Result<Task, AppError> {
    let mut found = tasks::find(db, org, task)?.ok_or(AppError::missing::<TaskId>())?;
    criteria::derive(db, org, &mut found, &mut SimulatorNames::default())?;
    Ok(found)
}
