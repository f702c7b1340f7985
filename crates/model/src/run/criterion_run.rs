//! The result of one criterion in a task run.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use utoipa::ToSchema;

use crate::weight::Weight;
use crate::{CriterionId, CriterionRunId, TaskRunId, Timestamp};

/// The complete result of a criterion, for the organization that ran it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CriterionRun {
    pub id: CriterionRunId,
    pub task_run_id: TaskRunId,
    pub criterion_id: CriterionId,
    pub label: String,
    pub axis: Option<String>,
    pub weight: Weight,
    /// Failing it means harm.
    #[serde(default)]
    pub critical: bool,
    /// Whether an agent that does nothing passes it.
    #[serde(default)]
    pub guard: bool,
    pub passed: bool,
    #[schema(value_type = f64, minimum = 0, maximum = 1)]
    pub score: Number,
    /// One sentence that explains the result.
    pub details: String,
    /// What was expected and what was found; the format depends on the check.
    #[schema(value_type = Object)]
    pub evidence: Value,
    pub started_at: Timestamp,
    pub completed_at: Timestamp,
}
