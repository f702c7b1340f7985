//! The frozen content of runs. It never changes, so it is cached.

use std::sync::{Arc, Mutex, PoisonError};

use model::publication::{FrozenTask, Snapshot};
use model::slug::VersionRef;
use model::{TaskId, canonical};
use runtime::LruCache;
use serde_json::{Value, json};
use store::runs::StoredRun;
use store::{Db, StoreError};

use crate::{App, AppError};

const MAX_CACHED: usize = 64;

/// By `slug@version`, or by the run of a draft.
pub(crate) struct Snapshots {
    cached: Mutex<LruCache<String, Arc<Snapshot>>>,
}

impl Default for Snapshots {
    fn default() -> Self {
        Self { cached: Mutex::new(LruCache::new(MAX_CACHED)) }
    }
}

pub(crate) async fn of(app: &App, run: &StoredRun) -> Result<Arc<Snapshot>, AppError> {
    match run.reference() {
        Some(reference) => of_version(app, &reference).await,
        None => {
            let id = run.id.clone();
            cached(app, run.id.to_string(), move |db| store::runs::draft(db, &id)).await
        }
    }
}

pub(crate) async fn of_version(app: &App, reference: &VersionRef) -> Result<Arc<Snapshot>, AppError> {
    let wanted = reference.clone();
    cached(app, reference.to_string(), move |db| store::runs::version_snapshot(db, &wanted)).await
}

async fn cached(
    app: &App,
    name: String,
    read: impl Fn(&mut Db<'_>) -> Result<Option<Snapshot>, StoreError> + Send + 'static,
) -> Result<Arc<Snapshot>, AppError> {
    let cache = || app.inner.snapshots.cached.lock().unwrap_or_else(PoisonError::into_inner);
    let cached = cache().get(&name).cloned();
    if let Some(snapshot) = cached {
        return Ok(snapshot);
    }
    let found = app.store().read(read).await?;
    let mut found = found.ok_or_else(|| AppError::Internal("the frozen content of a run is missing".into()))?;
    write_old_defaults(&mut found);
    let snapshot = Arc::new(found);
    cache().insert(name, Arc::clone(&snapshot), 1);
    Ok(snapshot)
}

/// Writes out the defaults of configs that have changed since the version was published.
fn write_old_defaults(snapshot: &mut Snapshot) {
    for simulator in &mut snapshot.environment.simulators {
        (sims::info(simulator.r#type).config_defaults.restore)(&mut simulator.config);
    }
}

pub(crate) fn task<'a>(snapshot: &'a Snapshot, id: &TaskId) -> Result<&'a FrozenTask, AppError> {
    let found = snapshot.tasks.iter().find(|task| task.id == *id);
    found.ok_or_else(|| AppError::Internal("a task of a run is missing".into()))
}

/// The value of `{{task.…}}` in templates.
pub(crate) fn task_value(task: &FrozenTask) -> Value {
    json!({"id": task.id, "name": task.name, "tags": task.tags, "task_item": task.task_item})
}

/// The value of `{{entity.…}}` in templates.
pub(crate) fn entity_value(snapshot: &Snapshot, id: Option<&model::EntityId>) -> Option<Value> {
    let entity = snapshot.entities.iter().find(|entity| Some(&entity.id) == id)?;
    Some(json!({"name": entity.name, "ref": entity.r#ref, "data": entity.data}))
}

/// The hash of the datasets below the written records, for the hash of a sealed state.
pub(crate) fn datasets_hash(snapshot: &Snapshot) -> String {
    let manifests = serde_json::to_value(snapshot.datasets.iter().map(|dataset| &dataset.manifest).collect::<Vec<_>>());
    canonical::sha256_hex(canonical::to_string(&manifests.unwrap_or_default()).as_bytes())
}
