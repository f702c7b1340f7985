//! Creates runs. Everything that a run needs is written in one transaction; no dataset is read.

pub(super) mod provision;
mod selection;

use std::sync::Arc;

use model::api_key::KeyKind;
use model::publication::{FrozenTask, Snapshot};
use model::run::{CreatedRun, Metadata, NewRun, NewSolverRun, Phase, RunBenchmark, Status};
use model::slug::{self, VersionRef};
use model::{BenchmarkId, BenchmarkRunId, FieldErrors, OrgId, SolverId, TaskRunId, Timestamp};
use store::Db;
use store::runs::{StoredRun, TaskCounts};
use store::task_runs::{self, StoredTaskRun};
use store::versions::{self, Heading};

use super::{evaluate, snapshots, views};
use crate::caller::Caller;
use crate::idempotency::ResponseStorage;
use crate::sandboxes::BaseUrl;
use crate::{App, AppError, Created, Once, OrgGrant, SolverGrant, credentials, random};

use provision::RunSecret;
use selection::Selection;

/// The run's token is valid for twice the time of all tasks, within these limits.
const MIN_TOKEN_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;
const MAX_TOKEN_MILLISECONDS: i64 = 30 * 24 * 60 * 60 * 1000;

/// A grant to create runs. `Request` is the type of request that its holder can send.
pub trait CreateRunGrant {
    type Request;

    fn caller(&self) -> Caller;

    fn new_run(&self, request: Self::Request) -> NewRun;
}

/// An organization runs versions and its own drafts.
impl CreateRunGrant for OrgGrant {
    type Request = NewRun;

    fn caller(&self) -> Caller {
        self.into()
    }

    fn new_run(&self, request: NewRun) -> NewRun {
        request
    }
}

/// A solver runs versions, under its own name.
impl CreateRunGrant for SolverGrant {
    type Request = NewSolverRun;

    fn caller(&self) -> Caller {
        self.into()
    }

    fn new_run(&self, request: NewSolverRun) -> NewRun {
        let NewSolverRun { benchmark, scored, agent, tasks, tags, metadata } = request;
        let (benchmark, solver_id) = (Some(benchmark), Some(self.solver.clone()));
        NewRun { benchmark_id: None, benchmark, scored, agent, solver_id, tasks, tags, metadata }
    }
}

/// A validated request.
struct RunPlan {
    org: OrgId,
    solver: Option<SolverId>,
    source: RunSource,
    scored: bool,
    agent: Option<String>,
    selection: Selection,
    metadata: Metadata,
}

enum RunSource {
    /// A published version, which never changes.
    Version(RunContent),
    /// A draft, which is frozen in the transaction that creates the run.
    Draft(BenchmarkId),
}

/// The frozen content of a run.
#[derive(Clone)]
pub(super) struct RunContent {
    pub(super) benchmark: RunBenchmark,
    content_hash: String,
    pub(super) snapshot: Arc<Snapshot>,
}

pub async fn create_run<G: CreateRunGrant>(
    app: &App,
    grant: &G,
    base: BaseUrl<'_>,
    once: Option<Once>,
    request: G::Request,
) -> Result<Created<CreatedRun>, AppError> {
    let (caller, new) = (grant.caller(), grant.new_run(request));
    new.validate()?;
    let plan = plan(app, &caller.scope.org, new).await?;
    let scope = caller.scope.clone();
    let token = random::secret(KeyKind::Run)?;
    let (hash, shown_token) = (credentials::hash(&token), token.reveal().to_owned());
    let order_seed = plan.scored.then(random::order_seed).transpose()?;
    let (id, now, ids) = (app.new_id::<BenchmarkRunId>(), app.now(), app.clone());
    let (addresses, sandbox_secret) = (app.addresses(base), RunSecret::new()?);
    let work = move |db: &mut Db<'_>| {
        let solver = match &plan.solver {
            Some(solver) => Some(store::solvers::find(db, &plan.org, solver)?.ok_or(AppError::missing::<SolverId>())?),
            None => None,
        };
        let (content, is_draft) = match &plan.source {
            RunSource::Version(content) => (content.clone(), false),
            RunSource::Draft(draft) => (freeze_draft(db, &plan.org, draft, now)?, true),
        };
        let tasks = selection::tasks(&content.snapshot, &plan.selection, order_seed)?;
        let agent_version = solver.and_then(|solver| solver.agent_version);
        let run = StoredRun { agent_version, order_seed, ..new_run(&id, &plan, &content, now) };
        store::runs::insert(db, &run, &hash)?;
        if is_draft {
            store::runs::insert_draft(db, &run.id, &content.snapshot)?;
        }
        let mut task_runs = new_task_runs(&ids, &run, &tasks, content.snapshot.timeout);
        let sandboxes = provision::provision(db, &ids, (&run, &*content.snapshot), &mut task_runs, &sandbox_secret)?;
        task_runs::insert_all(db, &task_runs)?;
        let identity = scope.task_identity(&run, now);
        let mut created = views::created_run(&run, &task_runs, &content, &shown_token, identity);
        created.sandboxes = provision::sandbox_views(&task_runs, &sandboxes, &content.snapshot, &addresses);
        Ok(created)
    };
    app.once(caller, once, ResponseStorage::Encrypted, work).await
}

async fn plan(app: &App, org: &OrgId, new: NewRun) -> Result<RunPlan, AppError> {
    let NewRun { benchmark_id, benchmark, scored, agent, solver_id, tasks, tags, metadata } = new;
    let source = match benchmark_id {
        Some(draft) => RunSource::Draft(draft),
        None => RunSource::Version(version_content(app, org, &benchmark.unwrap_or_default()).await?),
    };
    let (selection, metadata) = (Selection { tasks, tags }, metadata.unwrap_or_default());
    Ok(RunPlan { org: org.clone(), solver: solver_id, source, scored, agent, selection, metadata })
}

async fn version_content(app: &App, org: &OrgId, reference: &str) -> Result<RunContent, AppError> {
    let Ok(reference) = reference.parse::<VersionRef>() else {
        if slug::is_slug(reference) {
            return Err(crate::publications::refuse_bare_slug(app, org, reference).await);
        }
        return Err(FieldErrors::one("benchmark", "must be `slug@version`, such as `fax-referral@1`").into());
    };
    let (org, wanted) = (org.clone(), reference.clone());
    let read = move |db: &mut Db<'_>| {
        let heading = versions::find_heading(db, Some(&org), &wanted)?;
        heading.map_or_else(|| Err(crate::publications::no_version(db, &org, &wanted)), Ok)
    };
    let Heading { benchmark: id, name, content_hash, .. } = app.store().read(read).await?;
    let snapshot = snapshots::of_version(app, &reference).await?;
    let benchmark = RunBenchmark { id, slug: Some(reference.slug), version: Some(reference.version), name };
    Ok(RunContent { benchmark, content_hash, snapshot })
}

fn freeze_draft(db: &mut Db<'_>, org: &OrgId, id: &BenchmarkId, now: Timestamp) -> Result<RunContent, AppError> {
    let Some(draft) = store::benchmarks::find(db, org, id)? else {
        return Err(draft_not_found(db, org, id)?);
    };
    let snapshot = crate::publications::freeze(db, org, &draft, now)?;
    let benchmark = RunBenchmark { id: draft.id, slug: None, version: None, name: draft.name };
    Ok(RunContent { benchmark, content_hash: snapshot.content_hash(), snapshot: Arc::new(snapshot) })
}

/// Distinguishes a deleted draft with published versions from one that never existed.
fn draft_not_found(db: &mut Db<'_>, org: &OrgId, id: &BenchmarkId) -> Result<AppError, AppError> {
    Ok(match store::benchmarks::published_reference(db, org, id)? {
        Some((slug, version)) => AppError::conflict(format!(
            "the benchmark was deleted; its published versions can still be run, as `benchmark`: \"{slug}@{version}\""
        )),
        None => AppError::missing::<BenchmarkId>(),
    })
}

fn new_run(id: &BenchmarkRunId, plan: &RunPlan, content: &RunContent, now: Timestamp) -> StoredRun {
    let RunContent { benchmark, content_hash, snapshot } = content;
    let timeouts = snapshot.tasks.iter().map(|task| task.timeout.unwrap_or(snapshot.timeout));
    let all_milliseconds: i64 = timeouts.fold(0, |sum: i64, seconds| sum.saturating_add(seconds * 1000));
    let lifetime = all_milliseconds.saturating_mul(2).clamp(MIN_TOKEN_MILLISECONDS, MAX_TOKEN_MILLISECONDS);
    StoredRun {
        id: id.clone(),
        org: plan.org.clone(),
        solver: plan.solver.clone(),
        benchmark: benchmark.clone(),
        content_hash: content_hash.clone(),
        agent: plan.agent.clone(),
        agent_version: None,
        scored: plan.scored,
        order_seed: None,
        partial_selection: plan.selection.is_partial(),
        organization_writes: false,
        concurrency: snapshot.concurrency,
        phase: Phase::Created,
        status: Status::Active,
        result: None,
        counts: TaskCounts::default(),
        created_at: now,
        started_at: None,
        completed_at: None,
        token_expires_at: now.plus_milliseconds(lifetime),
        published_at: None,
        engine: None,
        audit: None,
        metadata: plan.metadata.clone(),
    }
}

/// One for each task, in the same order.
fn new_task_runs(app: &App, run: &StoredRun, tasks: &[&FrozenTask], timeout: i64) -> Vec<StoredTaskRun> {
    let new = |(task, position): (&&FrozenTask, i64)| StoredTaskRun {
        id: app.new_id::<TaskRunId>(),
        org: run.org.clone(),
        run: run.id.clone(),
        position,
        task: task.id.clone(),
        name: task.name.clone(),
        timeout: task.timeout.unwrap_or(timeout),
        phase: Phase::Created,
        status: Status::Active,
        result: None,
        unscored_axes: evaluate::unscored_axes(task),
        critical_failures: 0,
        clean: false,
        playground: None,
        sealed: None,
        sealed_at: None,
        completed_seq: None,
        failure: None,
        created_at: run.created_at,
        started_at: None,
        deadline_at: None,
        completed_at: None,
    };
    tasks.iter().zip(0..).map(new).collect()
}
