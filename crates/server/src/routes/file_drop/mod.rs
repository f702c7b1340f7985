//! `files` of a sandbox: its file tree over HTTP. The same tree is reached by SFTP.

mod download;
mod range;

use app::sandboxes::files::{Condition, FileDrop, Move, Parents, Target, TreePath, Upload, Via};
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

use super::doors::{Door, Kind, mounted};
use crate::State;
use crate::envelope::{ApiError, Code, ErrorBody, Refusals, WriteRefusals};
use crate::extract::{PageQuery, Params};
use crate::json_body::{Post, refuse_encoding};
use crate::respond::page;

struct Files;

impl Kind for Files {
    const TYPE: SimulatorType = SimulatorType::Files;
}

/// Which files.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FileQuery {
    /// Only files whose paths start so: `outbox/`.
    #[param(required = false)]
    prefix: Option<String>,
    /// How many, 20 by default; more than 100 is read as 100.
    #[param(value_type = u64, required = false, minimum = 1)]
    limit: Option<String>,
    /// `next` or `prev` of an earlier answer of the same list.
    #[param(value_type = String, required = false)]
    cursor: Option<String>,
}

/// The files of the sandbox, by path.
#[utoipa::path(get, path = "/files", operation_id = "list_sandbox_files", params(FileQuery),
    responses((status = 200, description = "Files", body = List<DatasetFile>),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn list(
    extract::State(state): extract::State<State>,
    door: Door<Files>,
    Params(query): Params<FileQuery>,
) -> Result<Json<List<DatasetFile>>, ApiError> {
    let FileQuery { prefix, limit, cursor } = query;
    let request = PageQuery { limit, cursor }.request("sandbox files")?;
    let listed = file_drop(&state, door).list(prefix.as_deref().unwrap_or_default(), request).await;
    Ok(page("sandbox files", listed.map_err(app::AppError::from)?))
}

/// What waits in `inbox/`, by path: the first 1000 files.
#[utoipa::path(get, path = "/files/inbox", operation_id = "list_sandbox_inbox",
    responses((status = 200, description = "Files", body = Vec<DatasetFile>),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn inbox(
    extract::State(state): extract::State<State>,
    door: Door<Files>,
) -> Result<Json<Vec<DatasetFile>>, ApiError> {
    Ok(Json(file_drop(&state, door).inbox().await.map_err(app::AppError::from)?))
}

/// The bytes of a file, or a part of them (`Range`).
#[utoipa::path(get, path = "/files/{*path}", operation_id = "read_sandbox_file",
    params(("path" = String, Path, description = "The file's path; it may have slashes"),
        ("Range" = Option<String>, Header, description = "One range of bytes: `bytes=0-1023`"),
        ("If-Range" = Option<String>, Header, description = "The part only if the file still has this entity tag, else all of it")),
    responses((status = 200, description = "The bytes, in the type they were stored with", body = Vec<u8>, content_type = "*/*"),
        (status = 206, description = "A part of the bytes", body = Vec<u8>, content_type = "*/*"),
        (status = 409, description = "It is a directory, or the sandbox takes no traffic", body = ErrorBody),
        (status = 416, description = "The file has no such bytes", body = ErrorBody), Refusals))]
async fn read(
    extract::State(state): extract::State<State>,
    door: Door<Files>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let path = TreePath::exact(door.value(0)).ok_or_else(missing)?;
    download::answer(file_drop(&state, door), &path, method == Method::HEAD, &headers).await
}

/// Store a file, whole or not at all. Its `Content-Type` is kept; without one the name tells it.
#[utoipa::path(put, path = "/files/{*path}", operation_id = "write_sandbox_file",
    params(("path" = String, Path, description = "The file's path; it may have slashes"),
        ("If-Match" = Option<String>, Header, description = "Change it only in this state"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: only if there is none yet")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "The bytes"),
    responses((status = 200, description = "The file, which was there before", body = DatasetFile),
        (status = 201, description = "The new file", body = DatasetFile), Refusals, WriteRefusals))]
async fn write(
    extract::State(state): extract::State<State>,
    door: Door<Files>,
    request: Request,
) -> Result<Response, ApiError> {
    let headers = request.headers();
    refuse_encoding(headers)?;
    let target = Target {
        path: writable(door.value(0), "path")?,
        content_type: content_type(headers)?,
        condition: condition(headers)?,
        parents: Parents::Made,
        announced: announced(headers),
    };
    let upload = file_drop(&state, door).begin_upload(target).await.map_err(app::AppError::from)?;
    let upload = receive(upload, request.into_body()).await?;
    let written = upload.finish().await.map_err(app::AppError::from)?;
    let status = if written.is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, [(header::ETAG, download::tag(&written.file))], Json(written.file)).into_response())
}

/// Delete a file.
#[utoipa::path(delete, path = "/files/{*path}", operation_id = "delete_sandbox_file",
    params(("path" = String, Path, description = "The file's path; it may have slashes"),
        ("If-Match" = Option<String>, Header, description = "Delete it only in this state")),
    responses((status = 204, description = "It is gone"), Refusals, WriteRefusals))]
async fn delete(
    extract::State(state): extract::State<State>,
    door: Door<Files>,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    let path = TreePath::exact(door.value(0)).ok_or_else(missing)?;
    let condition = condition(&headers)?;
    file_drop(&state, door).delete(&path, condition).await.map_err(app::AppError::from)?;
    Ok(StatusCode::NO_CONTENT)
}

/// What to do with a file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MoveFile {
    /// The path that it gets.
    #[schema(min_length = 1, max_length = 1024)]
    move_to: String,
    /// Whether a file that is there is replaced.
    #[serde(default)]
    #[schema(required = false)]
    overwrite: bool,
}

/// Move a file, or a directory with all that is in it.
#[utoipa::path(post, path = "/files/{*path}", operation_id = "move_sandbox_file", request_body = MoveFile,
    params(("path" = String, Path, description = "The file's path; it may have slashes")),
    responses((status = 204, description = "It is at its new place"), Refusals, WriteRefusals))]
async fn rename(
    extract::State(state): extract::State<State>,
    door: Door<Files>,
    Post(body, _): Post<MoveFile>,
) -> Result<StatusCode, ApiError> {
    let from = TreePath::exact(door.value(0)).ok_or_else(missing)?;
    let to = writable(&body.move_to, "move_to")?;
    let wanted = Move { from, to, replaces: body.overwrite, parents: Parents::Made };
    file_drop(&state, door).rename(wanted).await.map_err(app::AppError::from)?;
    Ok(StatusCode::NO_CONTENT)
}

fn file_drop(state: &State, door: Door<Files>) -> FileDrop {
    FileDrop::new(&state.app, door.access, Via::Http)
}

/// What cannot be a path is nowhere.
fn missing() -> ApiError {
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

fn announced(headers: &HeaderMap) -> u64 {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    length.and_then(|length| length.parse().ok()).unwrap_or(0)
}

/// Bytes that are written together.
const AT_ONCE: usize = 256 * 1024;

async fn receive(mut upload: Upload, body: Body) -> Result<Upload, ApiError> {
    let mut parts = body.into_data_stream();
    let mut waiting = BytesMut::new();
    while let Some(part) = parts.next().await {
        let part = part.map_err(|_| ApiError::new(Code::BadRequest, "the body ended early or came too slowly"))?;
        waiting.extend_from_slice(&part);
        if waiting.len() >= AT_ONCE {
            upload.append(waiting.split().freeze()).await.map_err(app::AppError::from)?;
        }
    }
    upload.append(waiting.freeze()).await.map_err(app::AppError::from)?;
    Ok(upload)
}

pub(crate) fn router() -> OpenApiRouter<State> {
    mounted(routes!(list)).merge(mounted(routes!(inbox))).merge(mounted(routes!(read, write, delete, rename)))
}
