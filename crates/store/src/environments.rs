//! Environments and the simulators in them.

use model::environment::{Environment, SimulatorSummary};
use model::page::{Page, PageRequest};
use model::{EnvironmentId, OrgId, SimulatorId};

use crate::paging::{Order, Paged};
use crate::value::{Row, bind, rows};
use crate::{Db, StoreError};

rows! {
    SELECT from "environments where org_id = $1", read: Environment {
        id: Row::parsed = "id",
        name: Row::text = "name",
        description: Row::text_or_null = "description",
        created_at: Row::time = "created_at",
        updated_at: Row::time = "updated_at",
    } with { simulators: Vec::new() }
}

pub fn insert(db: &mut Db<'_>, org: &OrgId, environment: &Environment) -> Result<(), StoreError> {
    let sql = "insert into environments (id, org_id, name, description, created_at, updated_at) values ($1, $2, $3, $4, $5, $6)";
    let Environment { id, name, description, created_at, updated_at, .. } = environment;
    db.execute(sql, bind![id, org, name, description, *created_at, *updated_at])?;
    Ok(())
}

pub fn find(db: &mut Db<'_>, org: &OrgId, environment: &EnvironmentId) -> Result<Option<Environment>, StoreError> {
    let Some(mut row) = db.query_one(&format!("{SELECT} and id = $2"), bind![org, environment])? else {
        return Ok(None);
    };
    let mut environment = read(&mut row)?;
    environment.simulators = simulators(db, org, &environment.id)?;
    Ok(Some(environment))
}

pub fn list(db: &mut Db<'_>, org: &OrgId, page: &PageRequest) -> Result<Page<Environment>, StoreError> {
    let paged = Paged { select: SELECT, key: "id", order: Order::NewestFirst };
    let mut page = paged.fetch(db, bind![org].to_vec(), page, read, |environment| environment.id.to_string())?;
    for environment in &mut page.items {
        environment.simulators = simulators(db, org, &environment.id)?;
    }
    Ok(page)
}

/// In the order in which they were attached.
fn simulators(db: &mut Db<'_>, org: &OrgId, environment: &EnvironmentId) -> Result<Vec<SimulatorSummary>, StoreError> {
    let sql = "select s.id, s.type, s.name from environment_simulators es join simulators s on s.id = es.simulator_id
        where s.org_id = $1 and es.environment_id = $2 order by es.position, s.id";
    let read = |row: &mut Row| Ok(SimulatorSummary { id: row.parsed()?, r#type: row.parsed()?, name: row.text()? });
    db.query(sql, bind![org, environment])?.iter_mut().map(read).collect()
}

pub fn update(db: &mut Db<'_>, org: &OrgId, environment: &Environment) -> Result<(), StoreError> {
    let sql = "update environments set name = $3, description = $4, updated_at = $5 where org_id = $1 and id = $2";
    db.execute(sql, bind![org, &environment.id, &environment.name, &environment.description, environment.updated_at])?;
    Ok(())
}

pub fn delete(db: &mut Db<'_>, org: &OrgId, environment: &EnvironmentId) -> Result<(), StoreError> {
    db.execute("delete from environment_simulators where environment_id = $1", bind![environment])?;
    db.execute("delete from environments where org_id = $1 and id = $2", bind![org, environment])?;
    Ok(())
}

/// Attaching it again changes nothing.
pub fn attach(db: &mut Db<'_>, environment: &EnvironmentId, simulator: &SimulatorId) -> Result<(), StoreError> {
    let sql = "insert into environment_simulators (environment_id, simulator_id, position)
        select $1, $2, coalesce(max(position), 0) + 1 from environment_simulators where environment_id = $1
        on conflict (environment_id, simulator_id) do nothing";
    db.execute(sql, bind![environment, simulator])?;
    Ok(())
}

/// False if it was not attached.
pub fn detach(db: &mut Db<'_>, environment: &EnvironmentId, simulator: &SimulatorId) -> Result<bool, StoreError> {
    let sql = "delete from environment_simulators where environment_id = $1 and simulator_id = $2";
    Ok(db.execute(sql, bind![environment, simulator])? > 0)
}

/// An environment that the simulator is in, if any.
pub fn with_simulator(db: &mut Db<'_>, simulator: &SimulatorId) -> Result<Option<EnvironmentId>, StoreError> {
    let sql =
        "select environment_id from environment_simulators where simulator_id = $1 order by environment_id limit 1";
    db.query_one(sql, bind![simulator])?.map(|mut row| row.parsed()).transpose()
}
