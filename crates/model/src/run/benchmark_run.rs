//! Runs of a benchmark, in the views of their organization, solver and run token.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

use super::{CriticalFailure, EngineScore, Phase, ShownAxes, Status, TaskRun};
use crate::score::Verdict;
use crate::simulator::SimulatorType;
use crate::{
    BenchmarkId, BenchmarkRunId, FieldErrors, OrgId, PlaygroundId, SandboxId, SolverId, TaskId, TaskRunId, Timestamp,
};

/// The maximum number of runs in one comparison.
pub const MOST_COMPARED: usize = 100;

/// The maximum number of tasks that one request can select.
const MAX_SELECTED_TASKS: usize = 1000;

/// The maximum number of tags that one request can select tasks by.
const MAX_TAGS: usize = 100;

/// The maximum number of metadata entries of a run.
const MAX_METADATA_ENTRIES: usize = 50;

/// The caller's notes about a run, such as the commit and the model.
pub type Metadata = BTreeMap<String, String>;

/// A run to create, by a solver.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSolverRun {
    /// `slug@version`.
    pub benchmark: String,
    /// A scored run counts for the leaderboard. Its tasks have neutral names and a shuffled order, and the agent sees
    /// no details and no evidence.
    #[serde(default)]
    pub scored: bool,
    /// The name of the agent or of its configuration. Runs can be filtered and compared by it.
    #[schema(max_length = 200)]
    pub agent: Option<String>,
    /// Run only these tasks, by id or name. The run is then a `partial_selection`, excluded from leaderboards and
    /// statistics.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 1000)]
    pub tasks: Option<Vec<String>>,
    /// Run only tasks with at least one of these tags; combined with `tasks`, only those that match both. This also
    /// makes the run a `partial_selection`.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 100)]
    pub tags: Option<Vec<String>>,
    /// Free-form metadata, returned with the run: at most 50 entries, names of 1 to 40 characters, values of at most
    /// 500.
    #[serde(default)]
    pub metadata: Option<BTreeMap<String, String>>,
}

/// A run to create, by an organization. Exactly one of `benchmark_id` and `benchmark` is required.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRun {
    /// A benchmark of the organization in its current state, published or not.
    pub benchmark_id: Option<BenchmarkId>,
    /// `slug@version`.
    pub benchmark: Option<String>,
    #[serde(default)]
    pub scored: bool,
    #[schema(max_length = 200)]
    pub agent: Option<String>,
    /// The solver that the run belongs to.
    pub solver_id: Option<SolverId>,
    /// Run only these tasks, by id or name. The run is then a `partial_selection`, excluded from leaderboards and
    /// statistics.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 1000)]
    pub tasks: Option<Vec<String>>,
    /// Run only tasks with at least one of these tags; combined with `tasks`, only those that match both. This also
    /// makes the run a `partial_selection`.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 100)]
    pub tags: Option<Vec<String>>,
    /// Free-form metadata, returned with the run: at most 50 entries, names of 1 to 40 characters, values of at most
    /// 500.
    #[serde(default)]
    pub metadata: Option<BTreeMap<String, String>>,
}

impl NewRun {
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        if self.benchmark_id.is_some() == self.benchmark.is_some() {
            errors.add("benchmark", "exactly one of `benchmark_id` and `benchmark` is required");
        }
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
    if let Some(tasks) = tasks.filter(|tasks| tasks.is_empty() || tasks.len() > MAX_SELECTED_TASKS) {
        errors.add("tasks", format!("must name 1 to {MAX_SELECTED_TASKS} tasks, got {}", tasks.len()));
    }
}

fn check_tags(tags: Option<&[String]>, errors: &mut FieldErrors) {
    if let Some(tags) = tags.filter(|tags| tags.is_empty() || tags.len() > MAX_TAGS) {
        errors.add("tags", format!("must name 1 to {MAX_TAGS} tags, got {}", tags.len()));
    }
}

fn check_metadata(metadata: Option<&Metadata>, errors: &mut FieldErrors) {
    let Some(metadata) = metadata else { return };
    if metadata.len() > MAX_METADATA_ENTRIES {
        errors.add("metadata", format!("must have at most {MAX_METADATA_ENTRIES} entries, got {}", metadata.len()));
        return;
    }
    for (name, value) in metadata {
        if !(1..=40).contains(&name.chars().count()) {
            let excerpt = crate::reading::shortened(name, 100);
            errors.add("metadata", format!("names must have 1 to 40 characters, got {excerpt:?}"));
        }
        errors.length(&format!("metadata.{}", crate::reading::shortened(name, 100)), value, 0..=500);
    }
}

/// The benchmark of a run. A draft has neither slug nor version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunBenchmark {
    pub id: BenchmarkId,
    pub slug: Option<String>,
    pub version: Option<i64>,
    pub name: String,
}

/// The response to the creation of a run. It is the only response with the run token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CreatedRun {
    /// Alias of `benchmark_run_id`.
    pub id: BenchmarkRunId,
    pub benchmark_run_id: BenchmarkRunId,
    /// Alias of `benchmark.id`.
    pub benchmark_id: BenchmarkId,
    pub benchmark: RunBenchmark,
    pub scored: bool,
    /// The run has only the selected tasks and is excluded from leaderboards and statistics.
    #[serde(default)]
    pub partial_selection: bool,
    pub phase: Phase,
    pub status: Status,
    pub agent: Option<String>,
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// The run token, valid for everything below `/v1` that belongs to this run.
    pub bearer_token: String,
    pub bearer_token_expires_at: Timestamp,
    /// The number of task runs that may be active at the same time.
    pub concurrency: i64,
    /// Paths of the started task's sandboxes, by channel.
    pub endpoints: BTreeMap<String, String>,
    /// The sandboxes that are provisioned for its task runs, in order. They accept traffic once their task run is
    /// started. At most 500 are listed, only for complete task runs; the response to each start lists the sandboxes of
    /// that task run.
    #[serde(default)]
    pub sandboxes: Vec<RunSandbox>,
    pub task_runs: Vec<RunTask>,
}

/// A sandbox that is provisioned for a task run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunSandbox {
    pub id: SandboxId,
    pub task_run_id: TaskRunId,
    pub r#type: SimulatorType,
    pub name: String,
    /// The credentials for the sandbox's protocol. Host and port of MLLP are in the response to the start.
    pub credentials: BTreeMap<String, String>,
}

/// A run as visible to its run token and its solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunSummary {
    /// Alias of `benchmark_run_id`.
    pub id: BenchmarkRunId,
    pub benchmark_run_id: BenchmarkRunId,
    /// Alias of `benchmark.id`.
    pub benchmark_id: BenchmarkId,
    pub benchmark: RunBenchmark,
    pub scored: bool,
    /// The run has only the selected tasks and is excluded from leaderboards and statistics.
    #[serde(default)]
    pub partial_selection: bool,
    pub phase: Phase,
    pub status: Status,
    /// Null until the run is completed; stays null if it is cancelled.
    pub verdict: Option<Verdict>,
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    pub score: Option<Number>,
    /// The number of failed critical criteria in its scored tasks.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
    /// The number of tasks with the verdict `pass`.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub tasks_passed: i64,
    /// The number of tasks in which every criterion passed.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub clean_tasks: i64,
    /// The score of an agent that does nothing, if there is a score and the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: Option<f64>,
    /// The score of the reference agent, if there is a score and the version was audited.
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

/// A task of a run. In a scored run, agents see a neutral name and an id that is only valid in this run; after the end
/// of the run, its solver key sees the real ones.
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
    /// The number of failed critical criteria.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
    /// The score of an agent that does nothing, if there is a score and the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: Option<f64>,
    /// The score of the reference agent, if there is a score and the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
    pub started_at: Option<Timestamp>,
    pub deadline_at: Option<Timestamp>,
    /// When its completion was accepted. It can no longer time out, and is scored soon if it is not scored yet.
    #[serde(default)]
    pub sealed_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    /// The playground of the task. Null only in task runs of older servers, which provisioned playgrounds at the start,
    /// and in runs with more than 10 000 sandboxes.
    #[serde(default)]
    pub playground_id: Option<PlaygroundId>,
    pub start_url: String,
    pub complete_url: String,
}

/// A run as visible to its organization.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BenchmarkRun {
    pub id: BenchmarkRunId,
    /// Alias of `id`.
    pub benchmark_run_id: BenchmarkRunId,
    pub organization_id: OrgId,
    /// Alias of `benchmark.id`.
    pub benchmark_id: BenchmarkId,
    pub benchmark: RunBenchmark,
    pub solver_id: Option<SolverId>,
    pub agent: Option<String>,
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    pub scored: bool,
    /// The run has only the selected tasks and is excluded from leaderboards and statistics.
    #[serde(default)]
    pub partial_selection: bool,
    /// Whether the organization's key wrote into the sandboxes of a task. Such a run cannot be published and counts 0
    /// in its series.
    #[serde(default)]
    pub organization_writes: bool,
    /// For a scored run: its tasks are sorted by the SHA-256 of `{order_seed}:{task_id}`.
    #[serde(default)]
    pub order_seed: Option<i64>,
    pub phase: Phase,
    pub status: Status,
    pub verdict: Option<Verdict>,
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    pub score: Option<Number>,
    /// The number of failed critical criteria in its scored tasks.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
    /// The number of tasks with the verdict `pass`.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub tasks_passed: i64,
    /// The number of tasks in which every criterion passed.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub clean_tasks: i64,
    /// The failed critical criteria, at most 100.
    #[serde(default)]
    pub critical_criteria: Vec<CriticalFailure>,
    /// The score of an agent that does nothing, if there is a score and the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: Option<f64>,
    /// The score of the reference agent, if there is a score and the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
    pub axes: ShownAxes,
    /// The number of tasks.
    pub tasks: i64,
    /// The number of completed tasks.
    pub tasks_completed: i64,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub bearer_token_expires_at: Timestamp,
    /// When its series (solver, agent and agent version) was published on the leaderboard.
    pub published_at: Option<Timestamp>,
    /// The engine that scored it; null until it has ended, and if several engines scored its tasks.
    #[serde(default)]
    pub engine: Option<String>,
    /// The result of each engine, the original result first. Only in the response for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub results: Option<Vec<EngineScore>>,
    /// Only in the response for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub task_runs: Option<Vec<TaskRun>>,
}

/// Filters for lists of runs.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    pub benchmark_id: Option<BenchmarkId>,
    pub solver_id: Option<SolverId>,
    pub agent: Option<String>,
    pub status: Option<Status>,
}
