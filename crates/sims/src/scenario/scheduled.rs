//! Deferred steps. They are stored as records of the world like any other, which makes them survive a crash and visible
//! to every node. No simulator exposes them.

use model::{SandboxId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use world::{Record, Sandbox, World};

use super::prepare::PreparedStep;
use super::step::DatasetFile;

/// Rows by the step's index: `{due_at, index, step, dataset_file?}`. Simulators keep their own deferred work in the same
/// collection, in rows without `step`.
pub(crate) const SCHEDULED: &str = "scheduled";

/// When the next deferred step becomes due, if there is one.
pub fn next_due(world: &World) -> Option<Timestamp> {
    pending(world).filter(|(_, record)| is_step(record)).filter_map(|(_, record)| due_at(&record)).min()
}

#[derive(Debug)]
pub(super) struct DeferredStep {
    pub(super) due_at: Timestamp,
    pub(super) key: String,
    pub(super) step: PreparedStep,
}

#[derive(Serialize, Deserialize)]
struct DeferredStepRow {
    due_at: Timestamp,
    index: usize,
    /// Includes `do`.
    step: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dataset_file: Option<DatasetFile>,
}

/// The deferred steps that are due, ordered by due time and index.
pub(super) fn due(world: &World, now: Timestamp) -> Vec<DeferredStep> {
    let due = pending(world).filter(|(_, record)| due_at(record).is_some_and(|due_at| due_at <= now));
    let mut due: Vec<DeferredStep> = due.filter_map(|(sandbox, record)| read(&sandbox.id, &record)).collect();
    due.sort_by_key(|deferred| (deferred.due_at, deferred.step.index));
    due
}

/// The key and the row of a step.
pub(super) fn row(step: &PreparedStep, due_at: Timestamp) -> (String, Value) {
    let mut members = Map::new();
    members.insert("do".to_owned(), step.name.as_str().into());
    members.extend(step.parameters.as_object().cloned().unwrap_or_default());
    let row =
        DeferredStepRow { due_at, index: step.index, step: Value::Object(members), dataset_file: step.file.clone() };
    (format!("{:06}", step.index), serde_json::to_value(row).unwrap_or_default())
}

/// The scheduled records of active sandboxes.
fn pending(world: &World) -> impl Iterator<Item = (&Sandbox, Record<'_>)> {
    let sandboxes = world.sandboxes.values().filter(|sandbox| sandbox.is_active);
    sandboxes.flat_map(|sandbox| sandbox.records.own(SCHEDULED).map(move |record| (sandbox, record)))
}

fn is_step(record: &Record<'_>) -> bool {
    record.json().get("step").is_some()
}

fn due_at(record: &Record<'_>) -> Option<Timestamp> {
    Timestamp::deserialize(record.json().get("due_at")?).ok()
}

fn read(sandbox: &SandboxId, record: &Record<'_>) -> Option<DeferredStep> {
    let DeferredStepRow { due_at, index, step, dataset_file } = DeferredStepRow::deserialize(&*record.json()).ok()?;
    let (name, parameters) = model::reading::split_tag(&step, "do").ok()?;
    let sandbox = sandbox.clone();
    let step = PreparedStep { index, name, sandbox, after_seconds: 0, parameters, file: dataset_file };
    Some(DeferredStep { due_at, key: record.key.to_owned(), step })
}
