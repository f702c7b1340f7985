//! Runs: `v1` for agents, the rest for the organization that runs them.

mod benchmark_runs;
mod criterion_runs;
mod leaderboards;
mod sandbox;
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
        .merge(sandbox::router())
        .merge(leaderboards::router())
}
