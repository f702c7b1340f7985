//! Leaderboards: published series of scored runs, ranked by their mean.
//!
//! All runs of a series count: every scored run of the version by the same solver, agent and agent version, as soon as no
//! agent can work on it any more. Unfinished tasks then count as 0, and so do runs whose sandboxes a key of the organization
//! wrote to. If those were left out, the organization could remove bad runs from the mean by writing to them.

use std::collections::BTreeMap;

use model::audit::Bounds;
use model::run::{BenchmarkRun, Leaderboard, LeaderboardEntry, LeaderboardSolver, RunBenchmark, Status};
use model::score::{self, Axes, AxisScore, Score};
use model::slug::VersionRef;
use model::stats::{self, RunSample, TaskSample};
use model::{BenchmarkId, BenchmarkRunId, SolverId};
use store::leaderboards::{self as stored, CountedRun, CountedTask};
use store::runs::StoredRun;
use store::{Db, versions};

use super::engines::{self, Selected};
use super::{find_run, views};
use crate::idempotency::ResponseStorage;
use crate::{App, AppError, Created, Once, OrgGrant, Principal};

/// Puts the series of a completed run on the leaderboard: all scored runs of the version by its solver with its agent and
/// agent version, including later ones. Publishing it again changes nothing.
pub async fn publish_run(
    app: &App,
    grant: &OrgGrant,
    id: &BenchmarkRunId,
    once: Option<Once>,
) -> Result<Created<BenchmarkRun>, AppError> {
    let (org, id, now) = (grant.org.clone(), id.clone(), app.now());
    let work = move |db: &mut Db<'_>| {
        let run = find_run(db, &org, &id)?;
        check_publishable(&run)?;
        store::leaderboards::publish(db, &run, now)?;
        views::full_run(db, &org, &id)
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
}

fn check_publishable(run: &StoredRun) -> Result<(), AppError> {
    let reason = if run.status != Status::Completed {
        format!("the run is {}; only completed runs can be published", run.status.name())
    } else if !run.scored {
        "the run was not scored: its agent could read details and evidence; create one with `scored: true`".to_owned()
    } else if run.partial_selection {
        "the run has only a selection of the benchmark's tasks; create one with all tasks".to_owned()
    } else if run.organization_writes {
        "the organization's key wrote to the sandboxes of the run; create one that only its agent works on".to_owned()
    } else if run.reference().is_none() {
        "the run is of a draft; publish the benchmark and run a version of it".to_owned()
    } else if run.solver.is_none() {
        "the run has no solver".to_owned()
    } else {
        return Ok(());
    };
    Err(AppError::conflict(reason))
}

/// Removes the series of the run from the leaderboard, if it is published.
pub async fn unpublish_run(
    app: &App,
    grant: &OrgGrant,
    id: &BenchmarkRunId,
    once: Option<Once>,
) -> Result<Created<BenchmarkRun>, AppError> {
    let (org, id) = (grant.org.clone(), id.clone());
    let work = move |db: &mut Db<'_>| {
        let run = find_run(db, &org, &id)?;
        if run.published_at.is_some() {
            store::leaderboards::unpublish(db, &run)?;
        }
        views::full_run(db, &org, &id)
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
}

/// Anyone can read the leaderboard of a public benchmark. Others are only visible to the organization that owns them.
pub async fn leaderboard(
    app: &App,
    reader: Option<&Principal>,
    reference: &VersionRef,
    engine: Option<String>,
) -> Result<Leaderboard, AppError> {
    let org = reader.map(|reader| reader.org().clone());
    let (reference, now) = (reference.clone(), app.now());
    let read = move |db: &mut Db<'_>| {
        let version = versions::find_heading(db, org.as_ref(), &reference)?.ok_or(AppError::missing::<BenchmarkId>())?;
        let mut tasks = stored::counted_tasks(db, &reference, now)?;
        let runs = stored::counted_runs(db, &reference, now)?;
        let selected = of_engine(db, runs, &mut tasks, engine.as_deref())?;
        let runs_by_solver = stored::runs_by_solver(db, &reference, now)?;
        let counted = Counted { runs: selected.runs, tasks, runs_by_solver };
        let benchmark = RunBenchmark {
            id: version.benchmark,
            slug: Some(reference.slug.clone()),
            version: Some(reference.version),
            name: version.name,
        };
        let bounds = version.audit.map(|audit| audit.bounds()).unwrap_or_default();
        Ok::<_, AppError>((benchmark, bounds, counted, (selected.engine, selected.other_engines)))
    };
    let (benchmark, Bounds { floor, ceiling }, counted, (engine, other_engines)) = app.store().read(read).await?;
    Ok(Leaderboard { benchmark, floor, ceiling, engine, other_engines, entries: entries(counted) })
}

/// The runs with the results of one engine. A run that never ended has no result of any engine and counts, unless another
/// engine scored some of its tasks.
fn of_engine(
    db: &mut Db<'_>,
    runs: Vec<CountedRun>,
    tasks: &mut BTreeMap<BenchmarkRunId, Vec<CountedTask>>,
    wanted: Option<&str>,
) -> Result<Selected<CountedRun>, AppError> {
    let (ended, unfinished): (Vec<CountedRun>, Vec<CountedRun>) =
        runs.into_iter().partition(|counted| counted.run.status == Status::Completed);
    let mut selected = engines::select(db, ended, wanted, |counted| &mut counted.run)?;
    for counted in &selected.runs {
        if selected.is_rescored(&counted.run.id) {
            let of_engine = selected.task_runs(db, &counted.run.id)?;
            for task in tasks.get_mut(&counted.run.id).into_iter().flatten() {
                let scored = of_engine.iter().find(|one| one.task == task.task);
                task.result = scored.and_then(|one| one.result.clone());
            }
        }
    }
    for counted in unfinished {
        let scored = tasks.get(&counted.run.id).into_iter().flatten();
        let mut engines = scored.filter_map(|task| task.engine.as_ref());
        let engine = selected.engine.clone();
        if engine.is_none() || engines.all(|other| Some(other) == engine.as_ref()) {
            selected.runs.push(counted);
        } else {
            selected.other_engines += 1;
        }
    }
    Ok(selected)
}

/// The data of one leaderboard.
struct Counted {
    runs: Vec<CountedRun>,
    tasks: BTreeMap<BenchmarkRunId, Vec<CountedTask>>,
    runs_by_solver: BTreeMap<SolverId, u64>,
}

/// Identifies a series: every counted run has a solver, whose series differ by agent and agent version.
type SeriesKey = (Option<SolverId>, Option<String>, Option<String>);

fn entries(counted: Counted) -> Vec<LeaderboardEntry> {
    let Counted { runs, mut tasks, runs_by_solver } = counted;
    let mut series: BTreeMap<SeriesKey, (LeaderboardSolver, Vec<(StoredRun, RunSample)>)> = BTreeMap::new();
    for CountedRun { run, alias, organization, agent_description } in runs {
        let sample = sample(&run, tasks.remove(&run.id).unwrap_or_default());
        let key = (run.solver.clone(), run.agent.clone(), run.agent_version.clone());
        let agent_version = run.agent_version.clone();
        let solver = LeaderboardSolver { alias, organization, agent_description, agent_version };
        series.entry(key).or_insert_with(|| (solver, Vec::new())).1.push((run, sample));
    }
    let made = |((solver_id, agent, _), (solver, runs)): (SeriesKey, (LeaderboardSolver, Vec<_>))| {
        let solver_runs = solver_id.and_then(|id| runs_by_solver.get(&id).copied()).unwrap_or_default();
        Some(LeaderboardEntry { agent, solver_runs, ..entry(solver, runs)? })
    };
    let mut entries: Vec<LeaderboardEntry> = series.into_iter().filter_map(made).collect();
    entries.sort_by(|left, right| {
        let by_score = right.mean.total_cmp(&left.mean).then(right.best.total_cmp(&left.best));
        by_score.then_with(|| (&left.solver, &left.agent).cmp(&(&right.solver, &right.agent)))
    });
    for place in 0..entries.len() {
        let is_tied = place > 0 && entries[place].mean == entries[place - 1].mean;
        entries[place].rank = if is_tied { entries[place - 1].rank } else { place as u64 + 1 };
    }
    entries
}

fn entry(solver: LeaderboardSolver, counted: Vec<(StoredRun, RunSample)>) -> Option<LeaderboardEntry> {
    let (runs, samples): (Vec<StoredRun>, Vec<RunSample>) = counted.into_iter().unzip();
    let numbers = stats::statistics(&samples);
    let best = samples.iter().map(|sample| &sample.score).max()?;
    let unfinished = runs.iter().filter(|run| run.status != Status::Completed).count();
    let ended = || runs.iter().map(|run| run.completed_at.unwrap_or(run.token_expires_at));
    let axes = numbers.axes.into_iter().filter_map(|(name, axis)| Some((name, axis.mean?)));
    Some(LeaderboardEntry {
        rank: 0,
        solver,
        agent: None,
        runs: numbers.n,
        unfinished_runs: unfinished as u64,
        solver_runs: 0,
        best: best.to_f64(),
        mean: numbers.mean?,
        interval: numbers.interval,
        critical_failures: numbers.critical_failures,
        pass_hat: numbers.pass_hat,
        axes: axes.collect(),
        first_run_at: ended().min()?,
        last_run_at: ended().max()?,
    })
}

/// The score of a run on the leaderboard.
fn sample(run: &StoredRun, tasks: Vec<CountedTask>) -> RunSample {
    let results: Vec<(Score, Axes)> = tasks.iter().map(|task| counted(run, task.result.clone())).collect();
    // A completed run has a score. For other runs it is computed in the same way from the tasks that have ended.
    let (score, axes) = match &run.result {
        Some(result) => counted(run, Some(result.clone())),
        None => score::run(&results),
    };
    let task_sample = |(task, (score, _)): (CountedTask, (Score, Axes))| {
        let verdict = score.verdict();
        let critical_failures = task.critical_failures;
        TaskSample { task: task.task, name: task.name, score, verdict, critical_failures }
    };
    let tasks = tasks.into_iter().zip(results).map(task_sample).collect();
    let critical_failures = run.counts.critical_failures;
    RunSample { run: run.id.clone(), score, axes, tasks, critical_failures, bounds: run.bounds(), unmeasured: 0 }
}

/// Nothing that is unfinished, and nothing of a run that the organization's key wrote into.
fn counted(run: &StoredRun, result: Option<(Score, Axes)>) -> (Score, Axes) {
    match result {
        None => (Score::zero(), Axes::new()),
        Some((_, axes)) if run.organization_writes => {
            let zero = |(name, axis): (String, AxisScore)| (name, AxisScore { score: Score::zero(), ..axis });
            (Score::zero(), axes.into_iter().map(zero).collect())
        }
        Some(result) => result,
    }
}
