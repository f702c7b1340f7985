//! Runs of benchmarks: made by a solver or by the organization, worked through task by task, ended.

pub mod access;
mod channels;
mod complete;
mod end;
pub mod engines;
mod evaluate;
mod evidence_names;
pub mod leaderboards;
mod neutral;
mod provision;
mod reach;
mod rescore;
mod selection;
pub(crate) mod snapshots;
mod start;
pub mod statistics;
pub mod tasks;
mod unread_faxes;
mod views;

use std::sync::Arc;

use model::api_key::KeyKind;
use model::benchmark::Benchmark;
use model::page::{Page, PageRequest};
use model::publication::{FrozenTask, Snapshot};
use model::run::{
    BenchmarkRun, CreatedRun, CriticalFailure, MOST_CRITICAL_CRITERIA, Metadata, NewRun, NewSolverRun, Phase,
    RunBenchmark, RunFilter, RunSummary, Status,
};
use model::slug::{self, VersionRef};
use model::{BenchmarkId, BenchmarkRunId, FieldErrors, OrgId, SolverId, TaskRunId, Timestamp};
use store::Db;
use store::runs::{StoredRun, TaskCounts};
use store::task_runs::{self, StoredTaskRun};
use store::versions::{self, Heading};

use crate::idempotency::{Holder, Keep};
use crate::sandboxes::BaseUrl;
use crate::{App, AppError, Created, Once, OrgGrant, RunGrant, SolverGrant, credentials, random};

pub use evaluate::ENGINE;
use provision::RunSecret;
use reach::Reach;
pub use rescore::rescore;
use selection::Selection;
pub(crate) use snapshots::Snapshots;

/// A token outlives all of its tasks done one after the other.
const SHORTEST_TOKEN_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;
const LONGEST_TOKEN_MILLISECONDS: i64 = 30 * 24 * 60 * 60 * 1000;

/// What a run is made from.
struct Plan {
    org: OrgId,
    solver: Option<SolverId>,
    source: Source,
    scored: bool,
    agent: Option<String>,
    selection: Selection,
    metadata: Metadata,
}

enum Source {
    /// Known and frozen for good.
    Version(Content),
    /// To be frozen when the run is made.
    Draft(BenchmarkId),
}

/// What is to be run, as it is frozen.
#[derive(Clone)]
struct Content {
    benchmark: RunBenchmark,
    content_hash: String,
    snapshot: Arc<Snapshot>,
}

/// A solver's run of a published version.
pub async fn create(
    app: &App,
    grant: &SolverGrant,
    base: BaseUrl<'_>,
    once: Option<Once>,
    new: NewSolverRun,
) -> Result<Created<CreatedRun>, AppError> {
    new.validate()?;
    let source = version_source(app, &grant.org, &new.benchmark).await?;
    let NewSolverRun { scored, agent, tasks, tags, metadata, benchmark: _ } = new;
    let (selection, metadata) = (Selection { tasks, tags }, metadata.unwrap_or_default());
    let (org, solver) = (grant.org.clone(), Some(grant.solver.clone()));
    let plan = Plan { org, solver, source, scored, agent, selection, metadata };
    make(app, (grant.into(), grant.into()), base, once, plan).await
}

/// The organization's own run, of a version or of a draft.
pub async fn create_as_owner(
    app: &App,
    grant: &OrgGrant,
    base: BaseUrl<'_>,
    once: Option<Once>,
    new: NewRun,
) -> Result<Created<CreatedRun>, AppError> {
    new.validate()?;
    let NewRun { benchmark_id, benchmark, scored, agent, solver_id, tasks, tags, metadata } = new;
    let source = match (benchmark_id, benchmark) {
        (Some(draft), _) => Source::Draft(draft),
        (None, reference) => version_source(app, &grant.org, &reference.unwrap_or_default()).await?,
    };
    let (selection, metadata) = (Selection { tasks, tags }, metadata.unwrap_or_default());
    let plan = Plan { org: grant.org.clone(), solver: solver_id, source, scored, agent, selection, metadata };
    make(app, (grant.into(), grant.into()), base, once, plan).await
}

async fn version_source(app: &App, org: &OrgId, reference: &str) -> Result<Source, AppError> {
    let Ok(reference) = reference.parse::<VersionRef>() else {
        if slug::is_slug(reference) {
            return Err(crate::publications::refuse_bare_slug(app, org, reference).await);
        }
        return Err(FieldErrors::one("benchmark", "must be `slug@version`, such as `fax-referral@1`").into());
    };
    let (org, wanted) = (org.clone(), reference.clone());
    let read = move |db: &mut Db<'_>| {
        let found = versions::find_heading(db, Some(&org), &wanted)?;
        found.map_or_else(|| Err(crate::publications::no_version(db, &org, &wanted)), Ok)
    };
    let Heading { benchmark: id, name, content_hash, .. } = app.store().read(read).await?;
    let snapshot = snapshots::of_version(app, &reference).await?;
    let benchmark = RunBenchmark { id, slug: Some(reference.slug), version: Some(reference.version), name };
    Ok(Source::Version(Content { benchmark, content_hash, snapshot }))
}

async fn make(
    app: &App,
    (holder, reach): (Holder, Reach),
    base: BaseUrl<'_>,
    once: Option<Once>,
    plan: Plan,
) -> Result<Created<CreatedRun>, AppError> {
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
            Source::Version(content) => (content.clone(), false),
            Source::Draft(draft) => (frozen_draft(db, &plan.org, draft, now)?, true),
        };
        let tasks = selection::tasks(&content.snapshot, &plan.selection, order_seed)?;
        let agent_version = solver.and_then(|solver| solver.agent_version);
        let run = StoredRun { agent_version, order_seed, ..new_run(&id, &plan, &content, now) };
        store::runs::insert(db, &run, &hash)?;
        if is_draft {
            store::runs::insert_draft(db, &run.id, &content.snapshot)?;
        }
        let mut task_runs = new_task_runs(&ids, &run, &tasks, content.snapshot.timeout);
        let made = (&run, &*content.snapshot);
        let sandboxes = provision::provision(db, &ids, made, &mut task_runs, &sandbox_secret)?;
        task_runs::insert_all(db, &task_runs)?;
        let mut created = views::created(&run, &task_runs, &content, &shown_token, reach.task_identity(&run, now));
        created.sandboxes = provision::listed(&task_runs, &sandboxes, &content.snapshot, &addresses);
        Ok(created)
    };
    app.once(holder, once, Keep::Sealed, work).await
}

fn frozen_draft(db: &mut Db<'_>, org: &OrgId, id: &BenchmarkId, now: Timestamp) -> Result<Content, AppError> {
    let Some(draft): Option<Benchmark> = store::benchmarks::find(db, org, id)? else {
        return Err(no_draft(db, org, id)?);
    };
    let snapshot = crate::publications::freeze(db, org, &draft, now)?;
    let benchmark = RunBenchmark { id: draft.id, slug: None, version: None, name: draft.name };
    Ok(Content { benchmark, content_hash: snapshot.content_hash(), snapshot: Arc::new(snapshot) })
}

/// Whether the draft was deleted, as far as its published versions tell, or never was.
fn no_draft(db: &mut Db<'_>, org: &OrgId, id: &BenchmarkId) -> Result<AppError, AppError> {
    Ok(match store::benchmarks::published_reference(db, org, id)? {
        Some((slug, version)) => AppError::conflict(format!(
            "the benchmark was deleted; its published versions can still be run, as `benchmark`: \"{slug}@{version}\""
        )),
        None => AppError::missing::<BenchmarkId>(),
    })
}

fn new_run(id: &BenchmarkRunId, plan: &Plan, content: &Content, now: Timestamp) -> StoredRun {
    let Content { benchmark, content_hash, snapshot } = content;
    let timeouts = snapshot.tasks.iter().map(|task| task.timeout.unwrap_or(snapshot.timeout));
    let all_milliseconds: i64 = timeouts.fold(0, |sum: i64, seconds| sum.saturating_add(seconds * 1000));
    let lifetime = all_milliseconds.saturating_mul(2).clamp(SHORTEST_TOKEN_MILLISECONDS, LONGEST_TOKEN_MILLISECONDS);
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
    let made = |(task, position): (&&FrozenTask, i64)| StoredTaskRun {
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
    tasks.iter().zip(0..).map(made).collect()
}

/// For the run's own token.
pub async fn get(app: &App, grant: &RunGrant, id: &BenchmarkRunId) -> Result<RunSummary, AppError> {
    summary(app, Reach::from(grant), id).await
}

/// For the solver that made it.
pub async fn get_as_solver(app: &App, grant: &SolverGrant, id: &BenchmarkRunId) -> Result<RunSummary, AppError> {
    summary(app, Reach::from(grant), id).await
}

async fn summary(app: &App, reach: Reach, id: &BenchmarkRunId) -> Result<RunSummary, AppError> {
    end::expire_overdue(app, &reach.org, id).await?;
    let (scope, wanted) = (reach.clone(), id.clone());
    let read = move |db: &mut Db<'_>| {
        let run = scope.run(db, &wanted)?;
        let task_runs = task_runs::of_run(db, &run.id)?;
        Ok::<_, AppError>((run, task_runs))
    };
    let (run, task_runs) = app.store().read(read).await?;
    let snapshot = snapshots::of(app, &run).await?;
    Ok(views::summary(&run, &task_runs, &snapshot, reach.task_identity(&run, app.now())))
}

/// For the organization, with its task runs and their criteria.
pub async fn get_as_owner(app: &App, grant: &OrgGrant, id: &BenchmarkRunId) -> Result<BenchmarkRun, AppError> {
    end::expire_overdue(app, &grant.org, id).await?;
    let (org, id) = (grant.org.clone(), id.clone());
    app.store().read(move |db| whole(db, &org, &id)).await
}

fn whole(db: &mut Db<'_>, org: &OrgId, id: &BenchmarkRunId) -> Result<BenchmarkRun, AppError> {
    let run = found(db, org, id)?;
    let stored = task_runs::of_run(db, &run.id)?;
    let mut shown = views::run(&run, &stored);
    shown.critical_criteria = critical_criteria(db, &run)?;
    shown.results = Some(engines::scores(db, &run)?);
    let criteria = task_runs::criteria_of_run(db, &run.id)?;
    let of = |task_run: &StoredTaskRun| criteria.get(&task_run.id).map_or(&[][..], Vec::as_slice);
    shown.task_runs = Some(stored.iter().map(|task_run| views::task_run(&run, task_run, of(task_run))).collect());
    Ok(shown)
}

fn critical_criteria(db: &mut Db<'_>, run: &StoredRun) -> Result<Vec<CriticalFailure>, AppError> {
    if run.counts.critical_failures == 0 {
        return Ok(Vec::new());
    }
    Ok(task_runs::critical_failures_of(db, &run.id, MOST_CRITICAL_CRITERIA)?)
}

pub async fn list(
    app: &App,
    grant: &OrgGrant,
    filter: RunFilter,
    page: PageRequest,
) -> Result<Page<BenchmarkRun>, AppError> {
    end::expire_all_overdue(app, &grant.org).await?;
    let org = grant.org.clone();
    let read = move |db: &mut Db<'_>| {
        let page = store::runs::list(db, &org, &filter, &page)?;
        page.try_map(|run| {
            let task_runs = task_runs::of_run(db, &run.id)?;
            let mut shown = views::run(&run, &task_runs);
            shown.critical_criteria = critical_criteria(db, &run)?;
            Ok(shown)
        })
    };
    app.store().read(read).await
}

/// Keeps what is completed, cancels the rest, and ends the token. No score: not everything was tried.
pub async fn cancel(
    app: &App,
    grant: &OrgGrant,
    id: &BenchmarkRunId,
    once: Option<Once>,
) -> Result<Created<BenchmarkRun>, AppError> {
    if let Some(replayed) = app.replayed(grant, once.as_ref(), Keep::Plain).await? {
        return Ok(replayed);
    }
    end::expire_overdue(app, &grant.org, id).await?;
    let (org, wanted) = (grant.org.clone(), id.clone());
    let run = app.store().read(move |db| found(db, &org, &wanted)).await?.id;
    end::write_reads(app, &run).await?;
    let (org, id, now) = (grant.org.clone(), id.clone(), app.now());
    let work = move |db: &mut Db<'_>| {
        let run = active(db, &org, &id)?;
        end::cancel_rest(db, &run.id, now)?;
        let engine = engines::of_task_runs(&task_runs::of_run(db, &run.id)?);
        store::runs::end(db, &run.id, Status::Cancelled, None, engine.as_deref(), now)?;
        whole(db, &org, &id)
    };
    let cancelled = app.once(grant, once, Keep::Plain, work).await;
    app.inner.credentials.forget_all();
    end::doubt(app, &run).await;
    cancelled
}

/// Scores what is started, cancels what is not, and so ends the run with a score.
pub async fn complete(
    app: &App,
    grant: &OrgGrant,
    id: &BenchmarkRunId,
    once: Option<Once>,
) -> Result<Created<BenchmarkRun>, AppError> {
    if let Some(replayed) = app.replayed(grant, once.as_ref(), Keep::Plain).await? {
        return Ok(replayed);
    }
    end::expire_overdue(app, &grant.org, id).await?;
    let (org, wanted) = (grant.org.clone(), id.clone());
    let started = match app.store().read(move |db| started_of(db, &org, &wanted)).await {
        Ok(started) => Some(started),
        // The caller may be repeating a request that succeeded.
        Err(AppError::Conflict { .. }) if once.is_some() => None,
        Err(error) => return Err(error),
    };
    let was_active = started.is_some();
    for task_run in started.into_iter().flatten() {
        match complete::complete_as_owner(app, grant, &task_run, None).await {
            Ok(_) | Err(AppError::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let (org, id, now) = (grant.org.clone(), id.clone(), app.now());
    let run = id.clone();
    let work = move |db: &mut Db<'_>| {
        // The last of the started tasks may have ended the run.
        let is_completed = was_active && found(db, &org, &id)?.status == Status::Completed;
        if !is_completed {
            let run = active(db, &org, &id)?;
            end::cancel_rest(db, &run.id, now)?;
            end::finish_if_last(db, &run.id, now)?;
        }
        whole(db, &org, &id)
    };
    let completed = app.once(grant, once, Keep::Plain, work).await;
    end::doubt(app, &run).await;
    completed
}

fn started_of(db: &mut Db<'_>, org: &OrgId, id: &BenchmarkRunId) -> Result<Vec<TaskRunId>, AppError> {
    let run = active(db, org, id)?;
    let all = task_runs::of_run(db, &run.id)?;
    Ok(all.into_iter().filter(|task_run| task_run.phase == Phase::Started).map(|task_run| task_run.id).collect())
}

/// Puts the series of a completed run on the leaderboard: all scored runs of the version by its solver with its agent and
/// agent version, also those that are yet to come. Publishing twice is publishing once.
pub async fn publish(
    app: &App,
    grant: &OrgGrant,
    id: &BenchmarkRunId,
    once: Option<Once>,
) -> Result<Created<BenchmarkRun>, AppError> {
    let (org, id, now) = (grant.org.clone(), id.clone(), app.now());
    let work = move |db: &mut Db<'_>| {
        let run = found(db, &org, &id)?;
        check_publishable(&run)?;
        store::leaderboards::publish(db, &run, now)?;
        whole(db, &org, &id)
    };
    app.once(grant, once, Keep::Plain, work).await
}

fn check_publishable(run: &StoredRun) -> Result<(), AppError> {
    let reason = if run.status != Status::Completed {
        format!("the run is {}; only a completed one can stand on the leaderboard", run.status.name())
    } else if !run.scored {
        "the run was not scored: its agent could read details and evidence; make one with `scored: true`".to_owned()
    } else if run.partial_selection {
        "the run has only a selection of the benchmark's tasks; make one of all tasks".to_owned()
    } else if run.organization_writes {
        "the organization's key wrote into the sandboxes of the run; make one that only its agent works on".to_owned()
    } else if run.reference().is_none() {
        "the run is of a draft; publish the benchmark and run a version of it".to_owned()
    } else if run.solver.is_none() {
        "the run has no solver to stand for it".to_owned()
    } else {
        return Ok(());
    };
    Err(AppError::conflict(reason))
}

/// Takes the series of the run off the leaderboard, if it counts in one.
pub async fn unpublish(
    app: &App,
    grant: &OrgGrant,
    id: &BenchmarkRunId,
    once: Option<Once>,
) -> Result<Created<BenchmarkRun>, AppError> {
    let (org, id) = (grant.org.clone(), id.clone());
    let work = move |db: &mut Db<'_>| {
        let run = found(db, &org, &id)?;
        if run.published_at.is_some() {
            store::leaderboards::unpublish(db, &run)?;
        }
        whole(db, &org, &id)
    };
    app.once(grant, once, Keep::Plain, work).await
}

/// Records everywhere what is past its time. Called now and then by whoever runs the server.
pub async fn sweep(app: &App) -> Result<(), AppError> {
    end::sweep(app).await
}

pub(crate) fn found(db: &mut Db<'_>, org: &OrgId, id: &BenchmarkRunId) -> Result<StoredRun, AppError> {
    store::runs::find(db, org, id)?.ok_or(AppError::missing::<BenchmarkRunId>())
}

fn active(db: &mut Db<'_>, org: &OrgId, id: &BenchmarkRunId) -> Result<StoredRun, AppError> {
    let run = found(db, org, id)?;
    if run.status != Status::Active {
        let (status, message) = (run.status.name(), "only an active run can be ended");
        return Err(AppError::conflict(format!("the run is {status}; {message}")));
    }
    Ok(run)
}
