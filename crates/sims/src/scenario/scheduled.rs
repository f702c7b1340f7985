//! Steps that are put by until they are due. They are records of the world like any other, so that they survive a crash
//! and every node knows them; no simulator shows them.

use model::{SandboxId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use world::{Record, Sandbox, World};

use super::prepare::Prepared;
use super::step::DatasetFile;

/// Rows by the step's number: `{due_at, index, step, dataset_file?}`.
pub(crate) const SCHEDULED: &str = "scheduled";

/// When the next step that was put by becomes due, if there is one.
pub fn next_due(world: &World) -> Option<Timestamp> {
    waiting(world).filter(|(_, record)| is_step(record)).filter_map(|(_, record)| due_at(&record)).min()
}

/// A step that was put by.
#[derive(Debug)]
pub(super) struct PutBy {
    pub(super) due_at: Timestamp,
    pub(super) key: String,
    pub(super) step: Prepared,
}

#[derive(Serialize, Deserialize)]
struct Row {
    due_at: Timestamp,
    index: usize,
    /// With its `do`.
    step: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dataset_file: Option<DatasetFile>,
}

/// Those that are due, by time and number.
pub(super) fn due(world: &World, now: Timestamp) -> Vec<PutBy> {
    let due = waiting(world).filter(|(_, record)| due_at(record).is_some_and(|due_at| due_at <= now));
    let mut due: Vec<PutBy> = due.filter_map(|(sandbox, record)| read(&sandbox.id, &record)).collect();
    due.sort_by_key(|put_by| (put_by.due_at, put_by.step.index));
    due
}

/// The key and the row of a step.
pub(super) fn row(step: &Prepared, due_at: Timestamp) -> (String, Value) {
    let mut members = Map::new();
    members.insert("do".to_owned(), step.name.as_str().into());
    members.extend(step.parameters.as_object().cloned().unwrap_or_default());
    let row = Row { due_at, index: step.index, step: Value::Object(members), dataset_file: step.file.clone() };
    (format!("{:06}", step.index), serde_json::to_value(row).unwrap_or_default())
}

/// What waits in sandboxes that take traffic.
fn waiting(world: &World) -> impl Iterator<Item = (&Sandbox, Record<'_>)> {
    let sandboxes = world.sandboxes.values().filter(|sandbox| sandbox.is_active);
    sandboxes.flat_map(|sandbox| sandbox.records.own(SCHEDULED).map(move |record| (sandbox, record)))
}

/// A simulator may keep here what it has put off itself.
fn is_step(record: &Record<'_>) -> bool {
    record.json().get("step").is_some()
}

fn due_at(record: &Record<'_>) -> Option<Timestamp> {
    Timestamp::deserialize(record.json().get("due_at")?).ok()
}

fn read(sandbox: &SandboxId, record: &Record<'_>) -> Option<PutBy> {
    let Row { due_at, index, step, dataset_file } = Row::deserialize(&*record.json()).ok()?;
    let (name, parameters) = model::reading::split_tag(&step, "do").ok()?;
    let sandbox = sandbox.clone();
    let step = Prepared { index, name, sandbox, after_seconds: 0, parameters, file: dataset_file };
    Some(PutBy { due_at, key: record.key.to_owned(), step })
}
