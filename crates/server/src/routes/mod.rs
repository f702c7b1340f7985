//! The endpoints: one file per resource, each with its `router()` at the end.

mod api_keys;
mod benchmarks;
mod cds;
mod clearinghouse;
mod criteria;
mod datasets;
mod entities;
mod environments;
mod fax;
mod file_drop;
mod files;
mod health;
mod operations;
mod organization;
mod playgrounds;
pub(crate) mod portal;
mod runs;
mod sandbox_routes;
mod sandboxes;
mod simulators;
mod solvers;
mod tasks;
pub(crate) mod voice;

use utoipa_axum::router::OpenApiRouter;

use crate::State;

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .merge(organization::router())
        .merge(api_keys::router())
        .merge(solvers::router())
        .merge(environments::router())
        .merge(simulators::router())
        .merge(datasets::router())
        .merge(files::router())
        .merge(entities::router())
        .merge(benchmarks::router())
        .merge(tasks::router())
        .merge(criteria::router())
        .merge(playgrounds::router())
        .merge(sandboxes::router())
        .merge(file_drop::router())
        .merge(operations::router())
        .merge(voice::router())
        .merge(fax::router())
        .merge(cds::router())
        .merge(runs::router())
        .merge(clearinghouse::router())
        .merge(portal::router())
        .merge(health::router())
}
