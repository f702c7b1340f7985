//! The caller of an operation: which runs it can access, and whose idempotency keys it sends.

use model::{BenchmarkRunId, OrgId, SolverId, TaskRunId, Timestamp};
use store::Db;
use store::runs::StoredRun;
use store::task_runs::{self, StoredTaskRun};

use crate::idempotency::IdempotencyScope;
use crate::{AppError, OrgGrant, RunGrant, SolverGrant};

/// Made from a grant.
#[derive(Clone)]
pub struct Caller {
    pub(crate) scope: Scope,
    pub(crate) idempotency: IdempotencyScope,
}

/// The runs that a caller can access. Other runs do not exist for it.
#[derive(Clone)]
pub(crate) struct Scope {
    pub(crate) org: OrgId,
    limit: ScopeLimit,
}

#[derive(Clone)]
enum ScopeLimit {
    WholeOrganization,
    Solver(SolverId),
    Run(BenchmarkRunId),
}

/// Which ids, names and tags of tasks a caller sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskIdentity {
    Real,
    Neutral,
}

impl From<&Caller> for Caller {
    fn from(caller: &Caller) -> Self {
        caller.clone()
    }
}

impl From<&OrgGrant> for Caller {
    fn from(grant: &OrgGrant) -> Self {
        Self {
            scope: Scope { org: grant.org.clone(), limit: ScopeLimit::WholeOrganization },
            idempotency: IdempotencyScope::new(&grant.org, &grant.response_key),
        }
    }
}

impl From<&SolverGrant> for Caller {
    fn from(grant: &SolverGrant) -> Self {
        Self {
            scope: Scope { org: grant.org.clone(), limit: ScopeLimit::Solver(grant.solver.clone()) },
            idempotency: IdempotencyScope::new(&grant.solver, &grant.response_key),
        }
    }
}

impl From<&RunGrant> for Caller {
    fn from(grant: &RunGrant) -> Self {
        Self {
            scope: Scope { org: grant.org.clone(), limit: ScopeLimit::Run(grant.run.clone()) },
            idempotency: IdempotencyScope::new(&grant.run, &grant.response_key),
        }
    }
}

impl Scope {
    pub(crate) fn run(&self, db: &mut Db<'_>, id: &BenchmarkRunId) -> Result<StoredRun, AppError> {
        let run = store::runs::find(db, &self.org, id)?.filter(|run| self.contains(run));
        run.ok_or(AppError::missing::<BenchmarkRunId>())
    }

    /// A task run with its run.
    pub(crate) fn task_run(&self, db: &mut Db<'_>, id: &TaskRunId) -> Result<(StoredRun, StoredTaskRun), AppError> {
        const MISSING: AppError = AppError::NotFound(<TaskRunId as model::Id>::NOUN);
        let task_run = task_runs::find(db, &self.org, id)?.ok_or(MISSING)?;
        let run = store::runs::find(db, &self.org, &task_run.run)?.filter(|run| self.contains(run)).ok_or(MISSING)?;
        Ok((run, task_run))
    }

    /// Whether the caller is the organization, not an agent.
    pub(crate) fn is_organization(&self) -> bool {
        matches!(self.limit, ScopeLimit::WholeOrganization)
    }

    /// The agent of a scored run must not know which tasks it works on. The organization always sees that, and a solver
    /// key after the run has ended.
    pub(crate) fn task_identity(&self, run: &StoredRun, now: Timestamp) -> TaskIdentity {
        let sees_tasks = match self.limit {
            ScopeLimit::WholeOrganization => true,
            ScopeLimit::Solver(_) => run.has_ended(now),
            ScopeLimit::Run(_) => false,
        };
        if !run.scored || sees_tasks { TaskIdentity::Real } else { TaskIdentity::Neutral }
    }

    fn contains(&self, run: &StoredRun) -> bool {
        match &self.limit {
            ScopeLimit::WholeOrganization => true,
            ScopeLimit::Solver(solver) => run.solver.as_ref() == Some(solver),
            ScopeLimit::Run(id) => run.id == *id,
        }
    }
}
