//! `/datasets/{dataset_id}/entities`: the named rows that tasks and criteria bind to.

use axum::Json;
use axum::extract;
use axum::http::StatusCode;
use model::dataset::{DatasetEntity, DatasetEntityPatch, NewDatasetEntity};
use model::page::List;
use model::{DatasetId, EntityId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorResponses, WriteErrorResponses};
use crate::extractors::{Auth, IdempotencyKey, PageQuery, Params, PathId, PathIds, Precondition};
use crate::json_body::{Patch, Post};
use crate::responses::{CreatedResponse, Tagged, page};

/// The dataset's entities, newest first.
#[utoipa::path(get, path = "/datasets/{dataset_id}/entities", tag = "datasets",
    params(("dataset_id" = DatasetId, Path, description = "The dataset"), PageQuery),
    responses((status = 200, description = "Entities", body = List<DatasetEntity>), ErrorResponses))]
async fn list_entities(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(dataset): PathId<DatasetId>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<DatasetEntity>>, ApiError> {
    let request = query.request("entities")?;
    Ok(page("entities", app::entities::list(&state.app, &grant, &dataset, request).await?))
}

/// Create an entity.
#[utoipa::path(post, path = "/datasets/{dataset_id}/entities", tag = "datasets", request_body = NewDatasetEntity,
    params(("dataset_id" = DatasetId, Path, description = "The dataset"),
        IdempotencyKey),
    responses((status = 201, description = "The entity", body = DatasetEntity), ErrorResponses, WriteErrorResponses))]
async fn create_entity(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(dataset): PathId<DatasetId>,
    Post(new, once): Post<NewDatasetEntity>,
) -> Result<CreatedResponse<DatasetEntity>, ApiError> {
    let created = app::entities::create(&state.app, &grant, &dataset, once, new).await?;
    Ok(CreatedResponse::at(created, |entity| format!("/datasets/{dataset}/entities/{}", entity.id)))
}

/// One entity.
#[utoipa::path(get, path = "/datasets/{dataset_id}/entities/{entity_id}", tag = "datasets",
    params(("dataset_id" = DatasetId, Path, description = "The dataset"), ("entity_id" = EntityId, Path, description = "The entity")),
    responses((status = 200, description = "The entity", body = DatasetEntity), ErrorResponses))]
async fn get_entity(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathIds(dataset, entity): PathIds<DatasetId, EntityId>,
) -> Result<Tagged<DatasetEntity>, ApiError> {
    Ok(Tagged(app::entities::get(&state.app, &grant, &dataset, &entity).await?))
}

/// Change an entity. Fields that the body leaves out keep their values.
#[utoipa::path(patch, path = "/datasets/{dataset_id}/entities/{entity_id}", tag = "datasets", request_body = DatasetEntityPatch,
    params(("dataset_id" = DatasetId, Path, description = "The dataset"), ("entity_id" = EntityId, Path, description = "The entity"),
        Precondition),
    responses((status = 200, description = "The entity after the change", body = DatasetEntity), ErrorResponses, WriteErrorResponses))]
async fn update_entity(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathIds(dataset, entity): PathIds<DatasetId, EntityId>,
    Precondition(if_match): Precondition,
    Patch(patch): Patch<DatasetEntityPatch>,
) -> Result<Tagged<DatasetEntity>, ApiError> {
    Ok(Tagged(app::entities::update(&state.app, &grant, &dataset, &entity, if_match, patch).await?))
}

/// Delete an entity.
#[utoipa::path(delete, path = "/datasets/{dataset_id}/entities/{entity_id}", tag = "datasets",
    params(("dataset_id" = DatasetId, Path, description = "The dataset"), ("entity_id" = EntityId, Path, description = "The entity"),
        Precondition),
    responses((status = 204, description = "Deleted"), ErrorResponses, WriteErrorResponses))]
async fn delete_entity(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathIds(dataset, entity): PathIds<DatasetId, EntityId>,
    Precondition(if_match): Precondition,
) -> Result<StatusCode, ApiError> {
    app::entities::delete(&state.app, &grant, &dataset, &entity, if_match).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(list_entities, create_entity)).routes(routes!(
        get_entity,
        update_entity,
        delete_entity
    ))
}
