//! `/datasets/{dataset_id}/files`: the content of a files dataset.

use axum::Json;
use axum::extract::{self, Request};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::DatasetId;
use model::dataset::DatasetFile;
use model::page::List;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, Code, ErrorBody, ErrorResponses, WriteErrorResponses};
use crate::extractors::{Auth, PageQuery, Params, PathId, PathIdAndRest, Precondition};
use crate::json_body::{read_body, reject_content_encoding};
use crate::responses::page;

/// The files, by path.
#[utoipa::path(get, path = "/datasets/{dataset_id}/files", tag = "datasets",
    params(("dataset_id" = DatasetId, Path, description = "The dataset"), PageQuery),
    responses((status = 200, description = "Files", body = List<DatasetFile>),
        (status = 409, description = "The dataset is not of type files", body = ErrorBody), ErrorResponses))]
async fn list_files(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(dataset): PathId<DatasetId>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<DatasetFile>>, ApiError> {
    let request = query.request("files")?;
    Ok(page("files", app::datasets::files::list(&state.app, &grant, &dataset, request).await?))
}

/// The bytes of a file.
#[utoipa::path(get, path = "/datasets/{dataset_id}/files/{*path}", tag = "datasets",
    params(("dataset_id" = DatasetId, Path, description = "The dataset"), ("path" = String, Path, description = "The file's path; it may contain slashes")),
    responses((status = 200, description = "The bytes, in the type they were stored with", body = Vec<u8>, content_type = "*/*"),
        (status = 409, description = "The dataset is not of type files", body = ErrorBody), ErrorResponses))]
async fn get_file(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathIdAndRest(dataset, path): PathIdAndRest<DatasetId>,
) -> Result<Response, ApiError> {
    let (file, content) = app::datasets::files::get(&state.app, &grant, &dataset, &path).await?;
    let mut response = content.into_response();
    let headers = response.headers_mut();
    let media = HeaderValue::from_str(&file.content_type).unwrap_or(HeaderValue::from_static(OCTET_STREAM));
    headers.insert(header::CONTENT_TYPE, media);
    if let Ok(tag) = HeaderValue::from_str(&app::datasets::files::tag(&file)) {
        headers.insert(header::ETAG, tag);
    }
    // Authored bytes must never be rendered as a page of this server.
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    Ok(response)
}

/// Store a file, completely or not at all. Its `Content-Type` is stored with it.
#[utoipa::path(put, path = "/datasets/{dataset_id}/files/{*path}", tag = "datasets",
    params(("dataset_id" = DatasetId, Path, description = "The dataset"), ("path" = String, Path, description = "The file's path; it may contain slashes"),
        Precondition),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "The bytes"),
    responses((status = 200, description = "The file", body = DatasetFile), ErrorResponses, WriteErrorResponses))]
async fn put_file(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathIdAndRest(dataset, path): PathIdAndRest<DatasetId>,
    Precondition(if_match): Precondition,
    request: Request,
) -> Result<Json<DatasetFile>, ApiError> {
    reject_content_encoding(request.headers())?;
    let content_type = content_type(request.headers())?;
    let content = read_body(request.into_body(), state.app.limits().upload_bytes).await?;
    Ok(Json(app::datasets::files::put(&state.app, &grant, &dataset, &path, if_match, &content_type, content).await?))
}

/// Delete a file.
#[utoipa::path(delete, path = "/datasets/{dataset_id}/files/{*path}", tag = "datasets",
    params(("dataset_id" = DatasetId, Path, description = "The dataset"), ("path" = String, Path, description = "The file's path; it may contain slashes"),
        Precondition),
    responses((status = 204, description = "Deleted"), ErrorResponses, WriteErrorResponses))]
async fn delete_file(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathIdAndRest(dataset, path): PathIdAndRest<DatasetId>,
    Precondition(if_match): Precondition,
) -> Result<StatusCode, ApiError> {
    app::datasets::files::delete(&state.app, &grant, &dataset, &path, if_match).await?;
    Ok(StatusCode::NO_CONTENT)
}

const OCTET_STREAM: &str = "application/octet-stream";

fn content_type(headers: &HeaderMap) -> Result<String, ApiError> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        return Ok(OCTET_STREAM.into());
    };
    match value.to_str() {
        Ok(text) if (1..=255).contains(&text.len()) => Ok(text.to_owned()),
        _ => Err(ApiError::new(Code::BadRequest, "Content-Type must be 1 to 255 printable ASCII characters")),
    }
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(list_files)).routes(routes!(get_file, put_file, delete_file))
}
