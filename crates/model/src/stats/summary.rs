//! The statistics of one group of runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::attempts::{Attempts, PassAt, PassHat, mean_over_tasks};
use super::interval::{Interval, PassRate};
use super::sample::Sample;
use super::{RunSample, TaskSample};
use crate::audit::Bounds;
use crate::score::{Score, Verdict};
use crate::{BenchmarkRunId, SolverId, TaskId};

/// Statistics of finished runs of one benchmark version.
///
/// Sums are exact and rounded once, at the end. The intervals take the tasks as given: they estimate the mean of many
/// more runs of these tasks, not of other tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Statistics {
    /// The engine of all results; null if there are none.
    #[serde(default)]
    pub engine: Option<String>,
    /// The number of runs left out because this engine has not scored them.
    #[serde(default)]
    pub other_engines: u64,
    /// The number of runs.
    pub n: u64,
    /// The number of runs left out of `n` because some of their tasks were not measured (failed to start or cancelled).
    #[serde(default)]
    pub incomplete_runs: u64,
    /// The number of task runs left out for the same reason. The other tasks of those runs count in `tasks`, `pass_at`
    /// and `pass_hat`.
    #[serde(default)]
    pub excluded_task_runs: u64,
    /// The statistics of each agent, if the runs are of several agents. Agents are never mixed, so all other fields
    /// except the counts of runs are then null or empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(no_recursion)]
    pub agents: Vec<AgentStatistics>,
    /// Σ score ÷ n over the runs; null if n is 0.
    pub mean: Option<f64>,
    /// The score of an agent that does nothing; null if the versions of the runs were not audited or have different
    /// bounds.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: Option<f64>,
    /// The score of the reference agent; null if the versions of the runs were not audited or have different bounds.
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
    /// The sample standard deviation of the runs' scores, √(Σ(score − mean)² ÷ (n − 1)); null if n is below 2.
    pub stdev: Option<f64>,
    /// The 95 % interval of the mean by Student's t with n − 1 degrees of freedom; null if n is below 2.
    pub interval: Option<Interval>,
    /// The share of runs that passed as a whole.
    pub pass_rate: PassRate,
    /// The number of failed critical criteria in all runs.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
    /// The number of runs in which at least one critical criterion failed.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub runs_with_critical_failures: i64,
    /// pass@k, the mean over the tasks, for each k from 1 to 10 for which every task has at least k runs.
    pub pass_at: Vec<PassAt>,
    /// pass^k, the mean over the tasks, for the same k.
    pub pass_hat: Vec<PassHat>,
    /// Statistics of each task, by id.
    pub tasks: Vec<TaskStatistics>,
    /// Statistics of each axis over the runs that have it, by name.
    pub axes: BTreeMap<String, AxisStatistics>,
}

/// Statistics of one agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentStatistics {
    pub solver_id: Option<SolverId>,
    pub agent: Option<String>,
    pub agent_version: Option<String>,
    pub statistics: Statistics,
}

/// A finished run with its agent.
#[derive(Clone, Debug)]
pub struct AgentSample {
    pub solver: Option<SolverId>,
    pub agent: Option<String>,
    pub agent_version: Option<String>,
    pub run: RunSample,
}

/// Statistics of one task over the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskStatistics {
    pub task: TaskId,
    /// The name in the newest run.
    pub name: String,
    /// The number of runs.
    pub n: u64,
    /// Σ score ÷ n.
    pub mean: Option<f64>,
    /// The sample standard deviation, √(Σ(score − mean)² ÷ (n − 1)); null if n is below 2.
    pub stdev: Option<f64>,
    /// The 95 % interval of the mean by Student's t with n − 1 degrees of freedom; null if n is below 2.
    pub interval: Option<Interval>,
    pub pass_rate: PassRate,
    /// The number of failed critical criteria in all runs.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
    /// pass@k for each k from 1 to n, at most 10.
    pub pass_at: Vec<PassAt>,
    /// pass^k for the same k.
    pub pass_hat: Vec<PassHat>,
}

/// Statistics of one axis over the runs that have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AxisStatistics {
    /// The number of runs.
    pub n: u64,
    /// Σ score ÷ n.
    pub mean: Option<f64>,
    /// The sample standard deviation, √(Σ(score − mean)² ÷ (n − 1)); null if n is below 2.
    pub stdev: Option<f64>,
    /// The 95 % interval of the mean by Student's t with n − 1 degrees of freedom; null if n is below 2.
    pub interval: Option<Interval>,
}

/// Computes the statistics of runs of one agent. Duplicate runs count once.
pub fn statistics(runs: &[RunSample]) -> Statistics {
    let runs = distinct(runs);
    let tasks = by_task(&runs);
    let attempts: Vec<Attempts> = tasks.values().map(TaskRuns::attempts).collect();
    let complete = complete(&runs);
    let scores = sample(complete.values().map(|run| &run.score));
    let passes = complete.values().filter(|run| run.score.verdict() == Verdict::Pass).count();
    let (pass_at, pass_hat) = mean_over_tasks(&attempts);
    let bounds = common_bounds(runs.values().map(|run| run.bounds));
    Statistics {
        engine: None,
        other_engines: 0,
        n: scores.n,
        incomplete_runs: (runs.len() - complete.len()) as u64,
        excluded_task_runs: runs.values().map(|run| run.unmeasured).sum(),
        agents: Vec::new(),
        mean: scores.mean(),
        floor: bounds.floor,
        ceiling: bounds.ceiling,
        stdev: scores.stdev(),
        interval: Interval::of_mean(&scores),
        pass_rate: PassRate::of(passes as u64, scores.n),
        critical_failures: runs.values().map(|run| run.critical_failures).sum(),
        runs_with_critical_failures: runs.values().filter(|run| run.critical_failures > 0).count() as i64,
        pass_at,
        pass_hat,
        tasks: tasks.iter().map(|(task, samples)| task_statistics(task, samples)).collect(),
        axes: by_axis(&complete).into_iter().map(|(name, scores)| (name.clone(), axis_statistics(&scores))).collect(),
    }
}

/// Computes the statistics of runs of one or more agents. Agents are never mixed.
pub fn per_agent(samples: Vec<AgentSample>) -> Statistics {
    let mut groups: BTreeMap<_, Vec<RunSample>> = BTreeMap::new();
    for AgentSample { solver, agent, agent_version, run } in samples {
        groups.entry((solver, agent, agent_version)).or_default().push(run);
    }
    if groups.len() < 2 {
        return statistics(&groups.into_values().next().unwrap_or_default());
    }
    let agents = groups.into_iter().map(|((solver_id, agent, agent_version), runs)| AgentStatistics {
        solver_id,
        agent,
        agent_version,
        statistics: statistics(&runs),
    });
    let agents: Vec<AgentStatistics> = agents.collect();
    let sum = |count: fn(&Statistics) -> u64| agents.iter().map(|agent| count(&agent.statistics)).sum();
    Statistics {
        n: sum(|statistics| statistics.n),
        incomplete_runs: sum(|statistics| statistics.incomplete_runs),
        excluded_task_runs: sum(|statistics| statistics.excluded_task_runs),
        agents,
        ..statistics(&[])
    }
}

/// The bounds, if they are equal in all runs.
fn common_bounds(mut bounds: impl Iterator<Item = Bounds>) -> Bounds {
    let first = bounds.next().unwrap_or_default();
    if bounds.all(|other| other == first) { first } else { Bounds::default() }
}

fn task_statistics(task: &TaskId, runs: &TaskRuns) -> TaskStatistics {
    let scores = runs.scores();
    let attempts = runs.attempts();
    let (pass_at, pass_hat) = attempts.estimates();
    TaskStatistics {
        task: task.clone(),
        name: runs.name().to_owned(),
        n: scores.n,
        mean: scores.mean(),
        stdev: scores.stdev(),
        interval: Interval::of_mean(&scores),
        pass_rate: PassRate::of(attempts.passes, attempts.n),
        critical_failures: runs.0.iter().map(|task| task.critical_failures).sum(),
        pass_at,
        pass_hat,
    }
}

fn axis_statistics(scores: &Sample) -> AxisStatistics {
    AxisStatistics { n: scores.n, mean: scores.mean(), stdev: scores.stdev(), interval: Interval::of_mean(scores) }
}

/// Runs by id, without duplicates.
pub(super) type Runs<'a> = BTreeMap<&'a BenchmarkRunId, &'a RunSample>;

/// The runs whose tasks were all measured. The score and axes of the others also depend on the missing tasks.
pub(super) fn complete<'a>(runs: &Runs<'a>) -> Runs<'a> {
    runs.iter().filter(|(_, run)| run.unmeasured == 0).map(|(id, run)| (*id, *run)).collect()
}

pub(super) fn distinct(runs: &[RunSample]) -> Runs<'_> {
    runs.iter().map(|run| (&run.run, run)).collect()
}

/// The results of one task in all runs that have it, oldest run first.
#[derive(Default)]
pub(super) struct TaskRuns<'a>(Vec<&'a TaskSample>);

impl TaskRuns<'_> {
    pub(super) fn name(&self) -> &str {
        self.0.last().map_or("", |newest| &newest.name)
    }

    pub(super) fn scores(&self) -> Sample {
        sample(self.0.iter().map(|task| &task.score))
    }

    pub(super) fn attempts(&self) -> Attempts {
        let passes = self.0.iter().filter(|task| task.verdict == Verdict::Pass).count();
        Attempts { passes: passes as u64, n: self.0.len() as u64 }
    }
}

pub(super) fn by_task<'a>(runs: &Runs<'a>) -> BTreeMap<&'a TaskId, TaskRuns<'a>> {
    let mut tasks: BTreeMap<&TaskId, TaskRuns> = BTreeMap::new();
    for task in runs.values().flat_map(|run| &run.tasks) {
        tasks.entry(&task.task).or_default().0.push(task);
    }
    tasks
}

pub(super) fn by_axis<'a>(runs: &Runs<'a>) -> BTreeMap<&'a String, Sample> {
    let mut axes: BTreeMap<&String, Vec<&Score>> = BTreeMap::new();
    for (name, axis) in runs.values().flat_map(|run| &run.axes) {
        axes.entry(name).or_default().push(&axis.score);
    }
    axes.into_iter().map(|(name, scores)| (name, sample(scores))).collect()
}

fn sample<'a>(scores: impl IntoIterator<Item = &'a Score>) -> Sample {
    Sample::of(scores.into_iter().map(Score::exact))
}
