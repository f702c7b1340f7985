//! Runs of benchmarks: created by a solver or the organization, worked on task by task, and scored.

pub mod access;
mod cancel;
mod channels;
mod complete;
mod create;
pub mod engines;
mod evaluate;
mod expire;
pub mod leaderboards;
mod rescore;
pub(crate) mod snapshots;
mod start;
pub mod statistics;
mod unread_faxes;
mod views;

use model::BenchmarkRunId;
use model::OrgId;
use model::run::Status;
use store::Db;
use store::runs::StoredRun;

use crate::AppError;

pub use cancel::{cancel_run, cancel_task_run};
pub use complete::{complete_run, complete_task_run};
pub use create::{CreateRunGrant, create_run};
pub use evaluate::ENGINE;
pub use expire::sweep;
pub use rescore::rescore;
pub(crate) use snapshots::Snapshots;
pub use start::start_task_run;
pub use views::{
    TaskRunGrant, TaskRunView, get_criterion_run, get_run, get_run_summary, get_task_run, list_criterion_runs,
    list_runs, list_task_runs,
};

fn find_run(db: &mut Db<'_>, org: &OrgId, id: &BenchmarkRunId) -> Result<StoredRun, AppError> {
    store::runs::find(db, org, id)?.ok_or(AppError::missing::<BenchmarkRunId>())
}

/// A run that can still be completed or cancelled.
fn find_active_run(db: &mut Db<'_>, org: &OrgId, id: &BenchmarkRunId) -> Result<StoredRun, AppError> {
    let run = find_run(db, org, id)?;
    if run.status != Status::Active {
        let status = run.status.name();
        return Err(AppError::conflict(format!("the run is {status}; only an active run can be ended")));
    }
    Ok(run)
}
