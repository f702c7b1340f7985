//! Tasks.

use model::page::{Page, PageRequest};
use model::task::Task;
use model::{BenchmarkId, OrgId, TaskId};

use crate::criteria;
use crate::paging::{Order, Paged};
use crate::value::{Row, bind, json_text, rows};
use crate::{Db, StoreError};

rows! {
    SELECT from "tasks where org_id = $1", read: Task {
        id: Row::parsed = "id",
        benchmark_id: Row::parsed = "benchmark_id",
        name: Row::text = "name",
        timeout: Row::integer_or_null = "timeout",
        tags: Row::json = "tags",
        task_item: Row::json = "task_item",
        scenario: Row::json = "scenario",
        created_at: Row::time = "created_at",
        updated_at: Row::time = "updated_at",
    } with { criteria: Vec::new() }
}

pub fn insert(db: &mut Db<'_>, org: &OrgId, task: &Task) -> Result<(), StoreError> {
    let sql =
        "insert into tasks (id, org_id, benchmark_id, name, timeout, tags, task_item, scenario, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    db.execute(
        sql,
        bind![
            &task.id,
            org,
            &task.benchmark_id,
            &task.name,
            task.timeout,
            json_text(&task.tags)?,
            &task.task_item,
            &task.scenario,
            task.created_at,
            task.updated_at
        ],
    )?;
    Ok(())
}

/// With its criteria.
pub fn find(db: &mut Db<'_>, org: &OrgId, task: &TaskId) -> Result<Option<Task>, StoreError> {
    let Some(mut row) = db.query_one(&format!("{SELECT} and id = $2"), bind![org, task])? else {
        return Ok(None);
    };
    let mut task = read(&mut row)?;
    task.criteria = criteria::of_task(db, org, &task.id)?;
    Ok(Some(task))
}

pub fn list(
    db: &mut Db<'_>,
    org: &OrgId,
    benchmark: Option<&BenchmarkId>,
    page: &PageRequest,
) -> Result<Page<Task>, StoreError> {
    let select = format!("{SELECT} and ($2 = '' or benchmark_id = $2)");
    let paged = Paged { select: &select, key: "id", order: Order::NewestFirst };
    let benchmark = benchmark.map(ToString::to_string).unwrap_or_default();
    let mut page = paged.fetch(db, bind![org, benchmark].to_vec(), page, read, |task| task.id.to_string())?;
    for task in &mut page.items {
        task.criteria = criteria::of_task(db, org, &task.id)?;
    }
    Ok(page)
}

/// All tasks of a benchmark in creation order, with their criteria.
pub fn of_benchmark(db: &mut Db<'_>, org: &OrgId, benchmark: &BenchmarkId) -> Result<Vec<Task>, StoreError> {
    let rows = db.query(&format!("{SELECT} and benchmark_id = $2 order by id"), bind![org, benchmark])?;
    let mut tasks = rows.into_iter().map(|mut row| read(&mut row)).collect::<Result<Vec<_>, _>>()?;
    for task in &mut tasks {
        task.criteria = criteria::of_task(db, org, &task.id)?;
    }
    Ok(tasks)
}

pub fn update(db: &mut Db<'_>, org: &OrgId, task: &Task) -> Result<(), StoreError> {
    let sql = "update tasks set name = $3, timeout = $4, tags = $5, task_item = $6, scenario = $7, updated_at = $8
        where org_id = $1 and id = $2";
    db.execute(
        sql,
        bind![
            org,
            &task.id,
            &task.name,
            task.timeout,
            json_text(&task.tags)?,
            &task.task_item,
            &task.scenario,
            task.updated_at
        ],
    )?;
    Ok(())
}

/// With its criteria.
pub fn delete(db: &mut Db<'_>, org: &OrgId, task: &TaskId) -> Result<(), StoreError> {
    db.execute("delete from criteria where org_id = $1 and task_id = $2", bind![org, task])?;
    db.execute("delete from task_entities where task_id = $1", bind![task])?;
    db.execute("delete from tasks where org_id = $1 and id = $2", bind![org, task])?;
    Ok(())
}
