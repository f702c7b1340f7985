//! Sandboxes: their simulator, their data, and the secret from which their credentials are derived.

use model::page::{Page, PageRequest};
use model::playground::SandboxDataset;
use model::simulator::SimulatorType;
use model::{DatasetId, OrgId, PlaygroundId, SandboxId, SimulatorId, Timestamp};

use crate::paging::{Order, Paged};
use crate::value::{Row, Value, bind, insert_many, json_text, rows};
use crate::{Db, StoreError};

/// The stored form of a sandbox.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSandbox {
    pub id: SandboxId,
    pub org: OrgId,
    pub playground: PlaygroundId,
    pub simulator: SimulatorId,
    pub kind: SimulatorType,
    pub name: String,
    pub config: serde_json::Value,
    pub datasets: Vec<SandboxDataset>,
    pub secret: String,
    pub created_at: Timestamp,
    pub torn_down_at: Option<Timestamp>,
    /// Whether it was created without a playground, and has a playground of its own.
    pub is_standalone: bool,
    /// When datasets were last attached or detached.
    pub reshaped_at: Option<Timestamp>,
    /// Whether its task run is not started. Until then, `config` contains only what credentials need.
    pub is_provisioned: bool,
}

rows! {
    SELECT from "sandboxes", read: StoredSandbox {
        id: Row::parsed = "id",
        org: Row::parsed = "org_id",
        playground: Row::parsed = "playground_id",
        simulator: Row::parsed = "simulator_id",
        kind: Row::parsed = "type",
        name: Row::text = "name",
        config: Row::json = "config",
        datasets: Row::json = "datasets",
        secret: Row::text = "secret",
        created_at: Row::time = "created_at",
        torn_down_at: Row::time_or_null = "torn_down_at",
        is_standalone: Row::flag = "standalone",
        reshaped_at: Row::time_or_null = "reshaped_at",
        // A count of 0 or 1.
        is_provisioned: Row::flag = "(select count(*) from playgrounds p where p.id = sandboxes.playground_id
            and p.task_run_id is not null and p.ends_at is null)",
    }
}

pub fn insert(db: &mut Db<'_>, sandbox: &StoredSandbox) -> Result<(), StoreError> {
    insert_all(db, std::slice::from_ref(sandbox))
}

pub fn insert_all(db: &mut Db<'_>, sandboxes: &[StoredSandbox]) -> Result<(), StoreError> {
    let rows = sandboxes.iter().map(values).collect::<Result<Vec<_>, _>>()?;
    let columns =
        "id, org_id, playground_id, simulator_id, type, name, config, datasets, secret, created_at, torn_down_at,
        standalone, reshaped_at";
    insert_many(db, "sandboxes", columns, &rows)
}

fn values(sandbox: &StoredSandbox) -> Result<Vec<Value<'_>>, StoreError> {
    let StoredSandbox { id, org, playground, simulator, kind, name, config, datasets, secret, .. } = sandbox;
    let (created_at, torn_down_at) = (sandbox.created_at, sandbox.torn_down_at);
    let (standalone, reshaped_at) = (i64::from(sandbox.is_standalone), sandbox.reshaped_at);
    let datasets = json_text(datasets)?;
    let bound = bind![
        id,
        org,
        playground,
        simulator,
        kind.name(),
        name,
        config,
        datasets,
        secret,
        created_at,
        torn_down_at,
        standalone,
        reshaped_at
    ];
    Ok(bound.to_vec())
}

/// Writes the complete config of a provisioned sandbox.
pub fn open(db: &mut Db<'_>, sandbox: &StoredSandbox) -> Result<(), StoreError> {
    db.execute("update sandboxes set config = $2 where id = $1", bind![&sandbox.id, &sandbox.config])?;
    Ok(())
}

pub fn find(db: &mut Db<'_>, org: &OrgId, id: &SandboxId) -> Result<Option<StoredSandbox>, StoreError> {
    let sql = format!("{SELECT} where org_id = $1 and id = $2");
    db.query_one(&sql, bind![org, id])?.map(|mut row| read(&mut row)).transpose()
}

/// Not scoped by organization: for a caller who presents the sandbox's own credential.
pub fn find_any(db: &mut Db<'_>, id: &SandboxId) -> Result<Option<StoredSandbox>, StoreError> {
    let sql = format!("{SELECT} where id = $1");
    db.query_one(&sql, bind![id])?.map(|mut row| read(&mut row)).transpose()
}

/// All sandboxes of the organization, or those of one playground.
pub fn list(
    db: &mut Db<'_>,
    org: &OrgId,
    playground: Option<&PlaygroundId>,
    page: &PageRequest,
) -> Result<Page<StoredSandbox>, StoreError> {
    let mut select = format!("{SELECT} where org_id = $1");
    let mut parameters = bind![org].to_vec();
    if let Some(playground) = playground {
        select += " and playground_id = $2";
        parameters.push(Value::from(playground.to_string()));
    }
    let paged = Paged { select: &select, key: "id", order: Order::NewestFirst };
    paged.fetch(db, parameters, page, read, |sandbox| sandbox.id.to_string())
}

/// In creation order.
pub fn of_playground(db: &mut Db<'_>, playground: &PlaygroundId) -> Result<Vec<StoredSandbox>, StoreError> {
    let sql = format!("{SELECT} where playground_id = $1 order by id");
    db.query(&sql, bind![playground])?.iter_mut().map(read).collect()
}

pub fn set_datasets(
    db: &mut Db<'_>,
    id: &SandboxId,
    datasets: &[SandboxDataset],
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = "update sandboxes set datasets = $2, reshaped_at = $3 where id = $1";
    db.execute(sql, bind![id, json_text(&datasets)?, now])?;
    Ok(())
}

pub fn tear_down(db: &mut Db<'_>, id: &SandboxId, now: Timestamp) -> Result<(), StoreError> {
    let sql = "update sandboxes set torn_down_at = $2 where id = $1 and torn_down_at is null";
    db.execute(sql, bind![id, now])?;
    Ok(())
}

/// A stored revision of a dataset: its content hash and its manifest. Not scoped by organization: a sandbox may belong to a
/// run of another organization's published version.
pub fn revision(
    db: &mut Db<'_>,
    dataset: &DatasetId,
    revision: i64,
) -> Result<Option<(String, model::dataset::Manifest)>, StoreError> {
    let sql = "select content_hash, manifest from checkpoints where dataset_id = $1 and revision = $2";
    let found = db.query_one(sql, bind![dataset, revision])?;
    found.map(|mut row| Ok((row.text()?, row.json()?))).transpose()
}
