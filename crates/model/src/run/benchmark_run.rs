//! A whole run of a benchmark.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

use super::{CriticalFailure, EngineScore, Phase, ShownAxes, Status, TaskRun};
use crate::score::Verdict;
use crate::{BenchmarkId, BenchmarkRunId, FieldErrors, OrgId, SolverId, TaskId, TaskRunId, Timestamp};

/// Runs that one comparison takes.
pub const MOST_COMPARED: usize = 100;

/// Tasks that one request can select.
const MOST_SELECTED: usize = 1000;

/// Tags that one request can select tasks by.
const MOST_TAGS: usize = 100;

/// Entries of a run's metadata.
const MOST_METADATA: usize = 50;

/// What the caller wants to remember about a run, such as the commit and the model.
pub type Metadata = BTreeMap<String, String>;

/// What a solver asks for.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSolverRun {
    /// `slug@version`.
    pub benchmark: String,
    /// Without details and evidence for the agent, with neutral task names in shuffled order, and fit for the leaderboard.
    #[serde(default)]
    pub scored: bool,
    /// Which agent, or which configuration of it: runs can be filtered and compared by this.
    #[schema(max_length = 200)]
    pub agent: Option<String>,
    /// Only these tasks, by id or name. The run is then a `partial_selection`, outside of leaderboards and statistics.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 1000)]
    pub tasks: Option<Vec<String>>,
    /// Only tasks with at least one of these tags; with `tasks`, only those of them. A `partial_selection` as well.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 100)]
    pub tags: Option<Vec<String>>,
    /// Returned with the run: at most 50 entries, names of 1 to 40 characters, values of at most 500.
    #[serde(default)]
    pub metadata: Option<BTreeMap<String, String>>,
}

/// What an organization asks for: one of `benchmark_id` and `benchmark`.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRun {
    /// A benchmark of the organization's own, as it is now, published or not.
    pub benchmark_id: Option<BenchmarkId>,
    /// `slug@version`.
    pub benchmark: Option<String>,
    #[serde(default)]
    pub scored: bool,
    #[schema(max_length = 200)]
    pub agent: Option<String>,
    /// The solver that it is run for.
    pub solver_id: Option<SolverId>,
    /// Only these tasks, by id or name. The run is then a `partial_selection`, outside of leaderboards and statistics.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 1000)]
    pub tasks: Option<Vec<String>>,
    /// Only tasks with at least one of these tags; with `tasks`, only those of them. A `partial_selection` as well.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 100)]
    pub tags: Option<Vec<String>>,
    /// Returned with the run: at most 50 entries, names of 1 to 40 characters, values of at most 500.
    #[serde(default)]
    pub metadata: Option<BTreeMap<String, String>>,
}

impl NewRun {
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        if self.benchmark_id.is_some() == self.benchmark.is_some() {
            errors.add("benchmark", "name the benchmark by one of `benchmark_id` and `benchmark`");
        }
        check_agent(self.agent.as_deref(), &mut errors);
        check_tasks(self.tasks.as_deref(), &mut errors);
        check_tags(self.tags.as_deref(), &mut errors);
        check_metadata(self.metadata.as_ref(), &mut errors);
        errors.into_result()
    }
}

impl NewSolverRun {
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        check_agent(self.agent.as_deref(), &mut errors);
        check_tasks(self.tasks.as_deref(), &mut errors);
        check_tags(self.tags.as_deref(), &mut errors);
        check_metadata(self.metadata.as_ref(), &mut errors);
        errors.into_result()
    }
}

fn check_agent(agent: Option<&str>, errors: &mut FieldErrors) {
    if let Some(agent) = agent {
        errors.length("agent", agent, 1..=200);
    }
}

fn check_tasks(tasks: Option<&[String]>, errors: &mut FieldErrors) {
    if let Some(tasks) = tasks.filter(|tasks| tasks.is_empty() || tasks.len() > MOST_SELECTED) {
        errors.add("tasks", format!("must name 1 to {MOST_SELECTED} tasks, got {}", tasks.len()));
    }
}

fn check_tags(tags: Option<&[String]>, errors: &mut FieldErrors) {
    if let Some(tags) = tags.filter(|tags| tags.is_empty() || tags.len() > MOST_TAGS) {
        errors.add("tags", format!("must name 1 to {MOST_TAGS} tags, got {}", tags.len()));
    }
}

fn check_metadata(metadata: Option<&Metadata>, errors: &mut FieldErrors) {
    let Some(metadata) = metadata else { return };
    if metadata.len() > MOST_METADATA {
        errors.add("metadata", format!("must have at most {MOST_METADATA} entries, got {}", metadata.len()));
        return;
    }
    for (name, value) in metadata {
        if !(1..=40).contains(&name.chars().count()) {
            let shown = crate::reading::shortened(name, 100);
            errors.add("metadata", format!("names must have 1 to 40 characters, got {shown:?}"));
        }
        errors.length(&format!("metadata.{}", crate::reading::shortened(name, 100)), value, 0..=500);
    }
}

/// Which benchmark is run. A draft has neither slug nor version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunBenchmark {
    pub id: BenchmarkId,
    pub slug: Option<String>,
    pub version: Option<i64>,
    pub name: String,
}

/// The answer to a creation: the only place where the run's token stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CreatedRun {
    /// The same as `benchmark_run_id`.
    pub id: BenchmarkRunId,
    pub benchmark_run_id: BenchmarkRunId,
    /// The same as `benchmark.id`.
    pub benchmark_id: BenchmarkId,
    pub benchmark: RunBenchmark,
    pub scored: bool,
    /// The run has only the tasks that were asked for, and is outside of leaderboards and statistics.
    #[serde(default)]
    pub partial_selection: bool,
    pub phase: Phase,
    pub status: Status,
    pub agent: Option<String>,
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// For everything below `/v1` that belongs to this run.
    pub bearer_token: String,
    pub bearer_token_expires_at: Timestamp,
    /// How many task runs may be started at a time.
    pub concurrency: i64,
    /// Paths of the started task's sandboxes, by channel: what the environment has.
    pub endpoints: BTreeMap<String, String>,
    pub task_runs: Vec<RunTask>,
}

/// A run as its run token and its solver see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunSummary {
    /// The same as `benchmark_run_id`.
    pub id: BenchmarkRunId,
    pub benchmark_run_id: BenchmarkRunId,
    /// The same as `benchmark.id`.
    pub benchmark_id: BenchmarkId,
    pub benchmark: RunBenchmark,
    pub scored: bool,
    /// The run has only the tasks that were asked for, and is outside of leaderboards and statistics.
    #[serde(default)]
    pub partial_selection: bool,
    pub phase: Phase,
    pub status: Status,
    /// Null until it is completed; stays null when it is cancelled.
    pub verdict: Option<Verdict>,
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    pub score: Option<Number>,
    /// How many critical criteria failed in its scored tasks.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
    /// How many tasks have the verdict `pass`.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub tasks_passed: i64,
    /// In how many tasks every criterion passed.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub clean_tasks: i64,
    /// What an agent has for doing nothing, and what the reference agent has: beside a score, if the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: Option<f64>,
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
    pub axes: ShownAxes,
    pub agent: Option<String>,
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub bearer_token_expires_at: Timestamp,
    pub concurrency: i64,
    pub endpoints: BTreeMap<String, String>,
    pub task_runs: Vec<RunTask>,
}

/// A task of the run, in the list of them. Agents of a scored run see an id that belongs to this run alone and a neutral
/// name; when the run has ended, its solver key reads the real ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunTask {
    pub id: TaskRunId,
    pub task_id: TaskId,
    pub name: String,
    pub phase: Phase,
    pub status: Status,
    pub verdict: Option<Verdict>,
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    pub score: Option<Number>,
    /// How many critical criteria failed.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
    /// What an agent has for doing nothing, and what the reference agent has: beside a score, if the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: Option<f64>,
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
    pub started_at: Option<Timestamp>,
    pub deadline_at: Option<Timestamp>,
    /// When its completion was taken: it cannot time out any more, and is scored soon if it is not yet.
    #[serde(default)]
    pub sealed_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub start_url: String,
    pub complete_url: String,
}

/// A run as its organization sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BenchmarkRun {
    pub id: BenchmarkRunId,
    /// The same as `id`.
    pub benchmark_run_id: BenchmarkRunId,
    pub organization_id: OrgId,
    /// The same as `benchmark.id`.
    pub benchmark_id: BenchmarkId,
    pub benchmark: RunBenchmark,
    pub solver_id: Option<SolverId>,
    pub agent: Option<String>,
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    pub scored: bool,
    /// The run has only the tasks that were asked for, and is outside of leaderboards and statistics.
    #[serde(default)]
    pub partial_selection: bool,
    /// The organization's key wrote into the sandboxes of a task: the run cannot be published, and counts 0 in its series.
    #[serde(default)]
    pub organization_writes: bool,
    /// Of a scored run: its tasks are in the order of SHA-256 over `{order_seed}:{task_id}`.
    #[serde(default)]
    pub order_seed: Option<i64>,
    pub phase: Phase,
    pub status: Status,
    pub verdict: Option<Verdict>,
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    pub score: Option<Number>,
    /// How many critical criteria failed in its scored tasks.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
    /// How many tasks have the verdict `pass`.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub tasks_passed: i64,
    /// In how many tasks every criterion passed.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub clean_tasks: i64,
    /// The critical criteria that failed, at most 100.
    #[serde(default)]
    pub critical_criteria: Vec<CriticalFailure>,
    /// What an agent has for doing nothing, and what the reference agent has: beside a score, if the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: Option<f64>,
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
    pub axes: ShownAxes,
    /// How many tasks it has, and how many of them are completed.
    pub tasks: i64,
    pub tasks_completed: i64,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub bearer_token_expires_at: Timestamp,
    /// Since when its series (solver, agent and agent version) is on the leaderboard.
    pub published_at: Option<Timestamp>,
    /// The engine that scored it; null until it has ended, and when several engines scored its tasks.
    #[serde(default)]
    pub engine: Option<String>,
    /// What each engine made of it, the result that it ended with first. Only where one run is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub results: Option<Vec<EngineScore>>,
    /// Only where one run is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub task_runs: Option<Vec<TaskRun>>,
}

/// Which runs a list shows.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    pub benchmark_id: Option<BenchmarkId>,
    pub solver_id: Option<SolverId>,
    pub agent: Option<String>,
    pub status: Option<Status>,
}
