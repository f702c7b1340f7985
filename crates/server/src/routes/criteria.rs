//! `/criteria`: what is checked when an agent has finished.

use axum::Json;
use axum::extract;
use axum::http::StatusCode;
use model::criterion::{Criterion, CriterionPatch, NewCriterion};
use model::page::List;
use model::{CriterionId, TaskId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorResponses, WriteErrorResponses};
use crate::extractors::{Auth, IdempotencyKey, PageQuery, Paged, PathId, Precondition, filter_id};
use crate::json_body::{Patch, Post};
use crate::responses::{CreatedResponse, Tagged, page};

/// Query parameters of the list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only the criteria of this task.
    #[param(value_type = TaskId, required = false)]
    task_id: Option<String>,
}

/// Criteria, newest first.
#[utoipa::path(get, path = "/criteria", tag = "criteria", params(Filter, PageQuery),
    responses((status = 200, description = "Criteria", body = List<Criterion>), ErrorResponses))]
async fn list_criteria(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Paged(query, paging): Paged<Filter>,
) -> Result<Json<List<Criterion>>, ApiError> {
    let task_id = query.task_id.as_deref().map(filter_id::<TaskId>("task_id")).transpose()?;
    let request = paging.request("criteria")?;
    Ok(page("criteria", app::criteria::list(&state.app, &grant, task_id, request).await?))
}

/// Create a criterion.
#[utoipa::path(post, path = "/criteria", tag = "criteria", request_body = NewCriterion,
    params(IdempotencyKey),
    responses((status = 201, description = "The criterion", body = Criterion), ErrorResponses, WriteErrorResponses))]
async fn create_criterion(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Post(new, once): Post<NewCriterion>,
) -> Result<CreatedResponse<Criterion>, ApiError> {
    let created = app::criteria::create(&state.app, &grant, once, new).await?;
    Ok(CreatedResponse::at(created, |criterion| format!("/criteria/{}", criterion.id)))
}

/// One criterion.
#[utoipa::path(get, path = "/criteria/{criterion_id}", tag = "criteria", params(("criterion_id" = CriterionId, Path, description = "The criterion")),
    responses((status = 200, description = "The criterion", body = Criterion), ErrorResponses))]
async fn get_criterion(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(criterion): PathId<CriterionId>,
) -> Result<Tagged<Criterion>, ApiError> {
    Ok(Tagged(app::criteria::get(&state.app, &grant, &criterion).await?))
}

/// Change a criterion. Fields that the body leaves out keep their values.
#[utoipa::path(patch, path = "/criteria/{criterion_id}", tag = "criteria", request_body = CriterionPatch,
    params(("criterion_id" = CriterionId, Path, description = "The criterion"),
        Precondition),
    responses((status = 200, description = "The criterion after the change", body = Criterion), ErrorResponses, WriteErrorResponses))]
async fn update_criterion(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(criterion): PathId<CriterionId>,
    Precondition(if_match): Precondition,
    Patch(patch): Patch<CriterionPatch>,
) -> Result<Tagged<Criterion>, ApiError> {
    Ok(Tagged(app::criteria::update(&state.app, &grant, &criterion, if_match, patch).await?))
}

/// Delete a criterion.
#[utoipa::path(delete, path = "/criteria/{criterion_id}", tag = "criteria",
    params(("criterion_id" = CriterionId, Path, description = "The criterion"),
        Precondition),
    responses((status = 204, description = "Deleted"), ErrorResponses, WriteErrorResponses))]
async fn delete_criterion(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(criterion): PathId<CriterionId>,
    Precondition(if_match): Precondition,
) -> Result<StatusCode, ApiError> {
    app::criteria::delete(&state.app, &grant, &criterion, if_match).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(list_criteria, create_criterion)).routes(routes!(
        get_criterion,
        update_criterion,
        delete_criterion
    ))
}
