//! Failed critical criteria.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{CriterionId, CriterionRunId, TaskRunId};

/// The maximum number of entries in `critical_criteria`; `critical_failures` counts all.
pub const MOST_CRITICAL_CRITERIA: usize = 100;

/// A critical criterion that failed in a scored task. Only visible to the organization that ran it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CriticalFailure {
    pub criterion_id: CriterionId,
    pub criterion_run_id: CriterionRunId,
    pub task_run_id: TaskRunId,
    pub label: String,
}
