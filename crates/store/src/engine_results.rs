//! Results of completed runs by other engines, in addition to their original results.

use model::score::{self, Axes, Score};
use model::{BenchmarkRunId, TaskRunId, Timestamp};

use crate::log::Text;
use crate::runs::read_result;
use crate::value::{Row, Value, bind};
use crate::{Db, StoreError};

/// The result of a run by one engine.
#[derive(Clone, Debug)]
pub struct StoredEngineResult {
    pub run: BenchmarkRunId,
    pub engine: String,
    pub result: Option<(Score, Axes)>,
    pub scored_at: Timestamp,
}

/// The result of one of the run's completed tasks.
#[derive(Clone, Debug)]
pub struct StoredEngineTask {
    pub task_run: TaskRunId,
    pub score: Score,
    pub axes: Axes,
    /// JSON.
    pub criteria: Text,
}

/// False if the engine has scored the run before. Its result does not change.
pub fn insert(
    db: &mut Db<'_>,
    result: &StoredEngineResult,
    task_runs: &[StoredEngineTask],
) -> Result<bool, StoreError> {
    let StoredEngineResult { run, engine, result, scored_at } = result;
    let sql = "insert into engine_results (benchmark_run_id, engine, score, axes, scored_at)
        values ($1, $2, $3, $4, $5) on conflict do nothing";
    let score = result.as_ref().map(|(score, _)| score.to_string());
    let axes = result.as_ref().map(|(_, axes)| score::axes_text(axes));
    if db.execute(sql, bind![run, engine, score, axes, *scored_at])? == 0 {
        return Ok(false);
    }
    let sql =
        "insert into engine_task_results (benchmark_run_id, engine, task_run_id, score, axes, criteria, criteria_blob)
        values ($1, $2, $3, $4, $5, $6, $7)";
    for StoredEngineTask { task_run, score, axes, criteria } in task_runs {
        let (inline, blob) = criteria.parts();
        db.execute(sql, bind![run, engine, task_run, score.to_string(), score::axes_text(axes), inline, blob])?;
    }
    Ok(true)
}

/// Maximum number of runs in one query.
const MAX_RUNS_PER_QUERY: usize = 100;

/// The results of these runs, by run and engine. Not scoped by organization: the caller has found the runs under its own
/// organization or on a leaderboard.
pub fn of_runs(db: &mut Db<'_>, runs: &[&BenchmarkRunId]) -> Result<Vec<StoredEngineResult>, StoreError> {
    let mut found = Vec::new();
    for chunk in runs.chunks(MAX_RUNS_PER_QUERY) {
        let places: Vec<String> = (1..=chunk.len()).map(|number| format!("${number}")).collect();
        let sql = format!(
            "select benchmark_run_id, engine, scored_at, score, axes from engine_results
            where benchmark_run_id in ({}) order by benchmark_run_id, engine",
            places.join(", ")
        );
        let parameters: Vec<Value<'_>> = chunk.iter().map(|run| run.to_string().into()).collect();
        for row in &mut db.query(&sql, &parameters)? {
            found.push(read(row)?);
        }
    }
    Ok(found)
}

fn read(row: &mut Row) -> Result<StoredEngineResult, StoreError> {
    let (run, engine, scored_at) = (row.parsed()?, row.text()?, row.time()?);
    Ok(StoredEngineResult { run, engine, scored_at, result: read_result(row)? })
}

/// The results of a run's tasks by one engine. Not scoped by organization, as above.
pub fn tasks_of(db: &mut Db<'_>, run: &BenchmarkRunId, engine: &str) -> Result<Vec<StoredEngineTask>, StoreError> {
    let sql = "select task_run_id, score, axes, criteria, criteria_blob from engine_task_results
        where benchmark_run_id = $1 and engine = $2 order by task_run_id";
    db.query(sql, bind![run, engine])?.iter_mut().map(read_task).collect()
}

fn read_task(row: &mut Row) -> Result<StoredEngineTask, StoreError> {
    let task_run = row.parsed()?;
    let corrupt = || StoreError::Corrupt("the result of an engine".into());
    let (score, axes) = read_result(row)?.ok_or_else(corrupt)?;
    let criteria = Text::read(row)?.ok_or_else(corrupt)?;
    Ok(StoredEngineTask { task_run, score, axes, criteria })
}
