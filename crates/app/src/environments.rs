//! Environments and their simulators.

use model::environment::{Environment, EnvironmentPatch, NewEnvironment};
use model::page::{Page, PageRequest};
use model::{EnvironmentId, SimulatorId};
use store::{Db, benchmarks, environments, simulators};

use crate::etag::IfMatch;
use crate::idempotency::ResponseStorage;
use crate::{App, AppError, Created, Once, OrgGrant};

const MAX_SIMULATORS: usize = 50;

pub async fn create(
    app: &App,
    grant: &OrgGrant,
    once: Option<Once>,
    new: NewEnvironment,
) -> Result<Created<Environment>, AppError> {
    let environment = new.into_environment(app.new_id(), app.now());
    environment.validate()?;
    let org = grant.org.clone();
    let work = move |db: &mut Db<'_>| {
        environments::insert(db, &org, &environment)?;
        Ok(environment.clone())
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
}

pub async fn get(app: &App, grant: &OrgGrant, environment: &EnvironmentId) -> Result<Environment, AppError> {
    let (org, environment) = (grant.org.clone(), environment.clone());
    app.store().read(move |db| found(db, &org, &environment)).await
}

pub async fn list(app: &App, grant: &OrgGrant, page: PageRequest) -> Result<Page<Environment>, AppError> {
    let org = grant.org.clone();
    app.store().read(move |db| Ok(environments::list(db, &org, &page)?)).await
}

pub async fn update(
    app: &App,
    grant: &OrgGrant,
    environment: &EnvironmentId,
    if_match: IfMatch,
    patch: EnvironmentPatch,
) -> Result<Environment, AppError> {
    let (org, environment, now) = (grant.org.clone(), environment.clone(), app.now());
    let change = move |db: &mut Db<'_>| {
        let mut environment = found(db, &org, &environment)?;
        if_match.check(&environment)?;
        patch.clone().apply(&mut environment);
        environment.validate()?;
        environment.updated_at = now;
        environments::update(db, &org, &environment)?;
        Ok(environment)
    };
    app.store().write(change).await
}

pub async fn delete(
    app: &App,
    grant: &OrgGrant,
    environment: &EnvironmentId,
    if_match: IfMatch,
) -> Result<(), AppError> {
    let (org, environment) = (grant.org.clone(), environment.clone());
    let change = move |db: &mut Db<'_>| {
        if_match.check(&found(db, &org, &environment)?)?;
        if let Some(benchmark) = benchmarks::with_environment(db, &org, &environment)? {
            return Err(AppError::conflict(format!(
                "benchmark {benchmark} uses this environment; give it another one first"
            )));
        }
        Ok(environments::delete(db, &org, &environment)?)
    };
    app.store().write(change).await
}

/// Attaching it again changes nothing.
pub async fn attach(
    app: &App,
    grant: &OrgGrant,
    environment: &EnvironmentId,
    simulator: &SimulatorId,
    once: Option<Once>,
) -> Result<Created<Environment>, AppError> {
    let (org, environment, simulator) = (grant.org.clone(), environment.clone(), simulator.clone());
    let work = move |db: &mut Db<'_>| {
        let before = found(db, &org, &environment)?;
        simulators::find(db, &org, &simulator)?.ok_or(AppError::missing::<SimulatorId>())?;
        let is_new = !before.simulators.iter().any(|attached| attached.id == simulator);
        if is_new && before.simulators.len() >= MAX_SIMULATORS {
            return Err(AppError::conflict(format!("an environment has at most {MAX_SIMULATORS} simulators")));
        }
        environments::attach(db, &environment, &simulator)?;
        found(db, &org, &environment)
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
}

pub async fn detach(
    app: &App,
    grant: &OrgGrant,
    environment: &EnvironmentId,
    simulator: &SimulatorId,
) -> Result<(), AppError> {
    let (org, environment, simulator) = (grant.org.clone(), environment.clone(), simulator.clone());
    let change = move |db: &mut Db<'_>| {
        found(db, &org, &environment)?;
        let was_attached = environments::detach(db, &environment, &simulator)?;
        if was_attached { Ok(()) } else { Err(AppError::missing::<SimulatorId>()) }
    };
    app.store().write(change).await
}

fn found(db: &mut Db<'_>, org: &model::OrgId, environment: &EnvironmentId) -> Result<Environment, AppError> {
    environments::find(db, org, environment)?.ok_or(AppError::missing::<EnvironmentId>())
}
