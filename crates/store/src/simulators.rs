//! Simulators and the datasets attached to them.

use model::page::{Page, PageRequest};
use model::simulator::Simulator;
use model::{DatasetId, OrgId, SimulatorId};

use crate::paging::{Order, Paged};
use crate::value::{Row, bind, rows};
use crate::{Db, StoreError};

rows! {
    SELECT from "simulators where org_id = $1", read: Simulator {
        id: Row::parsed = "id",
        r#type: Row::parsed = "type",
        name: Row::text = "name",
        config: Row::json = "config",
        created_at: Row::time = "created_at",
        updated_at: Row::time = "updated_at",
    } with { datasets: Vec::new() }
}

pub fn insert(db: &mut Db<'_>, org: &OrgId, simulator: &Simulator) -> Result<(), StoreError> {
    let sql = "insert into simulators (id, org_id, type, name, config, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7)";
    let Simulator { id, r#type, name, config, created_at, updated_at, .. } = simulator;
    db.execute(sql, bind![id, org, r#type.name(), name, config, *created_at, *updated_at])?;
    Ok(())
}

pub fn find(db: &mut Db<'_>, org: &OrgId, simulator: &SimulatorId) -> Result<Option<Simulator>, StoreError> {
    let Some(mut row) = db.query_one(&format!("{SELECT} and id = $2"), bind![org, simulator])? else {
        return Ok(None);
    };
    let mut simulator = read(&mut row)?;
    simulator.datasets = datasets(db, &simulator.id)?;
    Ok(Some(simulator))
}

pub fn list(db: &mut Db<'_>, org: &OrgId, page: &PageRequest) -> Result<Page<Simulator>, StoreError> {
    let paged = Paged { select: SELECT, key: "id", order: Order::NewestFirst };
    let mut page = paged.fetch(db, bind![org].to_vec(), page, read, |simulator| simulator.id.to_string())?;
    for simulator in &mut page.items {
        simulator.datasets = datasets(db, &simulator.id)?;
    }
    Ok(page)
}

fn datasets(db: &mut Db<'_>, simulator: &SimulatorId) -> Result<Vec<DatasetId>, StoreError> {
    let sql = "select dataset_id from simulator_datasets where simulator_id = $1 order by position, dataset_id";
    db.query(sql, bind![simulator])?.iter_mut().map(Row::parsed).collect()
}

pub fn update(db: &mut Db<'_>, org: &OrgId, simulator: &Simulator) -> Result<(), StoreError> {
    let sql = "update simulators set name = $3, config = $4, updated_at = $5 where org_id = $1 and id = $2";
    db.execute(sql, bind![org, &simulator.id, &simulator.name, &simulator.config, simulator.updated_at])?;
    Ok(())
}

pub fn delete(db: &mut Db<'_>, org: &OrgId, simulator: &SimulatorId) -> Result<(), StoreError> {
    db.execute("delete from simulator_datasets where simulator_id = $1", bind![simulator])?;
    db.execute("delete from simulators where org_id = $1 and id = $2", bind![org, simulator])?;
    Ok(())
}

/// Attaching it again changes nothing.
pub fn attach(db: &mut Db<'_>, simulator: &SimulatorId, dataset: &DatasetId) -> Result<(), StoreError> {
    let sql = "insert into simulator_datasets (simulator_id, dataset_id, position)
        select $1, $2, coalesce(max(position), 0) + 1 from simulator_datasets where simulator_id = $1
        on conflict (simulator_id, dataset_id) do nothing";
    db.execute(sql, bind![simulator, dataset])?;
    Ok(())
}

/// False if it was not attached.
pub fn detach(db: &mut Db<'_>, simulator: &SimulatorId, dataset: &DatasetId) -> Result<bool, StoreError> {
    let sql = "delete from simulator_datasets where simulator_id = $1 and dataset_id = $2";
    Ok(db.execute(sql, bind![simulator, dataset])? > 0)
}

/// A simulator that the dataset is attached to, if any.
pub fn with_dataset(db: &mut Db<'_>, dataset: &DatasetId) -> Result<Option<SimulatorId>, StoreError> {
    let sql = "select simulator_id from simulator_datasets where dataset_id = $1 order by simulator_id limit 1";
    db.query_one(sql, bind![dataset])?.map(|mut row| row.parsed()).transpose()
}
