//! `files` of a sandbox: its file tree over HTTP. SFTP serves the same tree.

mod download;
mod range;

use app::sandboxes::files::{Condition, FileDrop, MoveRequest, Parents, Protocol, Target, TreePath, Upload};
use axum::Json;
use axum::body::Body;
use axum::extract::{self, Request};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::BytesMut;
use futures_util::StreamExt;
use model::FieldErrors;
use model::dataset::{DatasetFile, FILE_PATH_RULE};
use model::page::List;
use model::simulator::SimulatorType;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::sandbox_routes::{SandboxScope, ScopedType, in_every_scope};
use crate::State;
use crate::api_error::{ApiError, ClosedSandboxResponse, Code, ErrorBody, ErrorResponses, WriteErrorResponses};
use crate::extractors::{PageQuery, Paged, Precondition};
use crate::json_body::{Post, reject_content_encoding};
use crate::responses::page;

struct Files;

impl ScopedType for Files {
    const TYPE: SimulatorType = SimulatorType::Files;
}

/// Query parameters of the list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FileQuery {
    /// Only files whose path starts with this, such as `outbox/`.
    #[param(required = false)]
    prefix: Option<String>,
}

/// The files of the sandbox, by path.
#[utoipa::path(get, path = "/files", operation_id = "list_sandbox_files", params(FileQuery, PageQuery),
    responses((status = 200, description = "Files", body = List<DatasetFile>), ClosedSandboxResponse, ErrorResponses))]
async fn list(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Files>,
    Paged(query, paging): Paged<FileQuery>,
) -> Result<Json<List<DatasetFile>>, ApiError> {
    let FileQuery { prefix } = query;
    let request = paging.request("sandbox files")?;
    let listed = file_drop(&state, scope).list(prefix.as_deref().unwrap_or_default(), request).await;
    Ok(page("sandbox files", listed.map_err(app::AppError::from)?))
}

/// The first 1000 files in `inbox/`, by path.
#[utoipa::path(get, path = "/files/inbox", operation_id = "list_sandbox_inbox",
    responses((status = 200, description = "Files", body = Vec<DatasetFile>), ClosedSandboxResponse, ErrorResponses))]
async fn inbox(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Files>,
) -> Result<Json<Vec<DatasetFile>>, ApiError> {
    Ok(Json(file_drop(&state, scope).inbox().await.map_err(app::AppError::from)?))
}

/// The bytes of a file, or a part of them (`Range`).
#[utoipa::path(get, path = "/files/{*path}", operation_id = "read_sandbox_file",
    params(("path" = String, Path, description = "The file's path; it may contain slashes"),
        ("Range" = Option<String>, Header, description = "One range of bytes: `bytes=0-1023`"),
        ("If-Range" = Option<String>, Header, description = "Return the range only if the file still has this entity tag, else the complete file")),
    responses((status = 200, description = "The bytes, in the type they were stored with", body = Vec<u8>, content_type = "*/*"),
        (status = 206, description = "A part of the bytes", body = Vec<u8>, content_type = "*/*"),
        (status = 409, description = "It is a directory, or the sandbox does not accept traffic", body = ErrorBody),
        (status = 416, description = "The file has no such bytes", body = ErrorBody), ErrorResponses))]
async fn read(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Files>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let path = TreePath::exact(scope.value(0)).ok_or_else(not_found)?;
    download::respond(file_drop(&state, scope), &path, method == Method::HEAD, &headers).await
}

/// Store a file, completely or not at all. Its `Content-Type` is stored with it; without one, the type is derived from the
/// file name.
#[utoipa::path(put, path = "/files/{*path}", operation_id = "write_sandbox_file",
    params(("path" = String, Path, description = "The file's path; it may contain slashes"),
        Precondition,
        ("If-None-Match" = Option<String>, Header, description = "`*`: only if the file does not exist yet")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "The bytes"),
    responses((status = 200, description = "The updated file", body = DatasetFile),
        (status = 201, description = "The new file", body = DatasetFile), ErrorResponses, WriteErrorResponses))]
async fn write(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Files>,
    request: Request,
) -> Result<Response, ApiError> {
    let headers = request.headers();
    reject_content_encoding(headers)?;
    let target = Target {
        path: writable(scope.value(0), "path")?,
        content_type: content_type(headers)?,
        condition: condition(headers)?,
        parents: Parents::Created,
        announced: content_length(headers),
    };
    let upload = file_drop(&state, scope).begin_upload(target).await.map_err(app::AppError::from)?;
    let upload = receive(upload, request.into_body()).await?;
    let written = upload.finish().await.map_err(app::AppError::from)?;
    let status = if written.is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, [(header::ETAG, download::tag(&written.file))], Json(written.file)).into_response())
}

/// Delete a file.
#[utoipa::path(delete, path = "/files/{*path}", operation_id = "delete_sandbox_file",
    params(("path" = String, Path, description = "The file's path; it may contain slashes"),
        Precondition),
    responses((status = 204, description = "Deleted"), ErrorResponses, WriteErrorResponses))]
async fn delete(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Files>,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    let path = TreePath::exact(scope.value(0)).ok_or_else(not_found)?;
    let condition = condition(&headers)?;
    file_drop(&state, scope).delete(&path, condition).await.map_err(app::AppError::from)?;
    Ok(StatusCode::NO_CONTENT)
}

/// The new path of a file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MoveFile {
    /// The new path.
    #[schema(min_length = 1, max_length = 1024)]
    move_to: String,
    /// Whether an existing file is replaced.
    #[serde(default)]
    #[schema(required = false)]
    overwrite: bool,
}

/// Move a file, or a directory with all its content.
#[utoipa::path(post, path = "/files/{*path}", operation_id = "move_sandbox_file", request_body = MoveFile,
    params(("path" = String, Path, description = "The file's path; it may contain slashes")),
    responses((status = 204, description = "Moved"), ErrorResponses, WriteErrorResponses))]
async fn rename(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Files>,
    Post(body, _): Post<MoveFile>,
) -> Result<StatusCode, ApiError> {
    let from = TreePath::exact(scope.value(0)).ok_or_else(not_found)?;
    let to = writable(&body.move_to, "move_to")?;
    let rename = MoveRequest { from, to, replaces: body.overwrite, parents: Parents::Created };
    file_drop(&state, scope).rename(rename).await.map_err(app::AppError::from)?;
    Ok(StatusCode::NO_CONTENT)
}

fn file_drop(state: &State, scope: SandboxScope<Files>) -> FileDrop {
    FileDrop::new(&state.app, scope.access, Protocol::Http)
}

/// Also the error for paths that are not valid.
fn not_found() -> ApiError {
    ApiError::new(Code::NotFound, "no such file")
}

fn writable(path: &str, field: &str) -> Result<TreePath, ApiError> {
    TreePath::exact(path).ok_or_else(|| ApiError::invalid(FieldErrors::one(field, FILE_PATH_RULE)))
}

fn condition(headers: &HeaderMap) -> Result<Condition, ApiError> {
    let text = |name: header::HeaderName| match headers.get(&name).map(HeaderValue::to_str).transpose() {
        Ok(text) => Ok(text.map(ToOwned::to_owned)),
        Err(_) => Err(ApiError::new(Code::BadRequest, format!("{name} is not a list of entity tags"))),
    };
    Ok(Condition { if_match: text(header::IF_MATCH)?, if_none_match: text(header::IF_NONE_MATCH)? })
}

fn content_type(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(None) };
    match value.to_str() {
        Ok(text) if (1..=255).contains(&text.len()) => Ok(Some(text.to_owned())),
        _ => Err(ApiError::new(Code::BadRequest, "Content-Type must be 1 to 255 printable ASCII characters")),
    }
}

fn content_length(headers: &HeaderMap) -> u64 {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    length.and_then(|length| length.parse().ok()).unwrap_or(0)
}

/// Received bytes are collected up to this size before they are written.
const WRITE_CHUNK_BYTES: usize = 256 * 1024;

async fn receive(mut upload: Upload, body: Body) -> Result<Upload, ApiError> {
    let mut chunks = body.into_data_stream();
    let mut buffer = BytesMut::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| ApiError::new(Code::BadRequest, "the body ended early or arrived too slowly"))?;
        buffer.extend_from_slice(&chunk);
        if buffer.len() >= WRITE_CHUNK_BYTES {
            upload.append(buffer.split().freeze()).await.map_err(app::AppError::from)?;
        }
    }
    upload.append(buffer.freeze()).await.map_err(app::AppError::from)?;
    Ok(upload)
}

pub(crate) fn router() -> OpenApiRouter<State> {
    in_every_scope(routes!(list))
        .merge(in_every_scope(routes!(inbox)))
        .merge(in_every_scope(routes!(read, write, delete, rename)))
}
