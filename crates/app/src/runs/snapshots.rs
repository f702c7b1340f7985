//! What a run runs: frozen content, which never changes and is therefore remembered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::publication::{FrozenTask, Snapshot};
use model::simulator::SimulatorType;
use model::slug::VersionRef;
use model::{TaskId, canonical};
use serde_json::{Value, json};
use store::runs::StoredRun;
use store::{Db, StoreError};

use crate::{App, AppError};

const MOST_REMEMBERED: usize = 64;

/// By `slug@version`, or by the run of a draft.
#[derive(Default)]
pub(crate) struct Snapshots {
    known: Mutex<HashMap<String, Arc<Snapshot>>>,
}

pub(crate) async fn of(app: &App, run: &StoredRun) -> Result<Arc<Snapshot>, AppError> {
    match run.reference() {
        Some(reference) => of_version(app, &reference).await,
        None => {
            let id = run.id.clone();
            remembered(app, run.id.to_string(), move |db| store::runs::draft(db, &id)).await
        }
    }
}

pub(crate) async fn of_version(app: &App, reference: &VersionRef) -> Result<Arc<Snapshot>, AppError> {
    let wanted = reference.clone();
    remembered(app, reference.to_string(), move |db| store::runs::version_snapshot(db, &wanted)).await
}

async fn remembered(
    app: &App,
    name: String,
    read: impl Fn(&mut Db<'_>) -> Result<Option<Snapshot>, StoreError> + Send + 'static,
) -> Result<Arc<Snapshot>, AppError> {
    let known = || app.inner.snapshots.known.lock().unwrap_or_else(PoisonError::into_inner);
    let remembered = known().get(&name).cloned();
    if let Some(snapshot) = remembered {
        return Ok(snapshot);
    }
    let found = app.store().read(read).await?;
    let mut found = found.ok_or_else(|| AppError::Internal("what a run runs is gone".into()))?;
    write_old_defaults(&mut found);
    let snapshot = Arc::new(found);
    let mut known = known();
    if known.len() >= MOST_REMEMBERED {
        known.clear();
    }
    known.insert(name, Arc::clone(&snapshot));
    Ok(snapshot)
}

/// Configs as they were meant when the version was published: defaults that have changed since then are written out.
fn write_old_defaults(snapshot: &mut Snapshot) {
    let simulators = snapshot.environment.simulators.iter_mut();
    for simulator in simulators.filter(|simulator| simulator.r#type == SimulatorType::Hl7) {
        sims::hl7::config::keep_old_default(&mut simulator.config);
    }
}

pub(crate) fn task<'a>(snapshot: &'a Snapshot, id: &TaskId) -> Result<&'a FrozenTask, AppError> {
    let found = snapshot.tasks.iter().find(|task| task.id == *id);
    found.ok_or_else(|| AppError::Internal("a task of a run is gone".into()))
}

/// The task as `{{task.…}}` reads it.
pub(crate) fn task_value(task: &FrozenTask) -> Value {
    json!({"id": task.id, "name": task.name, "tags": task.tags, "task_item": task.task_item})
}

/// The entity as `{{entity.…}}` reads it.
pub(crate) fn entity_value(snapshot: &Snapshot, id: Option<&model::EntityId>) -> Option<Value> {
    let entity = snapshot.entities.iter().find(|entity| Some(&entity.id) == id)?;
    Some(json!({"name": entity.name, "ref": entity.r#ref, "data": entity.data}))
}

/// Which datasets lie below what was written, for the hash of a sealed state.
pub(crate) fn datasets_hash(snapshot: &Snapshot) -> String {
    let manifests = serde_json::to_value(snapshot.datasets.iter().map(|dataset| &dataset.manifest).collect::<Vec<_>>());
    canonical::sha256_hex(canonical::to_string(&manifests.unwrap_or_default()).as_bytes())
}
