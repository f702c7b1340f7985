//! `/environments`: sets of simulators.

use axum::Json;
use axum::extract;
use axum::http::StatusCode;
use model::environment::{Environment, EnvironmentPatch, NewEnvironment};
use model::page::List;
use model::{EnvironmentId, SimulatorId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorResponses, WriteErrorResponses};
use crate::extractors::{Auth, IdempotencyKey, PageQuery, Params, PathId, PathIds, Precondition};
use crate::json_body::{Bodyless, Patch, Post};
use crate::responses::{CreatedResponse, Tagged, TransitionResponse, page};

/// Environments, newest first.
#[utoipa::path(get, path = "/environments", tag = "environments", params(PageQuery),
    responses((status = 200, description = "Environments", body = List<Environment>), ErrorResponses))]
async fn list_environments(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Environment>>, ApiError> {
    let request = query.request("environments")?;
    Ok(page("environments", app::environments::list(&state.app, &grant, request).await?))
}

/// Create an environment.
#[utoipa::path(post, path = "/environments", tag = "environments", request_body = NewEnvironment,
    params(IdempotencyKey),
    responses((status = 201, description = "The environment", body = Environment), ErrorResponses, WriteErrorResponses))]
async fn create_environment(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Post(new, once): Post<NewEnvironment>,
) -> Result<CreatedResponse<Environment>, ApiError> {
    let created = app::environments::create(&state.app, &grant, once, new).await?;
    Ok(CreatedResponse::at(created, |environment| format!("/environments/{}", environment.id)))
}

/// One environment.
#[utoipa::path(get, path = "/environments/{environment_id}", tag = "environments", params(("environment_id" = EnvironmentId, Path, description = "The environment")),
    responses((status = 200, description = "The environment", body = Environment), ErrorResponses))]
async fn get_environment(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(environment): PathId<EnvironmentId>,
) -> Result<Tagged<Environment>, ApiError> {
    Ok(Tagged(app::environments::get(&state.app, &grant, &environment).await?))
}

/// Change an environment. Fields that the body leaves out keep their values.
#[utoipa::path(patch, path = "/environments/{environment_id}", tag = "environments", request_body = EnvironmentPatch,
    params(("environment_id" = EnvironmentId, Path, description = "The environment"),
        Precondition),
    responses((status = 200, description = "The environment after the change", body = Environment), ErrorResponses, WriteErrorResponses))]
async fn update_environment(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(environment): PathId<EnvironmentId>,
    Precondition(if_match): Precondition,
    Patch(patch): Patch<EnvironmentPatch>,
) -> Result<Tagged<Environment>, ApiError> {
    Ok(Tagged(app::environments::update(&state.app, &grant, &environment, if_match, patch).await?))
}

/// Delete an environment.
#[utoipa::path(delete, path = "/environments/{environment_id}", tag = "environments",
    params(("environment_id" = EnvironmentId, Path, description = "The environment"),
        Precondition),
    responses((status = 204, description = "Deleted"), ErrorResponses, WriteErrorResponses))]
async fn delete_environment(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(environment): PathId<EnvironmentId>,
    Precondition(if_match): Precondition,
) -> Result<StatusCode, ApiError> {
    app::environments::delete(&state.app, &grant, &environment, if_match).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Attach a simulator. Attaching it again has no effect.
#[utoipa::path(post, path = "/environments/{environment_id}/simulators/{simulator_id}", tag = "environments",
    params(("environment_id" = EnvironmentId, Path, description = "The environment"), ("simulator_id" = SimulatorId, Path, description = "The simulator"),
        IdempotencyKey),
    responses((status = 200, description = "The environment with the simulator", body = Environment), ErrorResponses, WriteErrorResponses))]
async fn attach_simulator(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathIds(environment, simulator): PathIds<EnvironmentId, SimulatorId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<Environment>, ApiError> {
    Ok(TransitionResponse(app::environments::attach(&state.app, &grant, &environment, &simulator, once).await?))
}

/// Detach a simulator.
#[utoipa::path(delete, path = "/environments/{environment_id}/simulators/{simulator_id}", tag = "environments",
    params(("environment_id" = EnvironmentId, Path, description = "The environment"), ("simulator_id" = SimulatorId, Path, description = "The simulator")),
    responses((status = 204, description = "Detached"), ErrorResponses, WriteErrorResponses))]
async fn detach_simulator(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathIds(environment, simulator): PathIds<EnvironmentId, SimulatorId>,
) -> Result<StatusCode, ApiError> {
    app::environments::detach(&state.app, &grant, &environment, &simulator).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list_environments, create_environment))
        .routes(routes!(get_environment, update_environment, delete_environment))
        .routes(routes!(attach_simulator, detach_simulator))
}
