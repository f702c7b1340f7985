//! Dataset entities, and the tasks that they are bound to.

use model::dataset::DatasetEntity;
use model::page::{Page, PageRequest};
use model::{CriterionId, DatasetId, EntityId, OrgId, TaskId};

use crate::paging::{Order, Paged};
use crate::value::{Row, bind, rows};
use crate::{Db, StoreError};

rows! {
    COLUMNS, read: DatasetEntity {
        id: Row::parsed = "e.id",
        dataset_id: Row::parsed = "e.dataset_id",
        name: Row::text = "e.name",
        r#ref: Row::text_or_null = "e.ref",
        data: Row::json = "e.data",
        created_at: Row::time = "e.created_at",
        updated_at: Row::time = "e.updated_at",
    }
}

pub fn insert(db: &mut Db<'_>, org: &OrgId, entity: &DatasetEntity) -> Result<(), StoreError> {
    let sql = "insert into dataset_entities (id, org_id, dataset_id, name, ref, data, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)";
    let DatasetEntity { id, dataset_id, name, r#ref, data, created_at, updated_at } = entity;
    db.execute(sql, bind![id, org, dataset_id, name, r#ref, data, *created_at, *updated_at])?;
    Ok(())
}

pub fn find(db: &mut Db<'_>, org: &OrgId, entity: &EntityId) -> Result<Option<DatasetEntity>, StoreError> {
    let sql = format!("select {COLUMNS} from dataset_entities e where e.org_id = $1 and e.id = $2");
    db.query_one(&sql, bind![org, entity])?.map(|mut row| read(&mut row)).transpose()
}

pub fn list(
    db: &mut Db<'_>,
    org: &OrgId,
    dataset: &DatasetId,
    page: &PageRequest,
) -> Result<Page<DatasetEntity>, StoreError> {
    let select = format!("select {COLUMNS} from dataset_entities e where e.org_id = $1 and e.dataset_id = $2");
    let paged = Paged { select: &select, key: "e.id", order: Order::NewestFirst };
    paged.fetch(db, bind![org, dataset].to_vec(), page, read, |entity| entity.id.to_string())
}

pub fn update(db: &mut Db<'_>, org: &OrgId, entity: &DatasetEntity) -> Result<(), StoreError> {
    let sql =
        "update dataset_entities set name = $3, ref = $4, data = $5, updated_at = $6 where org_id = $1 and id = $2";
    db.execute(sql, bind![org, &entity.id, &entity.name, &entity.r#ref, &entity.data, entity.updated_at])?;
    Ok(())
}

pub fn delete(db: &mut Db<'_>, org: &OrgId, entity: &EntityId) -> Result<(), StoreError> {
    db.execute("delete from dataset_entities where org_id = $1 and id = $2", bind![org, entity])?;
    Ok(())
}

/// The entities of a task, in the order in which they were bound.
pub fn of_task(db: &mut Db<'_>, org: &OrgId, task: &TaskId) -> Result<Vec<DatasetEntity>, StoreError> {
    let sql = format!(
        "select {COLUMNS} from task_entities te join dataset_entities e on e.id = te.entity_id
        where e.org_id = $1 and te.task_id = $2 order by te.position, e.id"
    );
    db.query(&sql, bind![org, task])?.iter_mut().map(read).collect()
}

/// A page of the entities of a task, in the order in which they were bound.
pub fn list_of_task(
    db: &mut Db<'_>,
    org: &OrgId,
    task: &TaskId,
    page: &PageRequest,
) -> Result<Page<DatasetEntity>, StoreError> {
    let select = format!(
        "select te.position, {COLUMNS} from task_entities te join dataset_entities e on e.id = te.entity_id
        where e.org_id = $1 and te.task_id = $2"
    );
    let paged = Paged { select: &select, key: "te.position", order: Order::LowestFirst };
    let read_bound = |row: &mut Row| Ok((row.integer()?, read(row)?));
    let page = paged.fetch(db, bind![org, task].to_vec(), page, read_bound, |(position, _)| position.to_string())?;
    Ok(page.map(|(_, entity)| entity))
}

/// Binding it again changes nothing.
pub fn bind_to_task(db: &mut Db<'_>, task: &TaskId, entity: &EntityId) -> Result<(), StoreError> {
    let sql = "insert into task_entities (task_id, entity_id, position)
        select $1, $2, coalesce(max(position), 0) + 1 from task_entities where task_id = $1
        on conflict (task_id, entity_id) do nothing";
    db.execute(sql, bind![task, entity])?;
    Ok(())
}

/// False if it was not bound.
pub fn unbind_from_task(db: &mut Db<'_>, task: &TaskId, entity: &EntityId) -> Result<bool, StoreError> {
    Ok(db.execute("delete from task_entities where task_id = $1 and entity_id = $2", bind![task, entity])? > 0)
}

/// A task that uses any of the dataset's entities, or this one.
pub fn used_by_task(
    db: &mut Db<'_>,
    dataset: &DatasetId,
    entity: Option<&EntityId>,
) -> Result<Option<TaskId>, StoreError> {
    let sql = "select te.task_id from task_entities te join dataset_entities e on e.id = te.entity_id
        where e.dataset_id = $1 and ($2 = '' or e.id = $2) order by te.task_id limit 1";
    let entity = entity.map(ToString::to_string).unwrap_or_default();
    db.query_one(sql, bind![dataset, entity])?.map(|mut row| row.parsed()).transpose()
}

/// A criterion that uses any of the dataset's entities, or this one.
pub fn used_by_criterion(
    db: &mut Db<'_>,
    dataset: &DatasetId,
    entity: Option<&EntityId>,
) -> Result<Option<CriterionId>, StoreError> {
    let sql = "select c.id from criteria c join dataset_entities e on e.id = c.input_entity_id
        where e.dataset_id = $1 and ($2 = '' or e.id = $2) order by c.id limit 1";
    let entity = entity.map(ToString::to_string).unwrap_or_default();
    db.query_one(sql, bind![dataset, entity])?.map(|mut row| row.parsed()).transpose()
}
