//! `/sandboxes`: running simulators and their evidence. The paths of each protocol are below the sandbox.

mod evidence;
pub(crate) mod fhir;
mod hl7;
mod token;

use axum::Json;
use axum::extract;
use axum::http::StatusCode;
use model::page::List;
use model::playground::{NewSandbox, Sandbox};
use model::{DatasetId, PlaygroundId, SandboxId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorResponses, WriteErrorResponses};
use crate::base_url::BaseUrl;
use crate::extractors::{Auth, IdempotencyKey, PageQuery, Paged, PathId, PathIds, filter_id};
use crate::json_body::{Bodyless, Post};
use crate::responses::{CreatedResponse, Tagged, TransitionResponse, page};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SandboxQuery {
    /// Only the sandboxes of this playground.
    #[param(value_type = PlaygroundId, required = false)]
    playground_id: Option<String>,
}

/// Sandboxes, newest first.
#[utoipa::path(get, path = "/sandboxes", tag = "sandboxes", params(SandboxQuery, PageQuery),
    responses((status = 200, description = "Sandboxes", body = List<Sandbox>), ErrorResponses))]
async fn list_sandboxes(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    BaseUrl(base): BaseUrl,
    Paged(query, paging): Paged<SandboxQuery>,
) -> Result<Json<List<Sandbox>>, ApiError> {
    let SandboxQuery { playground_id } = query;
    let playground = playground_id.as_deref().map(filter_id::<PlaygroundId>("playground_id")).transpose()?;
    let request = paging.request("sandboxes")?;
    let mut sandboxes = app::sandboxes::list(&state.app, &grant, &base, playground, request).await?;
    if let Some(ports) = &state.mllp {
        sandboxes.items.iter_mut().for_each(|sandbox| ports.add_open_to(sandbox, &base));
    }
    Ok(page("sandboxes", sandboxes))
}

/// Start one simulator: standalone, or in an existing playground.
#[utoipa::path(post, path = "/sandboxes", tag = "sandboxes", request_body = NewSandbox,
    params(IdempotencyKey),
    responses((status = 201, description = "The sandbox with its credentials", body = Sandbox), ErrorResponses, WriteErrorResponses))]
async fn create_sandbox(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    BaseUrl(base): BaseUrl,
    Post(new, once): Post<NewSandbox>,
) -> Result<CreatedResponse<Sandbox>, ApiError> {
    let mut created = app::sandboxes::create(&state.app, &grant, &base, once, new).await?;
    state.add_mllp_port(&mut created.value, &base);
    Ok(CreatedResponse::at(created, |sandbox| format!("/sandboxes/{}", sandbox.id)))
}

/// One sandbox, with its credentials.
#[utoipa::path(get, path = "/sandboxes/{sandbox_id}", tag = "sandboxes",
    params(("sandbox_id" = SandboxId, Path, description = "The sandbox")),
    responses((status = 200, description = "The sandbox", body = Sandbox), ErrorResponses))]
async fn get_sandbox(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    BaseUrl(base): BaseUrl,
    PathId(sandbox): PathId<SandboxId>,
) -> Result<Tagged<Sandbox>, ApiError> {
    let mut sandbox = app::sandboxes::get(&state.app, &grant, &base, &sandbox).await?;
    state.add_mllp_port(&mut sandbox, &base);
    Ok(Tagged(sandbox))
}

/// End a sandbox: it accepts no more traffic, and its credentials become invalid. Events and state stay readable.
#[utoipa::path(post, path = "/sandboxes/{sandbox_id}/teardown", tag = "sandboxes",
    params(("sandbox_id" = SandboxId, Path, description = "The sandbox"),
        IdempotencyKey),
    responses((status = 200, description = "The sandbox", body = Sandbox), ErrorResponses, WriteErrorResponses))]
async fn tear_down_sandbox(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    BaseUrl(base): BaseUrl,
    PathId(sandbox): PathId<SandboxId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<Sandbox>, ApiError> {
    Ok(TransitionResponse(app::sandboxes::tear_down(&state.app, &grant, &base, &sandbox, once).await?))
}

/// Attach a dataset at its current revision, above the datasets the sandbox already has. Attaching it again switches to its
/// newest revision. Changes made in the sandbox are kept.
#[utoipa::path(post, path = "/sandboxes/{sandbox_id}/datasets/{dataset_id}", tag = "sandboxes",
    params(("sandbox_id" = SandboxId, Path, description = "The sandbox"), ("dataset_id" = DatasetId, Path, description = "The dataset"),
        IdempotencyKey),
    responses((status = 200, description = "The sandbox with the dataset", body = Sandbox), ErrorResponses, WriteErrorResponses))]
async fn attach_to_sandbox(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    BaseUrl(base): BaseUrl,
    PathIds(sandbox, dataset): PathIds<SandboxId, DatasetId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<Sandbox>, ApiError> {
    let mut attached = app::sandboxes::attach(&state.app, &grant, &base, &sandbox, &dataset, once).await?;
    state.add_mllp_port(&mut attached.value, &base);
    Ok(TransitionResponse(attached))
}

/// Detach a dataset from the sandbox. Changes made in the sandbox are kept.
#[utoipa::path(delete, path = "/sandboxes/{sandbox_id}/datasets/{dataset_id}", tag = "sandboxes",
    params(("sandbox_id" = SandboxId, Path, description = "The sandbox"), ("dataset_id" = DatasetId, Path, description = "The dataset")),
    responses((status = 204, description = "Detached"), ErrorResponses, WriteErrorResponses))]
async fn detach_from_sandbox(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathIds(sandbox, dataset): PathIds<SandboxId, DatasetId>,
) -> Result<StatusCode, ApiError> {
    app::sandboxes::detach(&state.app, &grant, &sandbox, &dataset).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list_sandboxes, create_sandbox))
        .routes(routes!(get_sandbox))
        .routes(routes!(tear_down_sandbox))
        .routes(routes!(attach_to_sandbox, detach_from_sandbox))
        .merge(evidence::router())
        .merge(token::router())
        .merge(fhir::router())
        .merge(hl7::router())
}
