//! `/datasets`: the initial data of sandboxes.

use app::AppError;
use app::datasets::data::Shape;
use axum::Json;
use axum::body::Body;
use axum::extract::{self, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use fhir::ingest::Format;
use futures_util::TryStreamExt;
use model::DatasetId;
use model::dataset::{Checkpoint, Dataset, DatasetPatch, NewDataset};
use model::page::List;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, Code, ErrorBody, ErrorResponses, WriteErrorResponses};
use crate::extractors::{Auth, IdempotencyKey, PageQuery, Params, PathId, Precondition};
use crate::json_body::{Patch, Post, media_type, reject_content_encoding};
use crate::responses::{CreatedResponse, Tagged, page};

/// Datasets, newest first.
#[utoipa::path(get, path = "/datasets", tag = "datasets", params(PageQuery),
    responses((status = 200, description = "Datasets", body = List<Dataset>), ErrorResponses))]
async fn list_datasets(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Dataset>>, ApiError> {
    let request = query.request("datasets")?;
    Ok(page("datasets", app::datasets::list(&state.app, &grant, request).await?))
}

/// Create a dataset.
#[utoipa::path(post, path = "/datasets", tag = "datasets", request_body = NewDataset,
    params(IdempotencyKey),
    responses((status = 201, description = "The dataset", body = Dataset), ErrorResponses, WriteErrorResponses))]
async fn create_dataset(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Post(new, once): Post<NewDataset>,
) -> Result<CreatedResponse<Dataset>, ApiError> {
    let created = app::datasets::create(&state.app, &grant, once, new).await?;
    Ok(CreatedResponse::at(created, |dataset| format!("/datasets/{}", dataset.id)))
}

/// One dataset.
#[utoipa::path(get, path = "/datasets/{dataset_id}", tag = "datasets", params(("dataset_id" = DatasetId, Path, description = "The dataset")),
    responses((status = 200, description = "The dataset", body = Dataset), ErrorResponses))]
async fn get_dataset(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(dataset): PathId<DatasetId>,
) -> Result<Tagged<Dataset>, ApiError> {
    Ok(Tagged(app::datasets::get(&state.app, &grant, &dataset).await?))
}

/// Change a dataset. Fields that the body leaves out keep their values.
#[utoipa::path(patch, path = "/datasets/{dataset_id}", tag = "datasets", request_body = DatasetPatch,
    params(("dataset_id" = DatasetId, Path, description = "The dataset"),
        Precondition),
    responses((status = 200, description = "The dataset after the change", body = Dataset), ErrorResponses, WriteErrorResponses))]
async fn update_dataset(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(dataset): PathId<DatasetId>,
    Precondition(if_match): Precondition,
    Patch(patch): Patch<DatasetPatch>,
) -> Result<Tagged<Dataset>, ApiError> {
    Ok(Tagged(app::datasets::update(&state.app, &grant, &dataset, if_match, patch).await?))
}

/// Delete a dataset.
#[utoipa::path(delete, path = "/datasets/{dataset_id}", tag = "datasets",
    params(("dataset_id" = DatasetId, Path, description = "The dataset"),
        Precondition),
    responses((status = 204, description = "Deleted"), ErrorResponses, WriteErrorResponses))]
async fn delete_dataset(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(dataset): PathId<DatasetId>,
    Precondition(if_match): Precondition,
) -> Result<StatusCode, ApiError> {
    app::datasets::delete(&state.app, &grant, &dataset, if_match).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The content of a FHIR dataset: NDJSON, or one Bundle with `Accept: application/fhir+json`.
#[utoipa::path(get, path = "/datasets/{dataset_id}/data", tag = "datasets", params(("dataset_id" = DatasetId, Path, description = "The dataset")),
    responses((status = 200, description = "The resources", content((String = "application/fhir+ndjson"), (serde_json::Value = "application/fhir+json"))),
        (status = 409, description = "The dataset is not of type fhir", body = ErrorBody), ErrorResponses))]
async fn get_data(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(dataset): PathId<DatasetId>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let wants_bundle = ["application/fhir+json", "application/json"].iter().any(|media| accept.contains(media));
    let (shape, media) = if wants_bundle {
        (Shape::Bundle, "application/fhir+json")
    } else {
        (Shape::Ndjson, "application/fhir+ndjson")
    };
    let content = app::datasets::data::get(&state.app, &grant, &dataset, shape).await?;
    // After the first byte, an error can only be reported by breaking the connection.
    let content = content.map_err(|error| {
        tracing::error!(%error, "a dataset could not be read completely");
        std::io::Error::other("the data cannot be read")
    });
    Ok(([(header::CONTENT_TYPE, media)], Body::from_stream(content)).into_response())
}

/// Replace the content of a FHIR dataset, streamed: NDJSON, or one Bundle. Either all of it is stored, or nothing.
#[utoipa::path(put, path = "/datasets/{dataset_id}/data", tag = "datasets",
    params(("dataset_id" = DatasetId, Path, description = "The dataset"),
        Precondition),
    request_body(content((String = "application/fhir+ndjson"), (serde_json::Value = "application/fhir+json")), description = "The resources, each with an id"),
    responses((status = 200, description = "The dataset with its new revision", body = Dataset), ErrorResponses, WriteErrorResponses))]
async fn put_data(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(dataset): PathId<DatasetId>,
    Precondition(if_match): Precondition,
    request: Request,
) -> Result<Tagged<Dataset>, ApiError> {
    reject_content_encoding(request.headers())?;
    let format = format_of(request.headers())?;
    let body = request.into_body().into_data_stream();
    let body = body.map_err(|_| AppError::BadRequest("the body ended early or arrived too slowly".into()));
    Ok(Tagged(app::datasets::data::put(&state.app, &grant, &dataset, if_match, format, body).await?))
}

fn format_of(headers: &HeaderMap) -> Result<Format, ApiError> {
    match media_type(headers).as_deref() {
        Some("application/fhir+ndjson" | "application/ndjson" | "application/x-ndjson") => Ok(Format::Ndjson),
        Some("application/fhir+json" | "application/json") => Ok(Format::Bundle),
        _ => Err(ApiError::new(
            Code::UnsupportedMediaType,
            "send application/fhir+ndjson, or a Bundle as application/fhir+json",
        )),
    }
}

/// The stored revisions, newest first.
#[utoipa::path(get, path = "/datasets/{dataset_id}/checkpoints", tag = "datasets",
    params(("dataset_id" = DatasetId, Path, description = "The dataset"), PageQuery),
    responses((status = 200, description = "Stored revisions", body = List<Checkpoint>), ErrorResponses))]
async fn list_checkpoints(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(dataset): PathId<DatasetId>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Checkpoint>>, ApiError> {
    let request = query.request("checkpoints")?;
    Ok(page("checkpoints", app::datasets::checkpoints(&state.app, &grant, &dataset, request).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list_datasets, create_dataset))
        .routes(routes!(get_dataset, update_dataset, delete_dataset))
        .routes(routes!(get_data, put_data))
        .routes(routes!(list_checkpoints))
}
