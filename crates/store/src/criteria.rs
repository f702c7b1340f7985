//! Criteria.

use model::criterion::Criterion;
use model::page::{Page, PageRequest};
use model::{CriterionId, OrgId, TaskId};

use crate::paging::{Order, Paged};
use crate::value::{Row, bind, json_text, rows};
use crate::{Db, StoreError};

rows! {
    SELECT from "criteria where org_id = $1", read: Criterion {
        id: Row::parsed = "id",
        task_id: Row::parsed = "task_id",
        label: Row::text = "label",
        assertion: Row::json = "assertion",
        weight: Row::parsed = "weight",
        axis: Row::text_or_null = "axis",
        input_entity_id: Row::parsed_or_null = "input_entity_id",
        critical: Row::flag = "critical",
        public_label: Row::text_or_null = "public_label",
        warnings: Row::json = "warnings",
        created_at: Row::time = "created_at",
        updated_at: Row::time = "updated_at",
    } with { guard: false }
}

pub fn insert(db: &mut Db<'_>, org: &OrgId, criterion: &Criterion) -> Result<(), StoreError> {
    let sql = "insert into criteria (id, org_id, task_id, label, assertion, weight, axis, input_entity_id, critical,
        public_label, warnings, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    db.execute(
        sql,
        bind![
            &criterion.id,
            org,
            &criterion.task_id,
            &criterion.label,
            &criterion.assertion,
            criterion.weight.to_string(),
            &criterion.axis,
            criterion.input_entity_id.as_ref(),
            criterion.critical,
            &criterion.public_label,
            json_text(&criterion.warnings)?,
            criterion.created_at,
            criterion.updated_at
        ],
    )?;
    Ok(())
}

pub fn find(db: &mut Db<'_>, org: &OrgId, criterion: &CriterionId) -> Result<Option<Criterion>, StoreError> {
    db.query_one(&format!("{SELECT} and id = $2"), bind![org, criterion])?.map(|mut row| read(&mut row)).transpose()
}

pub fn list(
    db: &mut Db<'_>,
    org: &OrgId,
    task: Option<&TaskId>,
    page: &PageRequest,
) -> Result<Page<Criterion>, StoreError> {
    let select = format!("{SELECT} and ($2 = '' or task_id = $2)");
    let paged = Paged { select: &select, key: "id", order: Order::NewestFirst };
    let task = task.map(ToString::to_string).unwrap_or_default();
    paged.fetch(db, bind![org, task].to_vec(), page, read, |criterion| criterion.id.to_string())
}

/// In creation order.
pub fn of_task(db: &mut Db<'_>, org: &OrgId, task: &TaskId) -> Result<Vec<Criterion>, StoreError> {
    db.query(&format!("{SELECT} and task_id = $2 order by id"), bind![org, task])?.iter_mut().map(read).collect()
}

pub fn update(db: &mut Db<'_>, org: &OrgId, criterion: &Criterion) -> Result<(), StoreError> {
    let sql = "update criteria set label = $3, assertion = $4, weight = $5, axis = $6, input_entity_id = $7,
        critical = $8, public_label = $9, warnings = $10, updated_at = $11 where org_id = $1 and id = $2";
    db.execute(
        sql,
        bind![
            org,
            &criterion.id,
            &criterion.label,
            &criterion.assertion,
            criterion.weight.to_string(),
            &criterion.axis,
            criterion.input_entity_id.as_ref(),
            criterion.critical,
            &criterion.public_label,
            json_text(&criterion.warnings)?,
            criterion.updated_at
        ],
    )?;
    Ok(())
}

pub fn delete(db: &mut Db<'_>, org: &OrgId, criterion: &CriterionId) -> Result<(), StoreError> {
    db.execute("delete from criteria where org_id = $1 and id = $2", bind![org, criterion])?;
    Ok(())
}
