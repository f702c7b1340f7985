//! Scoring again from what was kept.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use utoipa::ToSchema;

use crate::score::Verdict;
use crate::{CriterionId, TaskId, TaskRunId};

/// Other criteria to try: each replaces the assertion of one criterion of the version.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CriteriaChange {
    pub criterion_id: CriterionId,
    #[schema(value_type = Object)]
    pub assertion: Value,
}

/// What scoring again gave. No result that is kept was changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Rescore {
    /// Whether every criterion has, byte for byte, what was kept: score, details and evidence.
    pub identical: bool,
    #[schema(value_type = Option<f64>)]
    pub score_before: Option<Number>,
    #[schema(value_type = Option<f64>)]
    pub score_after: Option<Number>,
    pub verdict_before: Option<Verdict>,
    pub verdict_after: Option<Verdict>,
    /// How many critical criteria failed.
    #[serde(default)]
    pub critical_failures_before: i64,
    #[serde(default)]
    pub critical_failures_after: i64,
    /// The engine that the result before is of; null when several engines scored the tasks of the run.
    #[serde(default)]
    pub engine_before: Option<String>,
    /// The engine that has scored it again.
    #[serde(default)]
    pub engine_after: String,
    /// Whether the engine has a result of its own now, beside the one before: it is another one, and no criterion was
    /// changed.
    #[serde(default)]
    pub stored: bool,
    pub task_runs: Vec<RescoredTask>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RescoredTask {
    pub task_run_id: TaskRunId,
    pub task_id: TaskId,
    pub name: String,
    pub identical: bool,
    #[schema(value_type = f64)]
    pub score_before: Number,
    #[schema(value_type = f64)]
    pub score_after: Number,
    pub verdict_before: Verdict,
    pub verdict_after: Verdict,
    /// How many critical criteria failed.
    #[serde(default)]
    pub critical_failures_before: i64,
    #[serde(default)]
    pub critical_failures_after: i64,
    pub criteria: Vec<RescoredCriterion>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RescoredCriterion {
    pub criterion_id: CriterionId,
    pub label: String,
    #[serde(default)]
    pub critical: bool,
    /// Whether its assertion is one of those that were given to try.
    pub changed: bool,
    pub identical: bool,
    pub passed_before: bool,
    pub passed_after: bool,
    #[schema(value_type = f64)]
    pub score_before: Number,
    #[schema(value_type = f64)]
    pub score_after: Number,
    pub details_after: String,
    #[schema(value_type = Object)]
    pub evidence_after: Value,
}
