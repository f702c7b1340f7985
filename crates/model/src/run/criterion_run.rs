//! What became of one criterion.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use utoipa::ToSchema;

use crate::weight::Weight;
use crate::{CriterionId, CriterionRunId, TaskRunId, Timestamp};

/// Always whole, for the organization that ran it.
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
    /// An agent that does nothing passes it.
    #[serde(default)]
    pub guard: bool,
    pub passed: bool,
    #[schema(value_type = f64, minimum = 0, maximum = 1)]
    pub score: Number,
    /// One sentence that says why.
    pub details: String,
    /// What was expected and what was found, in the shape of the check.
    #[schema(value_type = Object)]
    pub evidence: Value,
    pub started_at: Timestamp,
    pub completed_at: Timestamp,
}
