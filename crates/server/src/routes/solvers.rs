//! `/solvers`: the agents that run benchmarks.

use axum::Json;
use axum::extract;
use axum::http::StatusCode;
use model::SolverId;
use model::identity::{NewSolver, Solver, SolverPatch};
use model::page::List;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorResponses, WriteErrorResponses};
use crate::extractors::{Auth, IdempotencyKey, PageQuery, Params, PathId, Precondition};
use crate::json_body::{Patch, Post};
use crate::responses::{CreatedResponse, Tagged, page};

/// Solvers, newest first.
#[utoipa::path(get, path = "/solvers", tag = "identity", params(PageQuery),
    responses((status = 200, description = "Solvers", body = List<Solver>), ErrorResponses))]
async fn list_solvers(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Solver>>, ApiError> {
    let request = query.request("solvers")?;
    Ok(page("solvers", app::solvers::list(&state.app, &grant, request).await?))
}

/// Create a solver.
#[utoipa::path(post, path = "/solvers", tag = "identity", request_body = NewSolver,
    params(IdempotencyKey),
    responses((status = 201, description = "The solver", body = Solver), ErrorResponses, WriteErrorResponses))]
async fn create_solver(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Post(new, once): Post<NewSolver>,
) -> Result<CreatedResponse<Solver>, ApiError> {
    let created = app::solvers::create(&state.app, &grant, once, new).await?;
    Ok(CreatedResponse::at(created, |solver| format!("/solvers/{}", solver.id)))
}

/// One solver.
#[utoipa::path(get, path = "/solvers/{solver_id}", tag = "identity", params(("solver_id" = SolverId, Path, description = "The solver")),
    responses((status = 200, description = "The solver", body = Solver), ErrorResponses))]
async fn get_solver(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(solver): PathId<SolverId>,
) -> Result<Tagged<Solver>, ApiError> {
    Ok(Tagged(app::solvers::get(&state.app, &grant, &solver).await?))
}

/// Change a solver. Fields that the body leaves out keep their values.
#[utoipa::path(patch, path = "/solvers/{solver_id}", tag = "identity", request_body = SolverPatch,
    params(("solver_id" = SolverId, Path, description = "The solver"),
        Precondition),
    responses((status = 200, description = "The solver after the change", body = Solver), ErrorResponses, WriteErrorResponses))]
async fn update_solver(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(solver): PathId<SolverId>,
    Precondition(if_match): Precondition,
    Patch(patch): Patch<SolverPatch>,
) -> Result<Tagged<Solver>, ApiError> {
    Ok(Tagged(app::solvers::update(&state.app, &grant, &solver, if_match, patch).await?))
}

/// Delete a solver.
#[utoipa::path(delete, path = "/solvers/{solver_id}", tag = "identity",
    params(("solver_id" = SolverId, Path, description = "The solver"),
        Precondition),
    responses((status = 204, description = "Deleted"), ErrorResponses, WriteErrorResponses))]
async fn delete_solver(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(solver): PathId<SolverId>,
    Precondition(if_match): Precondition,
) -> Result<StatusCode, ApiError> {
    app::solvers::delete(&state.app, &grant, &solver, if_match).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(list_solvers, create_solver)).routes(routes!(
        get_solver,
        update_solver,
        delete_solver
    ))
}
