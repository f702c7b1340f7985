//! Runs: `v1` is for agents, the other files are for the organization that owns the runs.

mod benchmark_runs;
mod criterion_runs;
mod fhir;
mod leaderboards;
mod task_runs;
mod v1;

use utoipa_axum::router::OpenApiRouter;

use crate::State;

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .merge(benchmark_runs::router())
        .merge(task_runs::router())
        .merge(criterion_runs::router())
        .merge(v1::router())
        .merge(fhir::router())
        .merge(leaderboards::router())
}
