//! Rescoring of finished runs from their stored state.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use utoipa::ToSchema;

use crate::score::Verdict;
use crate::{CriterionId, TaskId, TaskRunId};

/// A changed assertion to try in a rescore, in place of that of one criterion of the version.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CriteriaChange {
    pub criterion_id: CriterionId,
    #[schema(value_type = Object)]
    pub assertion: Value,
}

/// The result of rescoring a run. The stored results are not changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Rescore {
    /// Whether score, details and evidence of every criterion are identical to the stored ones, byte for byte.
    pub identical: bool,
    #[schema(value_type = Option<f64>)]
    pub score_before: Option<Number>,
    #[schema(value_type = Option<f64>)]
    pub score_after: Option<Number>,
    pub verdict_before: Option<Verdict>,
    pub verdict_after: Option<Verdict>,
    /// The number of failed critical criteria.
    #[serde(default)]
    pub critical_failures_before: i64,
    #[serde(default)]
    pub critical_failures_after: i64,
    /// The engine of the result before; null if several engines scored the tasks of the run.
    #[serde(default)]
    pub engine_before: Option<String>,
    /// The engine that rescored the run.
    #[serde(default)]
    pub engine_after: String,
    /// Whether the result was stored in addition to the one before. It is if the engine is a different one and no
    /// criterion was changed.
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
    /// The number of failed critical criteria.
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
    /// Whether its assertion was changed for this rescore.
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
