//! Solvers.

use model::identity::Solver;
use model::page::{Page, PageRequest};
use model::{OrgId, SolverId};

use crate::paging::{Order, Paged};
use crate::value::{Row, bind, rows};
use crate::{Db, StoreError};

rows! {
    SELECT from "solvers where org_id = $1", read: Solver {
        id: Row::parsed = "id",
        alias: Row::text = "alias",
        real_name: Row::text_or_null = "real_name",
        agent_description: Row::text_or_null = "agent_description",
        agent_version: Row::text_or_null = "agent_version",
        contact_email: Row::text_or_null = "contact_email",
        created_at: Row::time = "created_at",
        updated_at: Row::time = "updated_at",
    }
}

pub fn insert(db: &mut Db<'_>, org: &OrgId, solver: &Solver) -> Result<(), StoreError> {
    let sql = "insert into solvers (id, org_id, alias, real_name, agent_description, agent_version, contact_email, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    db.execute(
        sql,
        bind![
            &solver.id,
            org,
            &solver.alias,
            &solver.real_name,
            &solver.agent_description,
            &solver.agent_version,
            &solver.contact_email,
            solver.created_at,
            solver.updated_at
        ],
    )?;
    Ok(())
}

pub fn find(db: &mut Db<'_>, org: &OrgId, solver: &SolverId) -> Result<Option<Solver>, StoreError> {
    db.query_one(&format!("{SELECT} and id = $2"), bind![org, solver])?.map(|mut row| read(&mut row)).transpose()
}

pub fn list(db: &mut Db<'_>, org: &OrgId, page: &PageRequest) -> Result<Page<Solver>, StoreError> {
    let paged = Paged { select: SELECT, key: "id", order: Order::NewestFirst };
    paged.fetch(db, bind![org].to_vec(), page, read, |solver| solver.id.to_string())
}

pub fn update(db: &mut Db<'_>, org: &OrgId, solver: &Solver) -> Result<(), StoreError> {
    let sql = "update solvers set alias = $3, real_name = $4, agent_description = $5, agent_version = $6, contact_email = $7, updated_at = $8
        where org_id = $1 and id = $2";
    db.execute(
        sql,
        bind![
            org,
            &solver.id,
            &solver.alias,
            &solver.real_name,
            &solver.agent_description,
            &solver.agent_version,
            &solver.contact_email,
            solver.updated_at
        ],
    )?;
    Ok(())
}

pub fn delete(db: &mut Db<'_>, org: &OrgId, solver: &SolverId) -> Result<(), StoreError> {
    db.execute("delete from solvers where org_id = $1 and id = $2", bind![org, solver])?;
    Ok(())
}
