//! The results of a run by scoring engine.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use utoipa::ToSchema;

use super::ShownAxes;
use crate::score::Verdict;
use crate::weight::Weight;
use crate::{CriterionId, TaskId, TaskRunId, Timestamp};

/// The score of a run by one engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EngineScore {
    /// Null if several engines scored the tasks of the run.
    pub engine: Option<String>,
    /// Whether this is the original result of the run. The others come from rescoring it later.
    pub original: bool,
    pub verdict: Option<Verdict>,
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    pub score: Option<Number>,
    pub axes: ShownAxes,
    pub scored_at: Option<Timestamp>,
}

/// The result of a run by one engine, with all criteria.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EngineResult {
    #[serde(flatten)]
    pub result: EngineScore,
    /// The completed task runs.
    pub task_runs: Vec<EngineTaskResult>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EngineTaskResult {
    pub task_run_id: TaskRunId,
    pub task_id: TaskId,
    pub name: String,
    pub verdict: Verdict,
    #[schema(value_type = f64, minimum = 0, maximum = 1)]
    pub score: Number,
    pub axes: ShownAxes,
    pub criteria: Vec<EngineCriterionResult>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EngineCriterionResult {
    pub criterion_id: CriterionId,
    pub label: String,
    pub axis: Option<String>,
    pub weight: Weight,
    pub passed: bool,
    #[schema(value_type = f64, minimum = 0, maximum = 1)]
    pub score: Number,
    pub details: String,
    #[schema(value_type = Object)]
    pub evidence: Value,
}
