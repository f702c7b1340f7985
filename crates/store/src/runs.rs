//! Runs of benchmarks.

use model::audit::{Bounds, VersionAudit};
use model::page::{Page, PageRequest};
use model::publication::Snapshot;
use model::run::{Metadata, Phase, RunBenchmark, RunFilter, Status};
use model::score::{self, Axes, Score, Verdict};
use model::slug::VersionRef;
use model::{BenchmarkRunId, OrgId, PlaygroundId, SolverId, TaskId, Timestamp};

use crate::paging::{Order, Paged};
use crate::value::{Row, Value, bind, json_text, rows};
use crate::{Db, StoreError};

/// The stored form of a run.
#[derive(Clone, Debug)]
pub struct StoredRun {
    pub id: BenchmarkRunId,
    pub org: OrgId,
    pub solver: Option<SolverId>,
    pub benchmark: RunBenchmark,
    pub content_hash: String,
    pub agent: Option<String>,
    /// The solver's `agent_version` when the run was created.
    pub agent_version: Option<String>,
    pub scored: bool,
    /// The seed of the order of a scored run's tasks.
    pub order_seed: Option<i64>,
    /// Whether the run has only some of the benchmark's tasks.
    pub partial_selection: bool,
    /// Whether a key of the organization wrote to the sandboxes of its tasks.
    pub organization_writes: bool,
    pub concurrency: i64,
    pub phase: Phase,
    pub status: Status,
    /// None before it is completed, and if it is cancelled.
    pub result: Option<(Score, Axes)>,
    pub counts: TaskCounts,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub token_expires_at: Timestamp,
    /// When the series of the run was put on the leaderboard.
    pub published_at: Option<Timestamp>,
    /// The engine that scored it; none while it is active, and if several engines scored its tasks.
    pub engine: Option<String>,
    /// The audit of the version; none for a draft.
    pub audit: Option<VersionAudit>,
    pub metadata: Metadata,
}

impl StoredRun {
    pub fn verdict(&self) -> Option<Verdict> {
        self.result.as_ref().map(|(score, _)| score.verdict())
    }

    /// The version of the run; none for a draft.
    pub fn reference(&self) -> Option<VersionRef> {
        Some(VersionRef { slug: self.benchmark.slug.clone()?, version: self.benchmark.version? })
    }

    /// Whether no agent can work on it any more: it is completed or cancelled, or its token has expired.
    pub fn has_ended(&self, now: Timestamp) -> bool {
        self.status != Status::Active || self.token_expires_at <= now
    }

    /// The bounds of its score, if they are known. An audit covers all tasks, not a selection.
    pub fn bounds(&self) -> Bounds {
        let audit = self.audit.as_ref().filter(|_| !self.partial_selection);
        audit.map(VersionAudit::bounds).unwrap_or_default()
    }

    /// The bounds of the score of one of its tasks.
    pub fn bounds_of(&self, task: &TaskId) -> Bounds {
        self.audit.as_ref().map(|audit| audit.of_task(task)).unwrap_or_default()
    }
}

/// Counts over the tasks of a run that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskCounts {
    /// Critical criteria that failed.
    pub critical_failures: i64,
    /// Tasks with the verdict `pass`.
    pub passed: i64,
    /// Tasks in which every criterion passed.
    pub clean: i64,
}

/// The run of a presented token.
#[derive(Clone, Debug)]
pub struct RunCredential {
    pub run: BenchmarkRunId,
    pub org: OrgId,
    pub hash: String,
    pub status: Status,
    pub completed_at: Option<Timestamp>,
    pub expires_at: Timestamp,
}

rows! {
    pub(crate) COLUMNS, read: StoredRun {
        id: Row::parsed = "r.id",
        org: Row::parsed = "r.org_id",
        solver: Row::parsed_or_null = "r.solver_id",
        benchmark: read_benchmark = "r.benchmark_id, r.slug, r.version, r.name",
        content_hash: Row::text = "r.content_hash",
        agent: Row::text_or_null = "r.agent",
        agent_version: Row::text_or_null = "r.agent_version",
        scored: Row::flag = "r.scored",
        order_seed: Row::integer_or_null = "r.order_seed",
        partial_selection: Row::flag = "r.partial_selection",
        organization_writes: Row::flag = "r.organization_writes",
        concurrency: Row::integer = "r.concurrency",
        phase: Row::parsed = "r.phase",
        status: Row::parsed = "r.status",
        result: read_result = "r.score, r.axes",
        counts: read_counts =
            "(select cast(coalesce(sum(t.critical_failures), 0) as bigint) from task_runs t where t.benchmark_run_id = r.id),
            (select count(*) from task_runs t where t.benchmark_run_id = r.id and t.verdict = 'pass'),
            (select count(*) from task_runs t where t.benchmark_run_id = r.id and t.clean = 1)",
        created_at: Row::time = "r.created_at",
        started_at: Row::time_or_null = "r.started_at",
        completed_at: Row::time_or_null = "r.completed_at",
        token_expires_at: Row::time = "r.token_expires_at",
        published_at: Row::time_or_null = "p.published_at",
        engine: Row::text_or_null = "r.engine",
        audit: Row::json_or_null = "a.audit",
        metadata: read_metadata = "r.metadata",
    }
}

pub(crate) const TABLES: &str = "benchmark_runs r
    left join version_audits a on a.slug = r.slug and a.version = r.version
    left join published_series p on p.slug = r.slug and p.version = r.version and p.solver_id = r.solver_id
        and p.agent = coalesce(r.agent, '') and p.agent_version = coalesce(r.agent_version, '')
        and r.scored = 1 and r.partial_selection = 0";

pub fn insert(db: &mut Db<'_>, run: &StoredRun, token_hash: &str) -> Result<(), StoreError> {
    let sql =
        "insert into benchmark_runs (id, org_id, solver_id, benchmark_id, slug, version, name, content_hash, agent,
        scored, concurrency, phase, status, created_at, token_hash, token_expires_at, agent_version, order_seed,
        partial_selection, metadata)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)";
    let metadata = (!run.metadata.is_empty()).then(|| json_text(&run.metadata)).transpose()?;
    let RunBenchmark { id: benchmark, slug, version, name } = &run.benchmark;
    db.execute(
        sql,
        bind![
            &run.id,
            &run.org,
            run.solver.as_ref(),
            benchmark,
            slug,
            *version,
            name,
            &run.content_hash,
            &run.agent,
            run.scored,
            run.concurrency,
            run.phase.name(),
            run.status.name(),
            run.created_at,
            token_hash,
            run.token_expires_at,
            &run.agent_version,
            run.order_seed,
            run.partial_selection,
            metadata
        ],
    )?;
    Ok(())
}

pub fn insert_draft(db: &mut Db<'_>, run: &BenchmarkRunId, snapshot: &Snapshot) -> Result<(), StoreError> {
    let sql = "insert into draft_snapshots (benchmark_run_id, snapshot) values ($1, $2)";
    db.execute(sql, bind![run, json_text(snapshot)?])?;
    Ok(())
}

pub fn find(db: &mut Db<'_>, org: &OrgId, id: &BenchmarkRunId) -> Result<Option<StoredRun>, StoreError> {
    let sql = format!("select {COLUMNS} from {TABLES} where r.org_id = $1 and r.id = $2");
    db.query_one(&sql, bind![org, id])?.map(|mut row| read(&mut row)).transpose()
}

/// Not scoped by organization: the token is the credential.
pub fn find_by_token(db: &mut Db<'_>, hash: &str) -> Result<Option<RunCredential>, StoreError> {
    let sql = "select id, org_id, token_hash, status, completed_at, token_expires_at from benchmark_runs where token_hash = $1";
    let read = |mut row: Row| -> Result<RunCredential, StoreError> {
        Ok(RunCredential {
            run: row.parsed()?,
            org: row.parsed()?,
            hash: row.text()?,
            status: row.parsed()?,
            completed_at: row.time_or_null()?,
            expires_at: row.time()?,
        })
    };
    db.query_one(sql, bind![hash])?.map(read).transpose()
}

pub fn list(
    db: &mut Db<'_>,
    org: &OrgId,
    filter: &RunFilter,
    page: &PageRequest,
) -> Result<Page<StoredRun>, StoreError> {
    let mut select = format!("select {COLUMNS} from {TABLES} where r.org_id = $1");
    let mut parameters: Vec<Value<'_>> = bind![org].to_vec();
    let filters = [
        ("benchmark_id", filter.benchmark_id.as_ref().map(ToString::to_string)),
        ("solver_id", filter.solver_id.as_ref().map(ToString::to_string)),
        ("agent", filter.agent.clone()),
        ("status", filter.status.map(|status| status.name().to_owned())),
    ];
    for (column, wanted) in filters {
        if let Some(wanted) = wanted {
            parameters.push(wanted.into());
            select.push_str(&format!(" and r.{column} = ${}", parameters.len()));
        }
    }
    let paged = Paged { select: &select, key: "r.id", order: Order::NewestFirst };
    paged.fetch(db, parameters, page, read, |run| run.id.to_string())
}

/// The newest completed runs of a version that the organization created, without selections of tasks, up to a maximum
/// number, oldest first.
pub fn completed(
    db: &mut Db<'_>,
    org: &OrgId,
    reference: &VersionRef,
    filter: &RunFilter,
    most: i64,
) -> Result<Vec<StoredRun>, StoreError> {
    let mut sql = format!(
        "select {COLUMNS} from {TABLES} where r.slug = $1 and r.version = $2 and r.org_id = $3 and r.status = 'completed'
        and r.partial_selection = 0"
    );
    let mut parameters: Vec<Value<'_>> = bind![&reference.slug, reference.version, org].to_vec();
    let filters = [("solver_id", filter.solver_id.as_ref().map(ToString::to_string)), ("agent", filter.agent.clone())];
    for (column, wanted) in filters {
        if let Some(wanted) = wanted {
            parameters.push(wanted.into());
            sql.push_str(&format!(" and r.{column} = ${}", parameters.len()));
        }
    }
    parameters.push(most.into());
    sql.push_str(&format!(" order by r.id desc limit ${}", parameters.len()));
    let mut found: Vec<StoredRun> = db.query(&sql, &parameters)?.iter_mut().map(read).collect::<Result<_, _>>()?;
    found.reverse();
    Ok(found)
}

/// Not scoped by organization: the caller has found the run under its own organization.
pub fn draft(db: &mut Db<'_>, run: &BenchmarkRunId) -> Result<Option<Snapshot>, StoreError> {
    let sql = "select snapshot from draft_snapshots where benchmark_run_id = $1";
    db.query_one(sql, bind![run])?.map(|mut row| row.json()).transpose()
}

/// The content of a version. Its runs can always read it, even if it is not visible to their organization any more.
pub fn version_snapshot(db: &mut Db<'_>, reference: &VersionRef) -> Result<Option<Snapshot>, StoreError> {
    let sql = "select snapshot from benchmark_versions where slug = $1 and version = $2";
    db.query_one(sql, bind![&reference.slug, reference.version])?.map(|mut row| row.json()).transpose()
}

/// The organization that owns the version.
pub fn version_org(db: &mut Db<'_>, reference: &VersionRef) -> Result<Option<OrgId>, StoreError> {
    let sql = "select org_id from benchmark_versions where slug = $1 and version = $2";
    db.query_one(sql, bind![&reference.slug, reference.version])?.map(|mut row| row.parsed()).transpose()
}

/// Records the start of a task, of which the first starts the run.
pub fn note_start(db: &mut Db<'_>, id: &BenchmarkRunId, now: Timestamp) -> Result<(), StoreError> {
    let sql = "update benchmark_runs set phase = 'started', started_at = $2 where id = $1 and phase = 'created'";
    db.execute(sql, bind![id, now])?;
    Ok(())
}

/// Ends an active run. False if it had ended before.
pub fn end(
    db: &mut Db<'_>,
    id: &BenchmarkRunId,
    status: Status,
    result: Option<&(Score, Axes)>,
    engine: Option<&str>,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let sql =
        "update benchmark_runs set phase = 'completed', status = $2, verdict = $3, score = $4, axes = $5, engine = $6,
        completed_at = $7 where id = $1 and status = 'active'";
    let verdict = result.map(|(score, _)| score.verdict().name());
    let score = result.map(|(score, _)| score.to_string());
    let axes = result.map(|(_, axes)| score::axes_text(axes));
    Ok(db.execute(sql, bind![id, status.name(), verdict, score, axes, engine, now])? == 1)
}

/// Records that a key of the organization wrote to a sandbox of this playground. Does nothing outside of runs.
pub fn mark_organization_writes(db: &mut Db<'_>, playground: &PlaygroundId) -> Result<(), StoreError> {
    let sql = "update benchmark_runs set organization_writes = 1 where organization_writes = 0 and id = (
        select t.benchmark_run_id from playgrounds g join task_runs t on t.id = g.task_run_id where g.id = $1)";
    db.execute(sql, bind![playground])?;
    Ok(())
}

fn read_benchmark(row: &mut Row) -> Result<RunBenchmark, StoreError> {
    Ok(RunBenchmark {
        id: row.parsed()?,
        slug: row.text_or_null()?,
        version: row.integer_or_null()?,
        name: row.text()?,
    })
}

fn read_counts(row: &mut Row) -> Result<TaskCounts, StoreError> {
    Ok(TaskCounts { critical_failures: row.integer()?, passed: row.integer()?, clean: row.integer()? })
}

fn read_metadata(row: &mut Row) -> Result<Metadata, StoreError> {
    Ok(row.json_or_null()?.unwrap_or_default())
}

/// The columns `score` and `axes`.
pub(crate) fn read_result(row: &mut Row) -> Result<Option<(Score, Axes)>, StoreError> {
    let (score, axes): (Option<Score>, _) = (row.parsed_or_null()?, row.text_or_null()?);
    let Some(score) = score else { return Ok(None) };
    let axes = score::axes_from_text(axes.as_deref().unwrap_or("{}"));
    Ok(Some((score, axes.ok_or_else(|| StoreError::Corrupt("axes".into()))?)))
}
