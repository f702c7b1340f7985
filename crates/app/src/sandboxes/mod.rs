//! Sandboxes: running instances of simulators.

mod access;
mod addresses;
pub mod cds;
pub mod clearinghouse;
pub mod credentials;
pub mod evidence;
pub mod fax;
pub mod fhir;
pub mod files;
pub mod hl7;
pub mod operations;
pub mod payer;
mod response_bodies;
pub mod voice;

use std::sync::Arc;

use model::dataset::{Dataset, DatasetType};
use model::page::{Page, PageRequest};
use model::playground::{NewSandbox, Sandbox, SandboxDataset, Status};
use model::simulator::Simulator;
use model::{DatasetId, Id, OrgId, PlaygroundId, SandboxId, SimulatorId, Timestamp};
use store::sandboxes::StoredSandbox;
use store::{Db, datasets, playgrounds, simulators};

pub use access::Access;
pub(crate) use addresses::Addresses;

use crate::idempotency::ResponseStorage;
use crate::{App, AppError, Created, Once, OrgGrant, random};

const MAX_DATASETS: usize = 50;
const MAX_SANDBOXES: usize = 50;

/// The URL at which clients reach the server, for credentials: `https://verial.example`.
pub type BaseUrl<'a> = &'a str;

/// In the playground of the request, or in a new one.
pub async fn create(
    app: &App,
    grant: &OrgGrant,
    base: BaseUrl<'_>,
    once: Option<Once>,
    new: NewSandbox,
) -> Result<Created<Sandbox>, AppError> {
    let (org, now, base) = (grant.org.clone(), app.now(), app.addresses(base));
    let (sandbox_id, own_playground) = (app.new_id::<SandboxId>(), app.new_id::<PlaygroundId>());
    let secret = new_secret()?;
    let named = new.playground_id.clone();
    let work = move |db: &mut Db<'_>| {
        let simulator = simulators::find(db, &org, &new.simulator_id)?.ok_or(AppError::missing::<SimulatorId>())?;
        let playground = match &new.playground_id {
            Some(id) => joined(db, &org, id)?,
            None => {
                playgrounds::insert(db, &org, &own_playground, None, now)?;
                own_playground.clone()
            }
        };
        let is_standalone = new.playground_id.is_none();
        let seed = Seed { id: sandbox_id.clone(), playground, secret: secret.clone(), now, is_standalone };
        let sandbox = provision(db, &org, &simulator, new.dataset_id.as_ref(), seed)?;
        Ok(view(&sandbox, &base))
    };
    let created = app.once(grant, once, ResponseStorage::Encrypted, work).await?;
    if let Some(playground) = named {
        app.runtime().invalidate(&playground);
    }
    Ok(created)
}

pub async fn get(app: &App, grant: &OrgGrant, base: BaseUrl<'_>, id: &SandboxId) -> Result<Sandbox, AppError> {
    let (org, id, base) = (grant.org.clone(), id.clone(), app.addresses(base));
    app.store().read(move |db| Ok::<_, AppError>(view(&found(db, &org, &id)?, &base))).await
}

pub async fn list(
    app: &App,
    grant: &OrgGrant,
    base: BaseUrl<'_>,
    playground: Option<PlaygroundId>,
    page: PageRequest,
) -> Result<Page<Sandbox>, AppError> {
    let (org, base) = (grant.org.clone(), app.addresses(base));
    let listed = move |db: &mut Db<'_>| {
        let page = store::sandboxes::list(db, &org, playground.as_ref(), &page)?;
        Ok::<_, AppError>(page.map(|sandbox| view(&sandbox, &base)))
    };
    app.store().read(listed).await
}

/// Ends traffic and credentials. Events and state stay. Ending it again changes nothing.
pub async fn tear_down(
    app: &App,
    grant: &OrgGrant,
    base: BaseUrl<'_>,
    id: &SandboxId,
    once: Option<Once>,
) -> Result<Created<Sandbox>, AppError> {
    let opened = open(app, grant, id).await?;
    if !opened.is_provisioned {
        app.runtime().flush(&opened.playground).await?;
    }
    let sandbox_id = id;
    let (org, id, now, base) = (grant.org.clone(), id.clone(), app.now(), app.addresses(base));
    let work = move |db: &mut Db<'_>| {
        let sandbox = found(db, &org, &id)?;
        crate::playgrounds::check_free(db, &org, &sandbox.playground)?;
        if sandbox.torn_down_at.is_none() {
            store::sandboxes::tear_down(db, &id, now)?;
            playgrounds::reshape(db, &sandbox.playground)?;
        }
        Ok(view(&found(db, &org, &id)?, &base))
    };
    let ended = app.once(grant, once, ResponseStorage::Plain, work).await;
    app.runtime().invalidate(&opened.playground);
    if ended.is_ok() {
        app.notify_sandbox_end(sandbox_id);
    }
    ended
}

/// Adds a dataset above those of the sandbox. Changes are kept.
pub async fn attach(
    app: &App,
    grant: &OrgGrant,
    base: BaseUrl<'_>,
    id: &SandboxId,
    dataset: &DatasetId,
    once: Option<Once>,
) -> Result<Created<Sandbox>, AppError> {
    let (org, id, dataset, now, base) =
        (grant.org.clone(), id.clone(), dataset.clone(), app.now(), app.addresses(base));
    let playground = open(app, grant, &id).await?.playground.clone();
    let work = move |db: &mut Db<'_>| {
        let mut sandbox = found(db, &org, &id)?;
        let pinned = pin(db, &org, &dataset, now)?;
        sandbox.datasets.retain(|known| known.dataset_id != pinned.dataset_id);
        sandbox.datasets.push(pinned);
        if sandbox.datasets.len() > MAX_DATASETS {
            return Err(AppError::conflict(format!("a sandbox has at most {MAX_DATASETS} datasets")));
        }
        reshape(db, &mut sandbox, now)?;
        Ok(view(&sandbox, &base))
    };
    let attached = app.once(grant, once, ResponseStorage::Encrypted, work).await;
    app.runtime().invalidate(&playground);
    attached
}

/// Removes a dataset from the sandbox. Changes are kept.
pub async fn detach(app: &App, grant: &OrgGrant, id: &SandboxId, dataset: &DatasetId) -> Result<(), AppError> {
    let (org, id, dataset, now) = (grant.org.clone(), id.clone(), dataset.clone(), app.now());
    let playground = open(app, grant, &id).await?.playground.clone();
    let change = move |db: &mut Db<'_>| {
        let mut sandbox = found(db, &org, &id)?;
        let before = sandbox.datasets.len();
        sandbox.datasets.retain(|known| known.dataset_id != dataset);
        if sandbox.datasets.len() == before {
            return Err(AppError::missing::<DatasetId>());
        }
        reshape(db, &mut sandbox, now)
    };
    let detached = app.store().write(change).await;
    app.runtime().invalidate(&playground);
    detached
}

/// Those of the sandboxes that have ended. Not scoped by organization: for the server, which has opened their ports.
pub async fn ended(app: &App, ids: Vec<SandboxId>) -> Result<Vec<SandboxId>, AppError> {
    if ids.is_empty() {
        return Ok(ids);
    }
    let read = move |db: &mut Db<'_>| {
        let mut ended = Vec::new();
        for id in &ids {
            let sandbox = store::sandboxes::find_any(db, id)?;
            if sandbox.is_none_or(|sandbox| sandbox.torn_down_at.is_some()) {
                ended.push(id.clone());
            }
        }
        Ok(ended)
    };
    app.store().read(read).await
}

/// A sandbox of the organization.
pub(crate) async fn open(app: &App, grant: &OrgGrant, id: &SandboxId) -> Result<Arc<StoredSandbox>, AppError> {
    let sandbox = app.runtime().sandbox(id).await?.filter(|sandbox| sandbox.org == grant.org);
    sandbox.ok_or(AppError::missing::<SandboxId>())
}

/// Values of a new sandbox that are created before the transaction.
#[derive(Clone)]
pub(crate) struct Seed {
    pub(crate) id: SandboxId,
    pub(crate) playground: PlaygroundId,
    pub(crate) secret: String,
    pub(crate) now: Timestamp,
    pub(crate) is_standalone: bool,
}

/// Creates a sandbox over the current revisions of the simulator's datasets. The cost does not depend on their size.
pub(crate) fn provision(
    db: &mut Db<'_>,
    org: &OrgId,
    simulator: &Simulator,
    over: Option<&DatasetId>,
    seed: Seed,
) -> Result<StoredSandbox, AppError> {
    let own = simulator.datasets.iter().filter(|dataset| Some(*dataset) != over);
    let pinned = own.chain(over).map(|dataset| pin(db, org, dataset, seed.now)).collect::<Result<Vec<_>, _>>()?;
    let sandbox = StoredSandbox {
        id: seed.id,
        org: org.clone(),
        playground: seed.playground,
        simulator: simulator.id.clone(),
        kind: simulator.r#type,
        name: simulator.name.clone(),
        config: simulator.config.clone(),
        datasets: pinned,
        secret: seed.secret,
        created_at: seed.now,
        torn_down_at: None,
        is_standalone: seed.is_standalone,
        reshaped_at: None,
        is_provisioned: false,
    };
    store::sandboxes::insert(db, &sandbox)?;
    Ok(sandbox)
}

/// The current revision of the dataset, which is stored permanently.
fn pin(db: &mut Db<'_>, org: &OrgId, dataset: &DatasetId, now: Timestamp) -> Result<SandboxDataset, AppError> {
    let dataset: Dataset = datasets::find(db, org, dataset)?.ok_or(AppError::missing::<DatasetId>())?;
    // Revisions of FHIR data are stored by their upload, so the manifest, which may be large, is not read.
    if dataset.r#type == DatasetType::Files {
        let manifest = datasets::manifest(db, &dataset)?;
        datasets::keep_revision(db, org, &dataset, &manifest, now)?;
    }
    Ok(SandboxDataset { dataset_id: dataset.id, revision: dataset.revision })
}

/// The playground, if a sandbox can be added to it.
fn joined(db: &mut Db<'_>, org: &OrgId, id: &PlaygroundId) -> Result<PlaygroundId, AppError> {
    playgrounds::find(db, org, id)?.ok_or(AppError::missing::<PlaygroundId>())?;
    crate::playgrounds::check_free(db, org, id)?;
    if store::sandboxes::of_playground(db, id)?.len() >= MAX_SANDBOXES {
        return Err(AppError::conflict(format!("a playground has at most {MAX_SANDBOXES} sandboxes")));
    }
    playgrounds::reshape(db, id)?.ok_or_else(|| AppError::conflict("the playground is torn down; make a new one"))?;
    Ok(id.clone())
}

fn reshape(db: &mut Db<'_>, sandbox: &mut StoredSandbox, now: Timestamp) -> Result<(), AppError> {
    let has_ended = || AppError::conflict("the sandbox is torn down; make a new one");
    if sandbox.torn_down_at.is_some() {
        return Err(has_ended());
    }
    crate::playgrounds::check_free(db, &sandbox.org, &sandbox.playground)?;
    store::sandboxes::set_datasets(db, &sandbox.id, &sandbox.datasets, now)?;
    sandbox.reshaped_at = Some(now);
    playgrounds::reshape(db, &sandbox.playground)?.ok_or_else(has_ended)?;
    Ok(())
}

pub(crate) fn new_secret() -> Result<String, AppError> {
    Ok(random::bytes::<32>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(crate) fn view(sandbox: &StoredSandbox, base: &Addresses) -> Sandbox {
    let is_active = sandbox.torn_down_at.is_none();
    let url = credentials::sandbox_url(sandbox, &base.base);
    let credentials = if is_active { credentials::of(sandbox, base, &url) } else { Default::default() };
    let playground = Some(sandbox.playground.clone());
    let (playground_id, own_playground_id) =
        if sandbox.is_standalone { (None, playground) } else { (playground, None) };
    let changes = [sandbox.reshaped_at, sandbox.torn_down_at];
    Sandbox {
        id: sandbox.id.clone(),
        organization_id: sandbox.org.clone(),
        playground_id,
        own_playground_id,
        simulator_id: sandbox.simulator.clone(),
        r#type: sandbox.kind,
        name: sandbox.name.clone(),
        status: Status::of(sandbox.torn_down_at, sandbox.is_provisioned),
        datasets: sandbox.datasets.clone(),
        credentials,
        created_at: sandbox.created_at,
        updated_at: changes.into_iter().flatten().fold(sandbox.created_at, Timestamp::max),
        torn_down_at: sandbox.torn_down_at,
    }
}

fn found(db: &mut Db<'_>, org: &OrgId, id: &SandboxId) -> Result<StoredSandbox, AppError> {
    store::sandboxes::find(db, org, id)?.ok_or(AppError::NotFound(SandboxId::NOUN))
}
