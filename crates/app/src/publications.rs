//! Publishing: freezes everything that a run needs as the next version of a slug, in one transaction.

use std::collections::BTreeSet;

use bytes::Bytes;
use model::audit::{NewAudit, VersionAudit};
use model::benchmark::{Benchmark, Visibility};
use model::dataset::DatasetEntity;
use model::environment::Environment;
use model::page::{Page, PageRequest};
use model::publication::{
    BenchmarkVersion, FrozenDataset, FrozenEnvironment, FrozenSimulator, FrozenTask, Publish, RunnableVersion,
    Snapshot, VersionContent, VersionTask,
};
use model::score;
use model::slug::{self, VersionRef};
use model::task::Task;
use model::template::{self, Root};
use model::{BenchmarkId, DatasetId, EntityId, FieldErrors, OrgId, TaskId, Timestamp};
use store::versions::{self, StoredVersion};
use store::{Db, benchmarks, datasets, entities, environments, simulators, tasks};

use crate::idempotency::ResponseStorage;
use crate::runs::snapshots;
use crate::tasks::check_scenario;
use crate::{App, AppError, Created, Once, OrgGrant, SolverGrant};

pub async fn publish(
    app: &App,
    grant: &OrgGrant,
    benchmark: &BenchmarkId,
    once: Option<Once>,
    publish: Publish,
) -> Result<Created<BenchmarkVersion>, AppError> {
    publish.validate()?;
    let (org, benchmark, now) = (grant.org.clone(), benchmark.clone(), app.now());
    let work = move |db: &mut Db<'_>| {
        let mut benchmark = crate::benchmarks::found(db, &org, &benchmark)?;
        let snapshot = freeze(db, &org, &benchmark, now)?;
        let slug = settle_slug(db, &org, &mut benchmark, &publish)?;
        let version = add_version(db, &benchmark, (slug, publish.version), snapshot, (&org, now))?;
        benchmark.updated_at = now;
        benchmarks::update(db, &org, &benchmark)?;
        Ok(view(&version, &org))
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
}

pub async fn versions(
    app: &App,
    grant: &OrgGrant,
    benchmark: &BenchmarkId,
    page: PageRequest,
) -> Result<Page<BenchmarkVersion>, AppError> {
    let (org, benchmark) = (grant.org.clone(), benchmark.clone());
    let read = move |db: &mut Db<'_>| {
        benchmarks::find_visible(db, &org, &benchmark)?.ok_or(AppError::missing::<BenchmarkId>())?;
        Ok(versions::list_visible(db, &org, &benchmark, &page)?.map(|version| view(&version, &org)))
    };
    app.store().read(read).await
}

pub async fn version(app: &App, grant: &OrgGrant, reference: &VersionRef) -> Result<BenchmarkVersion, AppError> {
    visible(app, &grant.org, reference).await
}

/// The information for a solver before it runs the version.
pub async fn runnable(app: &App, grant: &SolverGrant, reference: &VersionRef) -> Result<RunnableVersion, AppError> {
    Ok(visible(app, &grant.org, reference).await?.into())
}

async fn visible(app: &App, org: &OrgId, reference: &VersionRef) -> Result<BenchmarkVersion, AppError> {
    let (org, reference) = (org.clone(), reference.clone());
    let read = move |db: &mut Db<'_>| {
        let found = versions::find_visible(db, &org, &reference)?;
        let version = found.map_or_else(|| Err(no_version(db, &org, &reference)), Ok)?;
        Ok(view(&version, &org))
    };
    app.store().read(read).await
}

/// The frozen content of a version of the organization, with the defaults at its publication written out.
pub async fn content(app: &App, grant: &OrgGrant, reference: &VersionRef) -> Result<VersionContent, AppError> {
    let (visibility, content_hash) = own_heading(app, grant, reference).await?;
    let content = Snapshot::clone(&*snapshots::of_version(app, reference).await?);
    let VersionRef { slug, version } = reference.clone();
    Ok(VersionContent { slug, version, visibility, content_hash, content })
}

/// The bytes of a blob in the content of a version of the organization.
pub async fn blob(app: &App, grant: &OrgGrant, reference: &VersionRef, sha256: &str) -> Result<Bytes, AppError> {
    own_heading(app, grant, reference).await?;
    if !snapshots::of_version(app, reference).await?.names_blob(sha256) {
        return Err(AppError::NotFound("content"));
    }
    Ok(app.blobs().get(sha256).await?)
}

async fn own_heading(app: &App, grant: &OrgGrant, reference: &VersionRef) -> Result<(Visibility, String), AppError> {
    let (org, reference) = (grant.org.clone(), reference.clone());
    let read =
        move |db: &mut Db<'_>| versions::own_heading(db, &org, &reference)?.ok_or(AppError::missing::<BenchmarkId>());
    app.store().read(read).await
}

/// The error for a version that does not exist. It names the newest version if the organization can see the benchmark.
pub(crate) fn no_version(db: &mut Db<'_>, org: &OrgId, reference: &VersionRef) -> AppError {
    let VersionRef { slug, version } = reference.clone();
    match versions::newest_visible(db, org, &slug) {
        Ok(Some(newest)) => AppError::NoVersion { slug, wanted: version, newest },
        Ok(None) => AppError::missing::<BenchmarkId>(),
        Err(error) => error.into(),
    }
}

/// Stores the result of an audit of a version of the organization. An earlier result is replaced; the version does not
/// change.
pub async fn record_audit(
    app: &App,
    grant: &OrgGrant,
    reference: &VersionRef,
    audit: NewAudit,
) -> Result<VersionAudit, AppError> {
    let (org, reference, now) = (grant.org.clone(), reference.clone(), app.now());
    let work = move |db: &mut Db<'_>| {
        let version = versions::find_own(db, &org, &reference)?.ok_or(AppError::missing::<BenchmarkId>())?;
        let tasks: BTreeSet<&TaskId> = version.snapshot.tasks.iter().map(|task| &task.id).collect();
        audit.validate(&tasks)?;
        let recorded = audit.clone().recorded(crate::runs::ENGINE, now);
        versions::record_audit(db, &reference, &recorded)?;
        Ok(recorded)
    };
    app.store().write(work).await
}

/// The error for a slug without a version. It names the newest version.
pub async fn refuse_bare_slug(app: &App, org: &OrgId, slug: &str) -> AppError {
    let (org, wanted) = (org.clone(), slug.to_owned());
    let newest: Result<Option<i64>, AppError> =
        app.store().read(move |db| Ok(versions::newest_visible(db, &org, &wanted)?)).await;
    match newest {
        Ok(Some(version)) => AppError::BadRequest(format!("name a version: the newest is `{slug}@{version}`")),
        Ok(None) => AppError::missing::<BenchmarkId>(),
        Err(error) => error,
    }
}

/// The slug of the version, which is assigned to the benchmark if it has none.
fn settle_slug(db: &mut Db<'_>, org: &OrgId, benchmark: &mut Benchmark, publish: &Publish) -> Result<String, AppError> {
    let wanted = publish.slug.clone().or_else(|| benchmark.slug.clone()).or_else(|| slug::from_name(&benchmark.name));
    let wanted = wanted
        .ok_or_else(|| FieldErrors::one("slug", "is required, because the name contains no letters or digits"))?;
    match (&benchmark.slug, benchmark.version) {
        (Some(current), _) if *current == wanted => {}
        (Some(current), Some(_)) => {
            return Err(AppError::conflict(format!("the slug is fixed: earlier versions are `{current}@…`")));
        }
        _ => {
            benchmarks::release_slug(db, org, &benchmark.id)?;
            crate::benchmarks::claim_slug(db, org, benchmark, &wanted)?;
            benchmark.slug = Some(wanted.clone());
        }
    }
    Ok(wanted)
}

fn add_version(
    db: &mut Db<'_>,
    benchmark: &Benchmark,
    (slug, wanted): (String, Option<i64>),
    snapshot: Snapshot,
    (org, now): (&OrgId, Timestamp),
) -> Result<StoredVersion, AppError> {
    let content_hash = snapshot.content_hash();
    let (newest, equal) = versions::newest_and_equal(db, &slug, &content_hash)?;
    if let Some(equal) = equal {
        return Err(AppError::conflict(format!("nothing has changed: this is `{slug}@{equal}`")));
    }
    if let Some(wanted) = wanted.filter(|wanted| *wanted <= newest) {
        let message =
            format!("version {wanted} cannot be published: the newest is `{slug}@{newest}`, with other content");
        return Err(AppError::conflict(message));
    }
    let version = StoredVersion {
        reference: VersionRef { slug, version: wanted.unwrap_or(newest + 1) },
        org: org.clone(),
        benchmark: benchmark.id.clone(),
        visibility: benchmark.visibility,
        content_hash,
        snapshot,
        published_at: now,
        audit: None,
    };
    versions::insert(db, &version)?;
    Ok(version)
}

/// Freezes the current state of everything that a run needs.
pub(crate) fn freeze(
    db: &mut Db<'_>,
    org: &OrgId,
    benchmark: &Benchmark,
    now: Timestamp,
) -> Result<Snapshot, AppError> {
    let environment = match &benchmark.environment_id {
        Some(environment) => environments::find(db, org, environment)?,
        None => None,
    };
    let mut drafts = Vec::new();
    for task in tasks::of_benchmark(db, org, &benchmark.id)? {
        let bound = entities::of_task(db, org, &task.id)?;
        drafts.push((task, bound));
    }
    let environment = check_complete(environment, &drafts)?;
    let simulators = freeze_simulators(db, org, &environment)?;
    let mut entities = EntitiesInUse::default();
    let mut frozen_tasks = Vec::new();
    for (task, bound) in drafts {
        frozen_tasks.push(freeze_task(db, org, task, bound, &mut entities)?);
    }
    let of_simulators = simulators.iter().flat_map(|simulator| &simulator.datasets);
    let of_entities = entities.in_order.iter().map(|entity| &entity.dataset_id);
    let datasets = freeze_datasets(db, org, of_simulators.chain(of_entities), now)?;
    Ok(Snapshot {
        name: benchmark.name.clone(),
        description: benchmark.description.clone(),
        timeout: benchmark.timeout,
        concurrency: benchmark.concurrency,
        environment: FrozenEnvironment { id: environment.id, name: environment.name, simulators },
        datasets,
        entities: entities.in_order,
        tasks: frozen_tasks,
    })
}

/// Reports all reasons why the benchmark cannot be run.
fn check_complete(
    environment: Option<Environment>,
    tasks: &[(Task, Vec<DatasetEntity>)],
) -> Result<Environment, AppError> {
    let mut details = FieldErrors::new();
    match &environment {
        None => details.add("environment_id", "is not set"),
        Some(environment) if environment.simulators.is_empty() => {
            details.add("environment_id", "the environment has no simulators");
        }
        Some(_) => {}
    }
    if tasks.is_empty() {
        details.add("tasks", "there are none");
    }
    for (task, bound) in tasks {
        if let Err(errors) = check_scenario(task, environment.as_ref()) {
            details.nest(&format!("{}.scenario", task.id), errors);
        }
        let unbound = bound.is_empty()
            && [&task.task_item, &task.scenario].iter().any(|value| template::uses(value, Root::Entity));
        if unbound {
            details.add(format!("{}.entities", task.id), "the task uses `{{entity.…}}` and no entity is bound to it");
        }
        for (position, words) in crate::criteria::too_light(&task.criteria) {
            let id = task.criteria.get(position).map(|criterion| criterion.id.to_string()).unwrap_or_default();
            details.add(format!("{}.criteria.{id}.weight", task.id), words);
        }
    }
    match environment {
        Some(environment) if details.is_empty() => Ok(environment),
        _ => Err(AppError::Conflict { message: "the benchmark is not ready to be run".into(), details }),
    }
}

fn freeze_simulators(
    db: &mut Db<'_>,
    org: &OrgId,
    environment: &Environment,
) -> Result<Vec<FrozenSimulator>, AppError> {
    let mut frozen = Vec::new();
    for summary in &environment.simulators {
        let simulator = simulators::find(db, org, &summary.id)?.ok_or(AppError::missing::<model::SimulatorId>())?;
        let model::simulator::Simulator { id, r#type, name, mut config, datasets, .. } = simulator;
        (sims::info(r#type).config_defaults.pin)(&mut config);
        frozen.push(FrozenSimulator { id, r#type, name, config, datasets });
    }
    Ok(frozen)
}

fn freeze_task(
    db: &mut Db<'_>,
    org: &OrgId,
    task: Task,
    bound: Vec<DatasetEntity>,
    entities_in_use: &mut EntitiesInUse,
) -> Result<FrozenTask, AppError> {
    let ids = bound.iter().map(|entity| entity.id.clone()).collect();
    bound.into_iter().for_each(|entity| entities_in_use.add(entity));
    for input in task.criteria.iter().filter_map(|criterion| criterion.input_entity_id.as_ref()) {
        if let Some(entity) = entities::find(db, org, input)? {
            entities_in_use.add(entity);
        }
    }
    let Task { id, name, timeout, tags, task_item, scenario, criteria, .. } = task;
    Ok(FrozenTask { id, name, timeout, tags, task_item, scenario, entities: ids, criteria })
}

/// Each once, in the order in which tasks refer to them, so that the creation order does not affect the content hash.
#[derive(Default)]
struct EntitiesInUse {
    seen: BTreeSet<EntityId>,
    in_order: Vec<DatasetEntity>,
}

impl EntitiesInUse {
    fn add(&mut self, entity: DatasetEntity) {
        if self.seen.insert(entity.id.clone()) {
            self.in_order.push(entity);
        }
    }
}

/// Each once, in the order of the references, with its current revision, which is stored permanently.
fn freeze_datasets<'a>(
    db: &mut Db<'_>,
    org: &OrgId,
    wanted: impl Iterator<Item = &'a DatasetId>,
    now: Timestamp,
) -> Result<Vec<FrozenDataset>, AppError> {
    let mut frozen = Vec::new();
    let mut seen = BTreeSet::new();
    for id in wanted.filter(|id| seen.insert((*id).clone())) {
        let dataset = datasets::find(db, org, id)?.ok_or(AppError::missing::<DatasetId>())?;
        let manifest = datasets::manifest(db, &dataset)?;
        datasets::keep_revision(db, org, &dataset, &manifest, now)?;
        frozen.push(FrozenDataset {
            id: id.clone(),
            name: dataset.name,
            r#type: dataset.r#type,
            revision: dataset.revision,
            manifest,
        });
    }
    Ok(frozen)
}

/// Only the owner sees criteria.
fn view(version: &StoredVersion, reader: &OrgId) -> BenchmarkVersion {
    let snapshot = &version.snapshot;
    let own = version.org == *reader;
    let simulators: BTreeSet<_> = snapshot.environment.simulators.iter().map(|simulator| simulator.r#type).collect();
    BenchmarkVersion {
        benchmark_id: version.benchmark.clone(),
        slug: version.reference.slug.clone(),
        version: version.reference.version,
        name: snapshot.name.clone(),
        description: snapshot.description.clone(),
        visibility: version.visibility,
        content_hash: version.content_hash.clone(),
        timeout: snapshot.timeout,
        concurrency: snapshot.concurrency,
        simulators: simulators.into_iter().collect(),
        tasks: snapshot.tasks.iter().map(|task| version_task(task, snapshot.timeout, own)).collect(),
        axis_names: own.then(|| axis_names(snapshot)),
        published_at: version.published_at,
        audit: version.audit.clone().map(|audit| shown_audit(audit, own)),
    }
}

fn axis_names(snapshot: &Snapshot) -> Vec<String> {
    let criteria = snapshot.tasks.iter().flat_map(|task| &task.criteria);
    let names: BTreeSet<&str> =
        criteria.map(|criterion| criterion.axis.as_deref().unwrap_or(score::DEFAULT_AXIS)).collect();
    names.into_iter().map(str::to_owned).collect()
}

fn version_task(task: &FrozenTask, default_timeout: i64, own: bool) -> VersionTask {
    let mut shown = VersionTask::new(task, default_timeout, own);
    for criterion in shown.criteria.iter_mut().flatten() {
        criterion.guard = verify::is_guard(&criterion.assertion);
    }
    shown
}

/// Only the owner sees the results of single tasks.
fn shown_audit(mut audit: VersionAudit, own: bool) -> VersionAudit {
    audit.tasks = audit.tasks.filter(|_| own);
    audit
}
