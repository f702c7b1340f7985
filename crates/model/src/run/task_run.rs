//! Task runs: one task of a run, from its start to its score.

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

/// The response to a start, with everything that an agent needs for the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StartedTaskRun {
    pub task_run_id: TaskRunId,
    pub phase: Phase,
    pub started_at: Timestamp,
    /// The task run times out after this.
    pub deadline_at: Timestamp,
    pub task: StartedTask,
    /// Paths of this task run's sandboxes, by channel.
    pub endpoints: BTreeMap<String, String>,
    pub sandboxes: Vec<StartedSandbox>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StartedTask {
    /// For the token of a scored run: `task_item.title`, or "Task" and the number in this run's order.
    pub name: String,
    /// Empty for the token of a scored run.
    pub tags: Vec<String>,
    /// The instruction as authored, with its templates replaced.
    #[schema(value_type = Option<Object>)]
    pub task_item: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StartedSandbox {
    pub id: SandboxId,
    pub r#type: SimulatorType,
    pub name: String,
    /// The credentials for the sandbox's protocol.
    pub credentials: BTreeMap<String, String>,
}

/// A task run as visible to a run token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskRunResult {
    pub task_run_id: TaskRunId,
    pub phase: Phase,
    pub status: Status,
    /// Null until the task run is completed.
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
    pub axes: ShownAxes,
    /// When its completion was accepted. It can no longer time out, and is scored soon if it is not scored yet.
    #[serde(default)]
    pub sealed_at: Option<Timestamp>,
    /// One for each criterion, in order; empty until the task run is scored.
    pub checks: Vec<Check>,
    pub benchmark_run: RunState,
}

/// The result of one criterion. In a scored run `critical`, `guard`, `details` and `evidence` are omitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Check {
    /// Alias of `criterion_run_id`.
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
    /// Whether an agent that does nothing passes it.
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
    /// The score can still be above 0.
    Fail,
}

/// The state of the benchmark run after this task run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunState {
    pub id: BenchmarkRunId,
    pub phase: Phase,
    pub status: Status,
    pub verdict: Option<Verdict>,
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    pub score: Option<Number>,
    /// The number of failed critical criteria in its scored tasks.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
    /// The score of an agent that does nothing, if there is a score and the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: Option<f64>,
    /// The score of the reference agent, if there is a score and the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
}

/// A task run as visible to its organization.
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
    /// The number of failed critical criteria.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
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
    /// The playground of the task run; null until it is started.
    pub playground_id: Option<PlaygroundId>,
    /// Whether the run is scored, so that the agent sees no details and no evidence.
    #[serde(default)]
    pub scored: bool,
    /// The frozen task; for another organization's version without tags, scenario and criteria. Omitted in a run's
    /// `task_runs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub snapshot: Option<TaskSnapshot>,
    /// The seal of the scored state; null until it is sealed.
    #[serde(default)]
    pub sealed: Option<Sealed>,
    /// Why it failed to start.
    pub failure: Option<String>,
    pub criterion_runs: Vec<CriterionRunSummary>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub deadline_at: Option<Timestamp>,
    /// When its completion was accepted. It can no longer time out, and is scored soon if it is not scored yet.
    #[serde(default)]
    pub sealed_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
}

/// A frozen task with its templates replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskSnapshot {
    pub name: String,
    /// In seconds; null means the benchmark's timeout.
    pub timeout: Option<i64>,
    pub tags: Vec<String>,
    #[schema(value_type = Option<Object>)]
    pub task_item: Value,
    #[schema(value_type = Option<Object>)]
    pub scenario: Value,
    pub criteria: Vec<CriterionSnapshot>,
}

impl TaskSnapshot {
    /// Removes what only the owner of the version may see.
    pub fn for_others(self) -> Self {
        Self { tags: Vec::new(), scenario: Value::Null, criteria: Vec::new(), ..self }
    }
}

/// A frozen criterion with its templates replaced.
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

/// The seal of a scored state. The state can no longer change, and scoring it again gives the same result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Sealed {
    pub sealed_at: Timestamp,
    /// The sequence number of the last entry in the playground's log.
    pub seq: i64,
    /// The sequence number of the last log entry when the task was completed. Later entries were settled afterwards.
    /// Absent in results from before settling existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub completed_seq: Option<i64>,
    /// The number of events in the log.
    pub events: u64,
    /// SHA-256 over the written records and the datasets below them.
    pub state_hash: String,
    /// The hash of the frozen benchmark content.
    pub content_hash: String,
    /// The engine that scored the task run.
    pub engine: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CriterionRunSummary {
    pub id: CriterionRunId,
    /// Failing it means harm.
    #[serde(default)]
    pub critical: bool,
    /// Whether an agent that does nothing passes it.
    #[serde(default)]
    pub guard: bool,
    pub passed: bool,
    #[schema(value_type = f64, minimum = 0, maximum = 1)]
    pub score: Number,
}
