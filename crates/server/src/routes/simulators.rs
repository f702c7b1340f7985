//! `/simulators`: definitions of simulated systems.

use axum::Json;
use axum::extract;
use axum::http::StatusCode;
use model::page::List;
use model::simulator::{NewSimulator, Simulator, SimulatorPatch};
use model::{DatasetId, SimulatorId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorResponses, WriteErrorResponses};
use crate::extractors::{Auth, IdempotencyKey, PageQuery, Params, PathId, PathIds, Precondition};
use crate::json_body::{Bodyless, Patch, Post};
use crate::responses::{CreatedResponse, Tagged, TransitionResponse, page};

/// Simulators, newest first.
#[utoipa::path(get, path = "/simulators", tag = "simulators", params(PageQuery),
    responses((status = 200, description = "Simulators", body = List<Simulator>), ErrorResponses))]
async fn list_simulators(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Simulator>>, ApiError> {
    let request = query.request("simulators")?;
    Ok(page("simulators", app::simulators::list(&state.app, &grant, request).await?))
}

/// Create a simulator.
#[utoipa::path(post, path = "/simulators", tag = "simulators", request_body = NewSimulator,
    params(IdempotencyKey),
    responses((status = 201, description = "The simulator", body = Simulator), ErrorResponses, WriteErrorResponses))]
async fn create_simulator(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Post(new, once): Post<NewSimulator>,
) -> Result<CreatedResponse<Simulator>, ApiError> {
    let created = app::simulators::create(&state.app, &grant, once, new).await?;
    Ok(CreatedResponse::at(created, |simulator| format!("/simulators/{}", simulator.id)))
}

/// One simulator.
#[utoipa::path(get, path = "/simulators/{simulator_id}", tag = "simulators", params(("simulator_id" = SimulatorId, Path, description = "The simulator")),
    responses((status = 200, description = "The simulator", body = Simulator), ErrorResponses))]
async fn get_simulator(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(simulator): PathId<SimulatorId>,
) -> Result<Tagged<Simulator>, ApiError> {
    Ok(Tagged(app::simulators::get(&state.app, &grant, &simulator).await?))
}

/// Change a simulator. Fields that the body leaves out keep their values.
#[utoipa::path(patch, path = "/simulators/{simulator_id}", tag = "simulators", request_body = SimulatorPatch,
    params(("simulator_id" = SimulatorId, Path, description = "The simulator"),
        Precondition),
    responses((status = 200, description = "The simulator after the change", body = Simulator), ErrorResponses, WriteErrorResponses))]
async fn update_simulator(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(simulator): PathId<SimulatorId>,
    Precondition(if_match): Precondition,
    Patch(patch): Patch<SimulatorPatch>,
) -> Result<Tagged<Simulator>, ApiError> {
    Ok(Tagged(app::simulators::update(&state.app, &grant, &simulator, if_match, patch).await?))
}

/// Delete a simulator.
#[utoipa::path(delete, path = "/simulators/{simulator_id}", tag = "simulators",
    params(("simulator_id" = SimulatorId, Path, description = "The simulator"),
        Precondition),
    responses((status = 204, description = "Deleted"), ErrorResponses, WriteErrorResponses))]
async fn delete_simulator(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(simulator): PathId<SimulatorId>,
    Precondition(if_match): Precondition,
) -> Result<StatusCode, ApiError> {
    app::simulators::delete(&state.app, &grant, &simulator, if_match).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Attach a dataset. Attaching it again has no effect.
#[utoipa::path(post, path = "/simulators/{simulator_id}/datasets/{dataset_id}", tag = "simulators",
    params(("simulator_id" = SimulatorId, Path, description = "The simulator"), ("dataset_id" = DatasetId, Path, description = "The dataset"),
        IdempotencyKey),
    responses((status = 200, description = "The simulator with the dataset", body = Simulator), ErrorResponses, WriteErrorResponses))]
async fn attach_dataset(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathIds(simulator, dataset): PathIds<SimulatorId, DatasetId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<Simulator>, ApiError> {
    Ok(TransitionResponse(app::simulators::attach(&state.app, &grant, &simulator, &dataset, once).await?))
}

/// Detach a dataset.
#[utoipa::path(delete, path = "/simulators/{simulator_id}/datasets/{dataset_id}", tag = "simulators",
    params(("simulator_id" = SimulatorId, Path, description = "The simulator"), ("dataset_id" = DatasetId, Path, description = "The dataset")),
    responses((status = 204, description = "Detached"), ErrorResponses, WriteErrorResponses))]
async fn detach_dataset(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathIds(simulator, dataset): PathIds<SimulatorId, DatasetId>,
) -> Result<StatusCode, ApiError> {
    app::simulators::detach(&state.app, &grant, &simulator, &dataset).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list_simulators, create_simulator))
        .routes(routes!(get_simulator, update_simulator, delete_simulator))
        .routes(routes!(attach_dataset, detach_dataset))
}
