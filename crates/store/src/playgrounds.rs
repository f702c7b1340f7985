//! Playgrounds: their owner and the positions of their log.

use model::page::{Page, PageRequest};
use model::playground::{Playground, Status};
use model::{EnvironmentId, OrgId, PlaygroundId, TaskRunId, Timestamp};

use crate::paging::{Order, Paged};
use crate::value::{Row, bind, insert_many};
use crate::{Db, StoreError};

const SELECT: &str = "select id, org_id, environment_id, task_run_id, created_at, reset_at, torn_down_at, ends_at from playgrounds where org_id = $1";

/// The positions of a playground's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The last entry.
    pub head: i64,
    /// The entry after which the state is folded.
    pub baseline: i64,
    /// The entry at which sandboxes or their datasets last changed.
    pub shape: i64,
    pub torn_down_at: Option<Timestamp>,
    /// The deadline of its task run. It takes no traffic afterwards.
    pub ends_at: Option<Timestamp>,
    /// Whether it was provisioned for a task run that is not started. Then it takes no traffic.
    pub is_provisioned: bool,
}

pub fn insert(
    db: &mut Db<'_>,
    org: &OrgId,
    id: &PlaygroundId,
    environment: Option<&EnvironmentId>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = "insert into playgrounds (id, org_id, environment_id, head, baseline, shape, created_at) values ($1, $2, $3, 0, 0, 0, $4)";
    db.execute(sql, bind![id, org, environment, now])?;
    Ok(())
}

/// A playground that waits for the start of its task run.
#[derive(Clone, Copy, Debug)]
pub struct Provisioned<'a> {
    pub id: &'a PlaygroundId,
    pub task_run: &'a TaskRunId,
}

/// Inserts playgrounds for the task runs of one run. They take no traffic until they are opened.
pub fn provision(
    db: &mut Db<'_>,
    org: &OrgId,
    environment: &EnvironmentId,
    provisioned: &[Provisioned<'_>],
    now: Timestamp,
) -> Result<(), StoreError> {
    let row = |one: &Provisioned<'_>| {
        let Provisioned { id, task_run } = *one;
        bind![id.to_string(), org, environment, task_run.to_string(), 0_i64, 0_i64, 0_i64, now].to_vec()
    };
    let rows: Vec<_> = provisioned.iter().map(row).collect();
    let columns = "id, org_id, environment_id, task_run_id, head, baseline, shape, created_at";
    insert_many(db, "playgrounds", columns, &rows)
}

/// Lets a provisioned playground take traffic until its deadline. False if it has ended, was opened before, or has a log.
pub fn open(db: &mut Db<'_>, id: &PlaygroundId, ends_at: Timestamp) -> Result<bool, StoreError> {
    let sql =
        "update playgrounds set ends_at = $2 where id = $1 and ends_at is null and torn_down_at is null and head = 0";
    Ok(db.execute(sql, bind![id, ends_at])? == 1)
}

/// When the task run of a playground was started; none if it has no task run, or a task run that is not started.
pub fn started_at(db: &mut Db<'_>, id: &PlaygroundId) -> Result<Option<Timestamp>, StoreError> {
    let sql = "select t.started_at from playgrounds p join task_runs t on t.id = p.task_run_id where p.id = $1";
    Ok(db.query_one(sql, bind![id])?.map(|mut row| row.time_or_null()).transpose()?.flatten())
}

/// Without its sandboxes.
pub fn find(db: &mut Db<'_>, org: &OrgId, id: &PlaygroundId) -> Result<Option<Playground>, StoreError> {
    db.query_one(&format!("{SELECT} and id = $2"), bind![org, id])?.map(|mut row| read(&mut row)).transpose()
}

/// Without their sandboxes.
pub fn list(db: &mut Db<'_>, org: &OrgId, page: &PageRequest) -> Result<Page<Playground>, StoreError> {
    let paged = Paged { select: SELECT, key: "id", order: Order::NewestFirst };
    paged.fetch(db, bind![org].to_vec(), page, read, |playground| playground.id.to_string())
}

/// Not scoped by organization: the caller has found the playground under its own organization.
pub fn progress(db: &mut Db<'_>, id: &PlaygroundId) -> Result<Option<Progress>, StoreError> {
    let sql = "select head, baseline, shape, torn_down_at, ends_at, task_run_id from playgrounds where id = $1";
    let found = db.query_one(sql, bind![id])?;
    let read = |mut row: Row| {
        let (head, baseline, shape) = (row.integer()?, row.integer()?, row.integer()?);
        let (torn_down_at, ends_at) = (row.time_or_null()?, row.time_or_null()?);
        let is_provisioned = row.text_or_null()?.is_some() && ends_at.is_none();
        Ok(Progress { head, baseline, shape, torn_down_at, ends_at, is_provisioned })
    };
    found.map(read).transpose()
}

/// Reserves the entries up to `head`, if the log ends at `expected` and the playground is active.
pub fn advance(db: &mut Db<'_>, id: &PlaygroundId, expected: i64, head: i64) -> Result<bool, StoreError> {
    let sql = "update playgrounds set head = $3 where id = $1 and head = $2 and torn_down_at is null";
    Ok(db.execute(sql, bind![id, expected, head])? == 1)
}

/// Reserves one entry for a change of the sandboxes and returns its position; none if the playground has ended.
pub fn reshape(db: &mut Db<'_>, id: &PlaygroundId) -> Result<Option<i64>, StoreError> {
    let sql = "update playgrounds set head = head + 1, shape = head + 1 where id = $1 and torn_down_at is null returning head";
    db.query_one(sql, bind![id])?.map(|mut row| row.integer()).transpose()
}

/// Resets to the baseline. Returns the position of the reset; none if the playground has ended.
pub fn reset(db: &mut Db<'_>, id: &PlaygroundId, now: Timestamp) -> Result<Option<i64>, StoreError> {
    let sql = "update playgrounds set head = head + 1, baseline = head + 1, reset_at = $2
        where id = $1 and torn_down_at is null returning head";
    db.query_one(sql, bind![id, now])?.map(|mut row| row.integer()).transpose()
}

/// Ends the playground and all of its sandboxes, and returns the last position of its log. Ending it again changes nothing.
pub fn tear_down(db: &mut Db<'_>, id: &PlaygroundId, now: Timestamp) -> Result<i64, StoreError> {
    let sql = "update sandboxes set torn_down_at = $2 where playground_id = $1 and torn_down_at is null";
    db.execute(sql, bind![id, now])?;
    let sql = "update playgrounds set torn_down_at = $2, shape = head where id = $1 and torn_down_at is null";
    db.execute(sql, bind![id, now])?;
    let head = db.query_one("select head from playgrounds where id = $1", bind![id])?;
    head.map_or(Ok(0), |mut row| row.integer())
}

fn read(row: &mut Row) -> Result<Playground, StoreError> {
    let (id, organization_id) = (row.parsed()?, row.parsed()?);
    let (environment_id, task_run_id): (_, Option<TaskRunId>) = (row.parsed_or_null()?, row.parsed_or_null()?);
    let (created_at, reset_at, torn_down_at) = (row.time()?, row.time_or_null()?, row.time_or_null()?);
    let is_provisioned = task_run_id.is_some() && row.time_or_null()?.is_none();
    let status = Status::of(torn_down_at, is_provisioned);
    Ok(Playground {
        id,
        organization_id,
        environment_id,
        task_run_id,
        status,
        created_at,
        updated_at: [reset_at, torn_down_at].into_iter().flatten().fold(created_at, Timestamp::max),
        reset_at,
        torn_down_at,
        sandboxes: Vec::new(),
    })
}
