//! Leaderboards: the published series, and the runs that count in them.
//!
//! A series is all scored runs of a version by one solver with one agent and agent version. Runs of a selection of tasks
//! never count. A run counts once nobody can work on it any more: when it has ended, or when its token has expired.

use std::collections::BTreeMap;

use model::run::Sealed;
use model::score::{Axes, Score};
use model::slug::VersionRef;
use model::{BenchmarkRunId, SolverId, TaskId, Timestamp};

use crate::runs::{COLUMNS, StoredRun, TABLES, read, read_result};
use crate::value::{Row, bind};
use crate::{Db, StoreError};

/// Only this many of the newest runs of a series count.
pub const MAX_RUNS: i64 = 1000;

/// A run that counts in a published series, with its solver.
#[derive(Clone, Debug)]
pub struct CountedRun {
    pub run: StoredRun,
    pub alias: String,
    pub organization: String,
    pub agent_description: Option<String>,
}

/// One task of a counted run; without a result while it is unfinished.
#[derive(Clone, Debug)]
pub struct CountedTask {
    pub task: TaskId,
    pub name: String,
    pub result: Option<(Score, Axes)>,
    pub critical_failures: i64,
    /// The engine that scored it.
    pub engine: Option<String>,
}

/// Publishes the series of the run, if it is not published.
pub fn publish(db: &mut Db<'_>, run: &StoredRun, now: Timestamp) -> Result<(), StoreError> {
    let sql = "insert into published_series (slug, version, solver_id, agent, agent_version, published_at)
        values ($1, $2, $3, $4, $5, $6) on conflict (slug, version, solver_id, agent, agent_version) do nothing";
    if let (Some(reference), Some(solver)) = (run.reference(), &run.solver) {
        let (agent, agent_version) = series_of(run);
        db.execute(sql, bind![&reference.slug, reference.version, solver, agent, agent_version, now])?;
    }
    Ok(())
}

/// Removes the series from the leaderboard.
pub fn unpublish(db: &mut Db<'_>, run: &StoredRun) -> Result<(), StoreError> {
    let sql = "delete from published_series
        where slug = $1 and version = $2 and solver_id = $3 and agent = $4 and agent_version = $5";
    if let (Some(reference), Some(solver)) = (run.reference(), &run.solver) {
        let (agent, agent_version) = series_of(run);
        db.execute(sql, bind![&reference.slug, reference.version, solver, agent, agent_version])?;
    }
    Ok(())
}

fn series_of(run: &StoredRun) -> (&str, &str) {
    (run.agent.as_deref().unwrap_or_default(), run.agent_version.as_deref().unwrap_or_default())
}

/// Ids of the runs that count, at most [`MAX_RUNS`] of each published series.
const COUNTED: &str = "select c.id from (
        select r.id, row_number() over (
            partition by r.solver_id, coalesce(r.agent, ''), coalesce(r.agent_version, '') order by r.id desc) as place
        from benchmark_runs r
        join published_series q on q.slug = r.slug and q.version = r.version and q.solver_id = r.solver_id
            and q.agent = coalesce(r.agent, '') and q.agent_version = coalesce(r.agent_version, '')
        where r.slug = $1 and r.version = $2 and r.scored = 1 and r.partial_selection = 0
            and (r.status <> 'active' or r.token_expires_at <= $3)
    ) c where c.place <= $4";

/// Every run that counts on the leaderboard of a version, of all organizations, oldest first.
pub fn counted_runs(db: &mut Db<'_>, reference: &VersionRef, now: Timestamp) -> Result<Vec<CountedRun>, StoreError> {
    let sql = format!(
        "select {COLUMNS}, s.alias, o.name, s.agent_description from {TABLES}
        join solvers s on s.id = r.solver_id join organizations o on o.id = r.org_id
        where r.id in ({COUNTED}) order by r.id"
    );
    let read_one = |row: &mut Row| {
        Ok(CountedRun {
            run: read(row)?,
            alias: row.text()?,
            organization: row.text()?,
            agent_description: row.text_or_null()?,
        })
    };
    db.query(&sql, bind![&reference.slug, reference.version, now, MAX_RUNS])?.iter_mut().map(read_one).collect()
}

/// The tasks of those runs, in each run's order.
pub fn counted_tasks(
    db: &mut Db<'_>,
    reference: &VersionRef,
    now: Timestamp,
) -> Result<BTreeMap<BenchmarkRunId, Vec<CountedTask>>, StoreError> {
    let sql = format!(
        "select t.benchmark_run_id, t.task_id, t.name, t.score, t.axes, t.critical_failures, t.sealed from task_runs t
        where t.benchmark_run_id in ({COUNTED}) order by t.benchmark_run_id, t.position"
    );
    let mut tasks: BTreeMap<BenchmarkRunId, Vec<CountedTask>> = BTreeMap::new();
    for mut row in db.query(&sql, bind![&reference.slug, reference.version, now, MAX_RUNS])? {
        let (run, task, name) = (row.parsed()?, row.parsed()?, row.text()?);
        tasks.entry(run).or_default().push(CountedTask {
            task,
            name,
            result: read_result(&mut row)?,
            critical_failures: row.integer()?,
            engine: row.json_or_null::<Sealed>()?.map(|sealed| sealed.engine),
        });
    }
    Ok(tasks)
}

/// For each solver on the leaderboard, the number of its runs that would count, with any agent and agent version.
pub fn runs_by_solver(
    db: &mut Db<'_>,
    reference: &VersionRef,
    now: Timestamp,
) -> Result<BTreeMap<SolverId, u64>, StoreError> {
    let sql = "select r.solver_id, count(*) from benchmark_runs r
        where r.slug = $1 and r.version = $2 and r.scored = 1 and r.partial_selection = 0
            and (r.status <> 'active' or r.token_expires_at <= $3)
            and r.solver_id in (select q.solver_id from published_series q where q.slug = $1 and q.version = $2)
        group by r.solver_id";
    let read_one = |mut row: Row| Ok((row.parsed()?, u64::try_from(row.integer()?).unwrap_or_default()));
    db.query(sql, bind![&reference.slug, reference.version, now])?.into_iter().map(read_one).collect()
}
