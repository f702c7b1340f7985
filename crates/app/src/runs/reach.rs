//! Which runs a caller can reach. What is out of reach is not found.

use model::{BenchmarkRunId, OrgId, SolverId, TaskRunId, Timestamp};
use store::Db;
use store::runs::StoredRun;
use store::task_runs::{self, StoredTaskRun};

use super::neutral::TaskIdentity;
use crate::{AppError, OrgGrant, RunGrant, SolverGrant};

#[derive(Clone)]
pub(crate) struct Reach {
    pub(crate) org: OrgId,
    /// Only this one, if it is set.
    only_run: Option<BenchmarkRunId>,
    /// Only this solver's, if it is set.
    only_solver: Option<SolverId>,
}

impl From<&OrgGrant> for Reach {
    fn from(grant: &OrgGrant) -> Self {
        Self { org: grant.org.clone(), only_run: None, only_solver: None }
    }
}

impl From<&SolverGrant> for Reach {
    fn from(grant: &SolverGrant) -> Self {
        Self { org: grant.org.clone(), only_run: None, only_solver: Some(grant.solver.clone()) }
    }
}

impl From<&RunGrant> for Reach {
    fn from(grant: &RunGrant) -> Self {
        Self { org: grant.org.clone(), only_run: Some(grant.run.clone()), only_solver: None }
    }
}

impl Reach {
    pub(crate) fn run(&self, db: &mut Db<'_>, id: &BenchmarkRunId) -> Result<StoredRun, AppError> {
        let found = store::runs::find(db, &self.org, id)?.filter(|run| self.has(run));
        found.ok_or(AppError::missing::<BenchmarkRunId>())
    }

    /// A task run with the run that it belongs to.
    pub(crate) fn task_run(&self, db: &mut Db<'_>, id: &TaskRunId) -> Result<(StoredRun, StoredTaskRun), AppError> {
        const MISSING: AppError = AppError::NotFound(<TaskRunId as model::Id>::NOUN);
        let task_run = task_runs::find(db, &self.org, id)?.ok_or(MISSING)?;
        let run = store::runs::find(db, &self.org, &task_run.run)?.filter(|run| self.has(run)).ok_or(MISSING)?;
        Ok((run, task_run))
    }

    /// Whether the organization asks, and not an agent.
    pub(crate) fn is_of_organization(&self) -> bool {
        self.only_run.is_none() && self.only_solver.is_none()
    }

    /// The agent of a scored run must not know which tasks it does. The organization always does, and the solver key does
    /// when the run has ended.
    pub(crate) fn task_identity(&self, run: &StoredRun, now: Timestamp) -> TaskIdentity {
        let is_solver = self.only_run.is_none();
        if !run.scored || self.is_of_organization() || (is_solver && run.has_ended(now)) {
            TaskIdentity::Real
        } else {
            TaskIdentity::Neutral
        }
    }

    fn has(&self, run: &StoredRun) -> bool {
        self.only_run.as_ref().is_none_or(|only| *only == run.id)
            && self.only_solver.as_ref().is_none_or(|only| run.solver.as_ref() == Some(only))
    }
}
