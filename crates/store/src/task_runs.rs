//! Task runs and criterion runs.

use std::collections::BTreeMap;

use model::page::{Page, PageRequest};
use model::run::{CriticalFailure, Phase, Sealed, Status};
use model::score::{self, Axes, Score, Verdict};
use model::weight::Weight;
use model::{BenchmarkRunId, CriterionId, CriterionRunId, Id, OrgId, PlaygroundId, TaskId, TaskRunId, Timestamp};

use crate::log::Text;
use crate::paging::{Order, Paged};
use crate::runs::read_result;
use crate::value::{Row, Value, bind, insert_many, json_text, rows};
use crate::{Db, StoreError};

/// The stored form of a task run.
#[derive(Clone, Debug)]
pub struct StoredTaskRun {
    pub id: TaskRunId,
    pub org: OrgId,
    pub run: BenchmarkRunId,
    /// Its position in the run.
    pub position: i64,
    pub task: TaskId,
    pub name: String,
    /// Seconds.
    pub timeout: i64,
    pub phase: Phase,
    pub status: Status,
    /// None before it has ended.
    pub result: Option<(Score, Axes)>,
    /// Its axes if it is never scored: 0 on each axis of its criteria. Only used by inserts.
    pub unscored_axes: Axes,
    /// Critical criteria that failed.
    pub critical_failures: i64,
    /// Whether every criterion passed.
    pub clean: bool,
    pub playground: Option<PlaygroundId>,
    pub sealed: Option<Sealed>,
    /// When its playground was frozen. It may not be scored yet.
    pub sealed_at: Option<Timestamp>,
    /// The last entry of the log when it was completed. Later entries are of scheduled work that was settled.
    pub completed_seq: Option<i64>,
    pub failure: Option<String>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub deadline_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
}

impl StoredTaskRun {
    pub fn verdict(&self) -> Option<Verdict> {
        self.result.as_ref().map(|(score, _)| score.verdict())
    }

    /// Whether it is started and not sealed, so that its sandboxes take traffic.
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Started && self.sealed_at.is_none()
    }

    /// Whether it is open and past its deadline.
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        self.is_open() && self.deadline_at.is_some_and(|deadline| deadline <= now)
    }
}

rows! {
    COLUMNS, read: StoredTaskRun {
        id: Row::parsed = "id",
        org: Row::parsed = "org_id",
        run: Row::parsed = "benchmark_run_id",
        position: Row::integer = "position",
        task: Row::parsed = "task_id",
        name: Row::text = "name",
        timeout: Row::integer = "timeout",
        phase: Row::parsed = "phase",
        status: Row::parsed = "status",
        result: read_result = "score, axes",
        critical_failures: Row::integer = "critical_failures",
        clean: Row::flag = "clean",
        playground: Row::parsed_or_null = "playground_id",
        sealed: Row::json_or_null = "sealed",
        sealed_at: Row::time_or_null = "sealed_at",
        completed_seq: Row::integer_or_null = "completed_seq",
        failure: Row::text_or_null = "failure",
        created_at: Row::time = "created_at",
        started_at: Row::time_or_null = "started_at",
        deadline_at: Row::time_or_null = "deadline_at",
        completed_at: Row::time_or_null = "completed_at",
    } with { unscored_axes: Axes::new() }
}

pub fn insert_all(db: &mut Db<'_>, task_runs: &[StoredTaskRun]) -> Result<(), StoreError> {
    let columns = "id, org_id, benchmark_run_id, position, task_id, name, timeout, phase, status, created_at, axes, playground_id";
    let rows: Vec<_> = task_runs.iter().map(new_row).collect();
    insert_many(db, "task_runs", columns, &rows)
}

fn new_row(task_run: &StoredTaskRun) -> Vec<Value<'_>> {
    let StoredTaskRun { id, org, run, position, task, name, timeout, phase, status, created_at, .. } = task_run;
    let (phase, status, axes) = (phase.name(), status.name(), score::axes_text(&task_run.unscored_axes));
    let playground = task_run.playground.as_ref();
    bind![id, org, run, *position, task, name, *timeout, phase, status, *created_at, axes, playground].to_vec()
}

pub fn find(db: &mut Db<'_>, org: &OrgId, id: &TaskRunId) -> Result<Option<StoredTaskRun>, StoreError> {
    let sql = format!("select {COLUMNS} from task_runs where org_id = $1 and id = $2");
    db.query_one(&sql, bind![org, id])?.map(|mut row| read(&mut row)).transpose()
}

/// In the order of the run. Not scoped by organization: the caller has found the run under its own organization.
pub fn of_run(db: &mut Db<'_>, run: &BenchmarkRunId) -> Result<Vec<StoredTaskRun>, StoreError> {
    let sql = format!("select {COLUMNS} from task_runs where benchmark_run_id = $1 order by position");
    db.query(&sql, bind![run])?.iter_mut().map(read).collect()
}

pub fn list(
    db: &mut Db<'_>,
    org: &OrgId,
    run: Option<&BenchmarkRunId>,
    page: &PageRequest,
) -> Result<Page<StoredTaskRun>, StoreError> {
    let mut select = format!("select {COLUMNS} from task_runs where org_id = $1");
    let mut parameters: Vec<Value<'_>> = bind![org].to_vec();
    if let Some(run) = run {
        parameters.push(run.to_string().into());
        select.push_str(" and benchmark_run_id = $2");
    }
    let paged = Paged { select: &select, key: "id", order: Order::NewestFirst };
    paged.fetch(db, parameters, page, read, |task_run| task_run.id.to_string())
}

/// Runs with an overdue task run, of one organization or, for the sweep, of all.
pub fn overdue(
    db: &mut Db<'_>,
    org: Option<&OrgId>,
    now: Timestamp,
    most: i64,
) -> Result<Vec<BenchmarkRunId>, StoreError> {
    let mut sql = "select distinct benchmark_run_id from task_runs
        where phase = 'started' and sealed_at is null and deadline_at <= $1"
        .to_owned();
    let mut parameters: Vec<Value<'_>> = bind![now, most].to_vec();
    if let Some(org) = org {
        parameters.push(org.to_string().into());
        sql.push_str(" and org_id = $3");
    }
    sql.push_str(" order by benchmark_run_id limit $2");
    db.query(&sql, &parameters)?.into_iter().map(|mut row| row.parsed()).collect()
}

/// False if it was not `created` any more.
pub fn start(
    db: &mut Db<'_>,
    id: &TaskRunId,
    playground: &PlaygroundId,
    now: Timestamp,
    deadline: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "update task_runs set phase = 'started', playground_id = $2, started_at = $3, deadline_at = $4
        where id = $1 and phase = 'created'";
    Ok(db.execute(sql, bind![id, playground, now, deadline])? == 1)
}

/// Records that a task run was sealed, in the transaction that ends its playground. False if it is not open any more or is
/// past its deadline.
pub fn seal(
    db: &mut Db<'_>,
    id: &TaskRunId,
    sealed_at: Timestamp,
    completed_seq: Option<i64>,
) -> Result<bool, StoreError> {
    let sql = "update task_runs set sealed_at = $2, completed_seq = $3
        where id = $1 and phase = 'started' and sealed_at is null and deadline_at > $2";
    Ok(db.execute(sql, bind![id, sealed_at, completed_seq])? == 1)
}

/// When a started task run was sealed, and the last entry of its log then; none if it is not sealed or has ended.
pub fn sealing(db: &mut Db<'_>, id: &TaskRunId) -> Result<Option<(Timestamp, Option<i64>)>, StoreError> {
    let sql = "select sealed_at, completed_seq from task_runs
        where id = $1 and phase = 'started' and sealed_at is not null";
    db.query_one(sql, bind![id])?.map(|mut row| Ok((row.time()?, row.integer_or_null()?))).transpose()
}

/// Task runs of all organizations that were sealed in this time and are not scored yet, oldest first.
pub fn sealed_between(
    db: &mut Db<'_>,
    (from, until): (Timestamp, Timestamp),
    most: i64,
) -> Result<Vec<(OrgId, TaskRunId)>, StoreError> {
    let sql = "select org_id, id from task_runs where phase = 'started' and sealed_at >= $1 and sealed_at <= $2
        order by sealed_at, id limit $3";
    db.query(sql, bind![from, until, most])?.iter_mut().map(|row| Ok((row.parsed()?, row.parsed()?))).collect()
}

/// How a task run ends.
#[derive(Clone, Debug)]
pub struct Ending {
    pub status: Status,
    pub score: Score,
    /// None keeps the axes from its creation: 0 on each axis of its criteria.
    pub axes: Option<Axes>,
    pub critical_failures: i64,
    /// Whether every criterion passed.
    pub clean: bool,
    pub sealed: Option<Sealed>,
    pub failure: Option<String>,
}

impl Ending {
    /// Without a score, which counts as 0. Its critical criteria count neither as passed nor as failed, because nothing is
    /// known about them.
    pub fn unscored(status: Status) -> Self {
        let (score, clean) = (Score::zero(), false);
        Self { status, score, axes: None, critical_failures: 0, clean, sealed: None, failure: None }
    }
}

/// False if it had ended before.
pub fn end(db: &mut Db<'_>, id: &TaskRunId, ending: &Ending, now: Timestamp) -> Result<bool, StoreError> {
    Ok(end_all(db, ("id", id.as_str()), ending, now)? == 1)
}

/// Ends every task run of a run that has not ended, with its playground and its sandboxes.
pub fn end_rest(db: &mut Db<'_>, run: &BenchmarkRunId, ending: &Ending, now: Timestamp) -> Result<(), StoreError> {
    let open = "select playground_id from task_runs where benchmark_run_id = $1 and phase <> 'completed'";
    let sql =
        format!("update sandboxes set torn_down_at = $2 where playground_id in ({open}) and torn_down_at is null");
    db.execute(&sql, bind![run, now])?;
    let sql =
        format!("update playgrounds set torn_down_at = $2, shape = head where id in ({open}) and torn_down_at is null");
    db.execute(&sql, bind![run, now])?;
    end_all(db, ("benchmark_run_id", run.as_str()), ending, now)?;
    Ok(())
}

/// Ends those with this value in the column, and returns how many had not ended before.
fn end_all(db: &mut Db<'_>, (column, value): (&str, &str), ending: &Ending, now: Timestamp) -> Result<u64, StoreError> {
    let sql = format!(
        "update task_runs set phase = 'completed', status = $2, verdict = $3, score = $4, axes = coalesce($5, axes),
        sealed = $6, failure = $7, completed_at = $8, critical_failures = $9, clean = $10
        where {column} = $1 and phase <> 'completed'"
    );
    let Ending { status, score, axes, critical_failures, clean, sealed, failure } = ending;
    let sealed = sealed.as_ref().map(json_text).transpose()?;
    let (verdict, axes) = (score.verdict().name(), axes.as_ref().map(score::axes_text));
    let (status, score) = (status.name(), score.to_string());
    db.execute(&sql, bind![value, status, verdict, score, axes, sealed, failure, now, *critical_failures, *clean])
}

/// The stored form of a criterion run.
#[derive(Clone, Debug)]
pub struct StoredCriterionRun {
    pub id: CriterionRunId,
    pub org: OrgId,
    pub task_run: TaskRunId,
    pub position: i64,
    pub criterion: CriterionId,
    pub label: String,
    pub axis: Option<String>,
    pub weight: Weight,
    pub critical: bool,
    pub guard: bool,
    pub public_label: Option<String>,
    pub passed: bool,
    pub score: Score,
    pub details: String,
    /// JSON.
    pub evidence: Text,
    pub started_at: Timestamp,
    pub completed_at: Timestamp,
}

rows! {
    SELECT_CRITERION_RUNS from "criterion_runs", read_criterion_run: StoredCriterionRun {
        id: Row::parsed = "id",
        org: Row::parsed = "org_id",
        task_run: Row::parsed = "task_run_id",
        position: Row::integer = "position",
        criterion: Row::parsed = "criterion_id",
        label: Row::text = "label",
        axis: Row::text_or_null = "axis",
        weight: Row::parsed = "weight",
        critical: Row::flag = "critical",
        guard: Row::flag = "guard",
        public_label: Row::text_or_null = "public_label",
        passed: Row::flag = "passed",
        score: Row::parsed = "score",
        details: Row::text = "details",
        evidence: read_evidence = "evidence, evidence_blob",
        started_at: Row::time = "started_at",
        completed_at: Row::time = "completed_at",
    }
}

pub fn insert_criterion_run(db: &mut Db<'_>, criterion: &StoredCriterionRun) -> Result<(), StoreError> {
    let sql = "insert into criterion_runs (id, org_id, task_run_id, position, criterion_id, label, axis, weight, passed, score,
        details, evidence, evidence_blob, started_at, completed_at, critical, guard, public_label)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)";
    let (evidence, blob) = criterion.evidence.parts();
    db.execute(
        sql,
        bind![
            &criterion.id,
            &criterion.org,
            &criterion.task_run,
            criterion.position,
            &criterion.criterion,
            &criterion.label,
            &criterion.axis,
            criterion.weight.to_string(),
            criterion.passed,
            criterion.score.to_string(),
            &criterion.details,
            evidence,
            blob,
            criterion.started_at,
            criterion.completed_at,
            criterion.critical,
            criterion.guard,
            &criterion.public_label
        ],
    )?;
    Ok(())
}

/// In the order of the task. Not scoped by organization: the caller has found the task run under its own organization.
pub fn criterion_runs_of(db: &mut Db<'_>, task_run: &TaskRunId) -> Result<Vec<StoredCriterionRun>, StoreError> {
    let sql = format!("{SELECT_CRITERION_RUNS} where task_run_id = $1 order by position");
    db.query(&sql, bind![task_run])?.iter_mut().map(read_criterion_run).collect()
}

/// The criterion runs of all task runs of a run, in the order of each task. Not scoped by organization: the caller has found
/// the run under its own organization.
pub fn criterion_runs_of_run(
    db: &mut Db<'_>,
    run: &BenchmarkRunId,
) -> Result<BTreeMap<TaskRunId, Vec<StoredCriterionRun>>, StoreError> {
    let sql = format!(
        "{SELECT_CRITERION_RUNS}
        where task_run_id in (select id from task_runs where benchmark_run_id = $1) order by task_run_id, position"
    );
    let mut criteria: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for mut row in db.query(&sql, bind![run])? {
        let criterion = read_criterion_run(&mut row)?;
        criteria.entry(criterion.task_run.clone()).or_default().push(criterion);
    }
    Ok(criteria)
}

/// The failed critical criteria of a run, in the order of its tasks, up to a maximum number. Not scoped by organization: the
/// caller has found the run under its own organization.
pub fn critical_failures_of(
    db: &mut Db<'_>,
    run: &BenchmarkRunId,
    most: usize,
) -> Result<Vec<CriticalFailure>, StoreError> {
    let sql = "select c.criterion_id, c.id, c.task_run_id, c.label from criterion_runs c
        join task_runs t on t.id = c.task_run_id
        where t.benchmark_run_id = $1 and t.critical_failures > 0 and c.critical = 1 and c.passed = 0
        order by t.position, c.position limit $2";
    let read = |mut row: Row| -> Result<CriticalFailure, StoreError> {
        Ok(CriticalFailure {
            criterion_id: row.parsed()?,
            criterion_run_id: row.parsed()?,
            task_run_id: row.parsed()?,
            label: row.text()?,
        })
    };
    db.query(sql, bind![run, most as i64])?.into_iter().map(read).collect()
}

pub fn find_criterion(
    db: &mut Db<'_>,
    org: &OrgId,
    id: &CriterionRunId,
) -> Result<Option<StoredCriterionRun>, StoreError> {
    let sql = format!("{SELECT_CRITERION_RUNS} where org_id = $1 and id = $2");
    db.query_one(&sql, bind![org, id])?.map(|mut row| read_criterion_run(&mut row)).transpose()
}

pub fn list_criteria(
    db: &mut Db<'_>,
    org: &OrgId,
    task_run: Option<&TaskRunId>,
    page: &PageRequest,
) -> Result<Page<StoredCriterionRun>, StoreError> {
    let mut select = format!("{SELECT_CRITERION_RUNS} where org_id = $1");
    let mut parameters: Vec<Value<'_>> = bind![org].to_vec();
    if let Some(task_run) = task_run {
        parameters.push(task_run.to_string().into());
        select.push_str(" and task_run_id = $2");
    }
    let paged = Paged { select: &select, key: "id", order: Order::NewestFirst };
    paged.fetch(db, parameters, page, read_criterion_run, |criterion| criterion.id.to_string())
}

fn read_evidence(row: &mut Row) -> Result<Text, StoreError> {
    Text::read(row)?.ok_or_else(|| StoreError::Corrupt("evidence".into()))
}
