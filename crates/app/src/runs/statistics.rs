//! Statistics over the runs of a version, and comparisons of runs.

use std::collections::{BTreeMap, BTreeSet};

use model::run::{MOST_COMPARED, RunFilter, Status};
use model::slug::VersionRef;
use model::stats::{self, AgentSample, Comparison, RunSample, Statistics, TaskSample};
use model::{BenchmarkId, BenchmarkRunId, FieldErrors, OrgId};
use store::runs::StoredRun;
use store::task_runs::StoredTaskRun;
use store::{Db, versions};

use super::engines::{self, Selected};
use super::find_run;
use crate::{App, AppError, OrgGrant};

/// Only this many of the newest runs count.
const MAX_RUNS: i64 = 1000;

/// The groups of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    #[default]
    Run,
    Agent,
    Solver,
}

/// Which runs are compared.
#[derive(Clone, Debug)]
pub enum Compared {
    Runs(Vec<BenchmarkRunId>),
    Version(VersionRef),
}

/// Over the organization's completed runs of a version.
pub async fn of_version(
    app: &App,
    grant: &OrgGrant,
    reference: &VersionRef,
    filter: RunFilter,
    engine: Option<String>,
) -> Result<Statistics, AppError> {
    let (org, reference) = (grant.org.clone(), reference.clone());
    let read = move |db: &mut Db<'_>| {
        versions::find_heading(db, Some(&org), &reference)?.ok_or(AppError::missing::<BenchmarkId>())?;
        let runs = store::runs::completed(db, &org, &reference, &filter, MAX_RUNS)?;
        let selected = engines::select(db, runs, engine.as_deref(), |run| run)?;
        let mut samples = Vec::new();
        for run in &selected.runs {
            let task_runs = selected.task_runs(db, &run.id)?;
            samples.extend(sample(run, &task_runs).map(|sample| by_agent(run, sample)));
        }
        Ok::<_, AppError>((selected.engine, selected.other_engines, samples))
    };
    let (engine, other_engines, samples) = app.store().read(read).await?;
    let mut found = stats::per_agent(samples);
    found.agents.iter_mut().for_each(|one| one.statistics.engine.clone_from(&engine));
    Ok(Statistics { engine, other_engines, ..found })
}

pub async fn compare(
    app: &App,
    grant: &OrgGrant,
    compared: Compared,
    group_by: GroupBy,
    engine: Option<String>,
) -> Result<Comparison, AppError> {
    let org = grant.org.clone();
    let read = move |db: &mut Db<'_>| {
        let selected = match &compared {
            Compared::Runs(ids) => {
                let runs = named(db, &org, ids)?;
                engines::select_all(db, runs, engine.as_deref())?
            }
            Compared::Version(reference) => {
                versions::find_heading(db, Some(&org), reference)?.ok_or(AppError::missing::<BenchmarkId>())?;
                let runs = store::runs::completed(db, &org, reference, &RunFilter::default(), MOST_COMPARED as i64)?;
                engines::select(db, runs, engine.as_deref(), |run| run)?
            }
        };
        let labels = labels(&selected.runs, group_by);
        let samples = samples(db, &selected)?;
        Ok::<_, AppError>((labels, samples, selected.engine, selected.other_engines))
    };
    let (labels, samples, engine, other_engines) = app.store().read(read).await?;
    let mut comparison = stats::compare(&grouped(labels, samples));
    comparison.groups.iter_mut().for_each(|group| group.statistics.engine = engine.clone());
    Ok(Comparison { engine, other_engines, ..comparison })
}

fn named(db: &mut Db<'_>, org: &OrgId, ids: &[BenchmarkRunId]) -> Result<Vec<StoredRun>, AppError> {
    if ids.is_empty() || ids.len() > MOST_COMPARED {
        let rule = format!("must name 1 to {MOST_COMPARED} runs, separated by commas");
        return Err(FieldErrors::one("ids", rule).into());
    }
    let mut runs: Vec<StoredRun> = Vec::new();
    for id in ids {
        let run = find_run(db, org, id)?;
        if run.status != Status::Completed {
            return Err(AppError::conflict(format!("{id} is {}; only completed runs compare", run.status.name())));
        }
        if runs.iter().all(|known| known.id != run.id) {
            runs.push(run);
        }
    }
    Ok(runs)
}

fn by_agent(run: &StoredRun, sample: RunSample) -> AgentSample {
    let (solver, agent, agent_version) = (run.solver.clone(), run.agent.clone(), run.agent_version.clone());
    AgentSample { solver, agent, agent_version, run: sample }
}

/// The group of each run. A group never has runs of different agents: if a short label is ambiguous, a longer one is used.
fn labels(runs: &[StoredRun], group_by: GroupBy) -> Vec<String> {
    let identity = |run: &StoredRun| (run.solver.clone(), run.agent.clone(), run.agent_version.clone());
    let mut agents: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
    for run in runs {
        agents.entry(label(run, group_by)).or_default().insert(identity(run));
    }
    let of = |run: &StoredRun| {
        let short = label(run, group_by);
        if agents.get(&short).is_some_and(|agents| agents.len() > 1) { full_label(run) } else { short }
    };
    // Even full labels can be ambiguous: `none` can be the name of an agent.
    let mut owners: BTreeMap<String, Vec<_>> = BTreeMap::new();
    let distinct = |run: &StoredRun| {
        let (label, identity) = (of(run), identity(run));
        let known = owners.entry(label.clone()).or_default();
        let place = known.iter().position(|owner| *owner == identity).unwrap_or_else(|| {
            known.push(identity);
            known.len() - 1
        });
        if place == 0 { label } else { format!("{label} #{}", place + 1) }
    };
    runs.iter().map(distinct).collect()
}

/// `agent 1.2 (slv_…)`.
fn full_label(run: &StoredRun) -> String {
    let agent = run.agent.as_deref().unwrap_or("none");
    let version = run.agent_version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let solver = run.solver.as_ref().map(|solver| format!(" ({solver})")).unwrap_or_default();
    format!("{agent}{version}{solver}")
}

fn label(run: &StoredRun, group_by: GroupBy) -> String {
    let none = || "none".to_owned();
    match group_by {
        GroupBy::Run => run.id.to_string(),
        GroupBy::Agent => run.agent.clone().unwrap_or_else(none),
        GroupBy::Solver => run.solver.as_ref().map_or_else(none, ToString::to_string),
    }
}

/// In the order of the first occurrence of each label.
fn grouped(labels: Vec<String>, samples: Vec<RunSample>) -> Vec<(String, Vec<RunSample>)> {
    let mut groups: Vec<(String, Vec<RunSample>)> = Vec::new();
    for (label, sample) in labels.into_iter().zip(samples) {
        match groups.iter_mut().find(|(known, _)| *known == label) {
            Some((_, samples)) => samples.push(sample),
            None => groups.push((label, vec![sample])),
        }
    }
    groups
}

fn samples(db: &mut Db<'_>, selected: &Selected<StoredRun>) -> Result<Vec<RunSample>, AppError> {
    let mut samples = Vec::new();
    for run in &selected.runs {
        let task_runs = selected.task_runs(db, &run.id)?;
        samples.extend(sample(run, &task_runs));
    }
    Ok(samples)
}

fn sample(run: &StoredRun, task_runs: &[StoredTaskRun]) -> Option<RunSample> {
    let (score, axes) = run.result.clone()?;
    // Failed and cancelled tasks do not measure the agent. In a scored run, cancelled tasks count, because otherwise an
    // agent could cancel the tasks that it fails.
    let is_measured = |task_run: &&StoredTaskRun| match task_run.status {
        Status::Failed => false,
        Status::Cancelled => run.scored,
        _ => true,
    };
    let task = |task_run: &StoredTaskRun| {
        let (score, _) = task_run.result.as_ref()?;
        let (task, name) = (task_run.task.clone(), task_run.name.clone());
        let critical_failures = task_run.critical_failures;
        Some(TaskSample { task, name, score: score.clone(), verdict: score.verdict(), critical_failures })
    };
    let tasks: Vec<TaskSample> = task_runs.iter().filter(is_measured).filter_map(task).collect();
    let unmeasured = task_runs.iter().filter(|task_run| !is_measured(task_run)).count() as u64;
    let critical_failures = run.counts.critical_failures;
    Some(RunSample { run: run.id.clone(), score, axes, tasks, critical_failures, bounds: run.bounds(), unmeasured })
}
