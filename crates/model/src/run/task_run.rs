//! One task of a run: started, worked on, scored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use utoipa::ToSchema;

use super::{CriticalFailure, Phase, ShownAxes, Status};
use crate::score::Verdict;
use crate::simulator::SimulatorType;
use crate::weight::Weight;
use crate::{
    BenchmarkRunId, CriterionId, CriterionRunId, EntityId, PlaygroundId, SandboxId, TaskId, TaskRunId, Timestamp,
};

/// The answer to a start: all that an agent needs to do the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StartedTaskRun {
    pub task_run_id: TaskRunId,
    pub phase: Phase,
    pub started_at: Timestamp,
    /// Past this, the task run is timed out.
    pub deadline_at: Timestamp,
    pub task: StartedTask,
    /// Paths of this task run's sandboxes, by channel.
    pub endpoints: BTreeMap<String, String>,
    pub sandboxes: Vec<StartedSandbox>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StartedTask {
    /// In a scored run, for its token: `task_item.title`, or "Task" and the place in this run's order.
    pub name: String,
    /// In a scored run, for its token: empty.
    pub tags: Vec<String>,
    /// The instruction, as the author wrote it, with its templates filled in.
    #[schema(value_type = Option<Object>)]
    pub task_item: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StartedSandbox {
    pub id: SandboxId,
    pub r#type: SimulatorType,
    pub name: String,
    /// What a client of the sandbox's own protocol needs.
    pub credentials: BTreeMap<String, String>,
}

/// A task run as a run token sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskRunResult {
    pub task_run_id: TaskRunId,
    pub phase: Phase,
    pub status: Status,
    /// Null until it is completed.
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
    pub axes: ShownAxes,
    /// When its completion was taken: it cannot time out any more, and is scored soon if it is not yet.
    #[serde(default)]
    pub sealed_at: Option<Timestamp>,
    /// One for each criterion, in their order; empty until it is scored.
    pub checks: Vec<Check>,
    pub benchmark_run: RunState,
}

/// What became of one criterion. In a scored run `critical`, `guard`, `details` and `evidence` are not there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Check {
    /// The same as `criterion_run_id`.
    pub id: CriterionRunId,
    pub criterion_id: CriterionId,
    pub criterion_run_id: CriterionRunId,
    pub label: String,
    pub result: CheckResult,
    pub passed: bool,
    #[schema(value_type = f64, minimum = 0, maximum = 1)]
    pub score: Number,
    pub axis: Option<String>,
    /// Failing it means harm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub critical: Option<bool>,
    /// An agent that does nothing passes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub guard: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub details: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object, required = false, nullable = false)]
    pub evidence: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    Pass,
    /// The score may be above 0 all the same.
    Fail,
}

/// How the whole run stands after this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunState {
    pub id: BenchmarkRunId,
    pub phase: Phase,
    pub status: Status,
    pub verdict: Option<Verdict>,
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    pub score: Option<Number>,
    /// How many critical criteria failed in its scored tasks.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
    /// What an agent has for doing nothing, and what the reference agent has: beside a score, if the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: Option<f64>,
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
}

/// A task run as its organization sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskRun {
    pub id: TaskRunId,
    pub benchmark_run_id: BenchmarkRunId,
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
    /// The critical criteria that failed, at most 100.
    #[serde(default)]
    pub critical_criteria: Vec<CriticalFailure>,
    /// What an agent has for doing nothing, and what the reference agent has: beside a score, if the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: Option<f64>,
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
    pub axes: ShownAxes,
    /// Where it was done; null until it is started.
    pub playground_id: Option<PlaygroundId>,
    /// Whether the agent sees no details and no evidence.
    #[serde(default)]
    pub scored: bool,
    /// The task as it was frozen and is run; of another organization's version without tags, scenario and criteria. Left out
    /// of a run's `task_runs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub snapshot: Option<TaskSnapshot>,
    /// What seals the state that was scored; null until it is.
    #[serde(default)]
    pub sealed: Option<Sealed>,
    /// Why it failed to begin.
    pub failure: Option<String>,
    pub criterion_runs: Vec<CriterionRunSummary>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub deadline_at: Option<Timestamp>,
    /// When its completion was taken: it cannot time out any more, and is scored soon if it is not yet.
    #[serde(default)]
    pub sealed_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
}

/// A task as it was frozen, with its templates filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskSnapshot {
    pub name: String,
    /// In seconds; null where the benchmark's holds.
    pub timeout: Option<i64>,
    pub tags: Vec<String>,
    #[schema(value_type = Option<Object>)]
    pub task_item: Value,
    #[schema(value_type = Option<Object>)]
    pub scenario: Value,
    pub criteria: Vec<CriterionSnapshot>,
}

impl TaskSnapshot {
    /// What a runner of somebody else's version may know.
    pub fn for_others(self) -> Self {
        Self { tags: Vec::new(), scenario: Value::Null, criteria: Vec::new(), ..self }
    }
}

/// A criterion as it was frozen, with its templates filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CriterionSnapshot {
    pub id: CriterionId,
    pub label: String,
    #[schema(value_type = Object)]
    pub assertion: Value,
    pub weight: Weight,
    pub axis: Option<String>,
    pub critical: bool,
    pub input_entity_id: Option<EntityId>,
}

/// The state that was scored: it cannot change any more, and scoring it again gives the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Sealed {
    pub sealed_at: Timestamp,
    /// The last entry of the playground's log.
    pub seq: i64,
    /// The last entry of the log when the task was completed: what comes after it was settled. Not there for results from
    /// before there was settling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub completed_seq: Option<i64>,
    /// How many events the log has.
    pub events: u64,
    /// SHA-256 over what was written, record by record, and the datasets below it.
    pub state_hash: String,
    /// The frozen content of the benchmark.
    pub content_hash: String,
    /// The engine that scored it.
    pub engine: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CriterionRunSummary {
    pub id: CriterionRunId,
    /// Failing it means harm.
    #[serde(default)]
    pub critical: bool,
    /// An agent that does nothing passes it.
    #[serde(default)]
    pub guard: bool,
    pub passed: bool,
    #[schema(value_type = f64, minimum = 0, maximum = 1)]
    pub score: Number,
}
