//! `/api-keys` and `/solvers/{solver_id}/api-keys`. A secret is only shown in the response that creates it.

use axum::Json;
use axum::extract;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::identity::{ApiKey, CreatedApiKey, NewApiKey};
use model::page::List;
use model::{KeyId, SolverId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorResponses, WriteErrorResponses};
use crate::extractors::{Auth, IdempotencyKey, PageQuery, Params, PathId, PathIds};
use crate::json_body::OptionalPost;
use crate::responses::{CreatedResponse, page};

/// The organization's keys, newest first. Revoked ones stay in the list.
#[utoipa::path(get, path = "/api-keys", tag = "identity", params(PageQuery),
    responses((status = 200, description = "Keys", body = List<ApiKey>), ErrorResponses))]
async fn list_api_keys(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<ApiKey>>, ApiError> {
    let request = query.request("api-keys")?;
    Ok(page("api-keys", app::api_keys::list(&state.app, &grant, None, request).await?))
}

/// Create an organization key. Its secret is only shown in this response.
#[utoipa::path(post, path = "/api-keys", tag = "identity", request_body = Option<NewApiKey>,
    params(IdempotencyKey),
    responses((status = 201, description = "The key, with its secret", body = CreatedApiKey), ErrorResponses, WriteErrorResponses))]
async fn create_api_key(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    OptionalPost(new, once): OptionalPost<NewApiKey>,
) -> Result<Response, ApiError> {
    let created = app::api_keys::create(&state.app, &grant, None, once, new).await?;
    Ok(without_caching(CreatedResponse::at(created, |key| format!("/api-keys/{}", key.id))))
}

/// Revoke a key. It stops working within a second on all nodes.
#[utoipa::path(delete, path = "/api-keys/{key_id}", tag = "identity", params(("key_id" = KeyId, Path, description = "The key")),
    responses((status = 204, description = "Revoked"), ErrorResponses, WriteErrorResponses))]
async fn revoke_api_key(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(key): PathId<KeyId>,
) -> Result<StatusCode, ApiError> {
    app::api_keys::revoke(&state.app, &grant, None, &key).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A solver's keys, newest first.
#[utoipa::path(get, path = "/solvers/{solver_id}/api-keys", tag = "identity",
    params(("solver_id" = SolverId, Path, description = "The solver"), PageQuery),
    responses((status = 200, description = "Keys", body = List<ApiKey>), ErrorResponses))]
async fn list_solver_keys(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(solver): PathId<SolverId>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<ApiKey>>, ApiError> {
    let request = query.request("solver-keys")?;
    Ok(page("solver-keys", app::api_keys::list(&state.app, &grant, Some(&solver), request).await?))
}

/// Create a key for a solver. Its secret is only shown in this response.
#[utoipa::path(post, path = "/solvers/{solver_id}/api-keys", tag = "identity", request_body = Option<NewApiKey>,
    params(("solver_id" = SolverId, Path, description = "The solver"),
        IdempotencyKey),
    responses((status = 201, description = "The key, with its secret", body = CreatedApiKey), ErrorResponses, WriteErrorResponses))]
async fn create_solver_key(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(solver): PathId<SolverId>,
    OptionalPost(new, once): OptionalPost<NewApiKey>,
) -> Result<Response, ApiError> {
    let created = app::api_keys::create(&state.app, &grant, Some(&solver), once, new).await?;
    Ok(without_caching(CreatedResponse::at(created, |key| format!("/solvers/{solver}/api-keys/{}", key.id))))
}

/// Revoke one key of a solver. Its other keys stay valid.
#[utoipa::path(delete, path = "/solvers/{solver_id}/api-keys/{key_id}", tag = "identity",
    params(("solver_id" = SolverId, Path, description = "The solver"), ("key_id" = KeyId, Path, description = "The key")),
    responses((status = 204, description = "Revoked"), ErrorResponses, WriteErrorResponses))]
async fn revoke_solver_key(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathIds(solver, key): PathIds<SolverId, KeyId>,
) -> Result<StatusCode, ApiError> {
    app::api_keys::revoke(&state.app, &grant, Some(&solver), &key).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Keeps a response with a secret out of caches, and removes `Location` because keys cannot be read.
fn without_caching(created: CreatedResponse<CreatedApiKey>) -> Response {
    let mut response = created.into_response();
    response.headers_mut().remove(header::LOCATION);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list_api_keys, create_api_key))
        .routes(routes!(revoke_api_key))
        .routes(routes!(list_solver_keys, create_solver_key))
        .routes(routes!(revoke_solver_key))
}
