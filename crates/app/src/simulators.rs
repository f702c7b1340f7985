//! Simulators: definitions of simulated systems, and their datasets.

use model::page::{Page, PageRequest};
use model::simulator::{NewSimulator, Simulator, SimulatorPatch};
use model::{DatasetId, FieldErrors, OrgId, SimulatorId};
use store::{Db, datasets, environments, simulators};

use crate::etag::IfMatch;
use crate::idempotency::ResponseStorage;
use crate::{App, AppError, Created, Once, OrgGrant};

const MAX_DATASETS: usize = 50;

pub async fn create(
    app: &App,
    grant: &OrgGrant,
    once: Option<Once>,
    new: NewSimulator,
) -> Result<Created<Simulator>, AppError> {
    let simulator = new.into_simulator(app.new_id(), app.now());
    validate(&simulator)?;
    let org = grant.org.clone();
    let work = move |db: &mut Db<'_>| {
        simulators::insert(db, &org, &simulator)?;
        Ok(simulator.clone())
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
}

pub async fn get(app: &App, grant: &OrgGrant, simulator: &SimulatorId) -> Result<Simulator, AppError> {
    let (org, simulator) = (grant.org.clone(), simulator.clone());
    app.store().read(move |db| found(db, &org, &simulator)).await
}

pub async fn list(app: &App, grant: &OrgGrant, page: PageRequest) -> Result<Page<Simulator>, AppError> {
    let org = grant.org.clone();
    app.store().read(move |db| Ok(simulators::list(db, &org, &page)?)).await
}

pub async fn update(
    app: &App,
    grant: &OrgGrant,
    simulator: &SimulatorId,
    if_match: IfMatch,
    patch: SimulatorPatch,
) -> Result<Simulator, AppError> {
    let (org, simulator, now) = (grant.org.clone(), simulator.clone(), app.now());
    let change = move |db: &mut Db<'_>| {
        let mut simulator = found(db, &org, &simulator)?;
        if_match.check(&simulator)?;
        patch.clone().apply(&mut simulator);
        validate(&simulator)?;
        simulator.updated_at = now;
        simulators::update(db, &org, &simulator)?;
        Ok(simulator)
    };
    app.store().write(change).await
}

pub async fn delete(app: &App, grant: &OrgGrant, simulator: &SimulatorId, if_match: IfMatch) -> Result<(), AppError> {
    let (org, simulator) = (grant.org.clone(), simulator.clone());
    let change = move |db: &mut Db<'_>| {
        if_match.check(&found(db, &org, &simulator)?)?;
        if let Some(environment) = environments::with_simulator(db, &simulator)? {
            return Err(AppError::conflict(format!("environment {environment} has this simulator; detach it first")));
        }
        Ok(simulators::delete(db, &org, &simulator)?)
    };
    app.store().write(change).await
}

/// Attaching it again changes nothing.
pub async fn attach(
    app: &App,
    grant: &OrgGrant,
    simulator: &SimulatorId,
    dataset: &DatasetId,
    once: Option<Once>,
) -> Result<Created<Simulator>, AppError> {
    let (org, simulator, dataset) = (grant.org.clone(), simulator.clone(), dataset.clone());
    let work = move |db: &mut Db<'_>| {
        let before = found(db, &org, &simulator)?;
        let dataset = datasets::find(db, &org, &dataset)?.ok_or(AppError::missing::<DatasetId>())?;
        if !sims::info(before.r#type).datasets.contains(&dataset.r#type) {
            let (kind, data) = (before.r#type.name(), dataset.r#type.name());
            return Err(AppError::conflict(format!("a {kind} simulator does not start from a dataset of type {data}")));
        }
        if !before.datasets.contains(&dataset.id) && before.datasets.len() >= MAX_DATASETS {
            return Err(AppError::conflict(format!("a simulator has at most {MAX_DATASETS} datasets")));
        }
        simulators::attach(db, &simulator, &dataset.id)?;
        found(db, &org, &simulator)
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
}

pub async fn detach(app: &App, grant: &OrgGrant, simulator: &SimulatorId, dataset: &DatasetId) -> Result<(), AppError> {
    let (org, simulator, dataset) = (grant.org.clone(), simulator.clone(), dataset.clone());
    let change = move |db: &mut Db<'_>| {
        found(db, &org, &simulator)?;
        let was_attached = simulators::detach(db, &simulator, &dataset)?;
        if was_attached { Ok(()) } else { Err(AppError::missing::<DatasetId>()) }
    };
    app.store().write(change).await
}

fn validate(simulator: &Simulator) -> Result<(), FieldErrors> {
    let mut errors = simulator.validate().err().unwrap_or_default();
    if simulator.config.is_object()
        && let Err(nested) = sims::validate_config(simulator.r#type, &simulator.config)
    {
        errors.nest("config", nested);
    }
    errors.into_result()
}

fn found(db: &mut Db<'_>, org: &OrgId, simulator: &SimulatorId) -> Result<Simulator, AppError> {
    simulators::find(db, org, simulator)?.ok_or(AppError::missing::<SimulatorId>())
}
