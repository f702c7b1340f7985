//! Numbers over many runs: of one version, and of several side by side.

use model::run::{MOST_COMPARED, RunFilter, Status};
use model::slug::VersionRef;
use model::stats::{self, Comparison, RunSample, Statistics, TaskSample};
use model::{BenchmarkId, BenchmarkRunId, FieldErrors, OrgId};
use store::runs::StoredRun;
use store::task_runs::StoredTaskRun;
use store::{Db, versions};

use super::engines::{self, Selected};
use super::found;
use crate::{App, AppError, OrgGrant};

/// The newest so many runs count.
const MOST_RUNS: i64 = 1000;

/// What stands side by side.
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
        let runs = store::runs::completed(db, &org, &reference, &filter, MOST_RUNS)?;
        let selected = engines::select(db, runs, engine.as_deref(), |run| run)?;
        let samples = samples(db, &selected)?;
        Ok::<_, AppError>((selected.engine, selected.other_engines, samples))
    };
    let (engine, other_engines, samples) = app.store().read(read).await?;
    Ok(Statistics { engine, other_engines, ..stats::statistics(&samples) })
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
        let labels: Vec<String> = selected.runs.iter().map(|run| label(run, group_by)).collect();
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
        let run = found(db, org, id)?;
        if run.status != Status::Completed {
            return Err(AppError::conflict(format!("{id} is {}; only completed runs compare", run.status.name())));
        }
        if runs.iter().all(|known| known.id != run.id) {
            runs.push(run);
        }
    }
    Ok(runs)
}

fn label(run: &StoredRun, group_by: GroupBy) -> String {
    let none = || "none".to_owned();
    match group_by {
        GroupBy::Run => run.id.to_string(),
        GroupBy::Agent => run.agent.clone().unwrap_or_else(none),
        GroupBy::Solver => run.solver.as_ref().map_or_else(none, ToString::to_string),
    }
}

/// In the order in which labels first come.
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
    let task = |task_run: &StoredTaskRun| {
        let (score, _) = task_run.result.as_ref()?;
        let (task, name) = (task_run.task.clone(), task_run.name.clone());
        let critical_failures = task_run.critical_failures;
        Some(TaskSample { task, name, score: score.clone(), verdict: score.verdict(), critical_failures })
    };
    let tasks = task_runs.iter().filter_map(task).collect();
    let critical_failures = run.counts.critical_failures;
    Some(RunSample { run: run.id.clone(), score, axes, tasks, critical_failures, bounds: run.bounds() })
}
