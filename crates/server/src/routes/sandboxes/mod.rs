//! `/sandboxes`: running simulators, and what they have seen. Below each hang the paths of its own protocol.

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
use crate::base_url::Base;
use crate::envelope::{ApiError, Refusals, WriteRefusals};
use crate::extract::{Auth, PageQuery, Params, PathId, PathIds, filter_id};
use crate::json_body::{Bodyless, Post};
use crate::respond::{Done, Made, Tagged, page};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SandboxQuery {
    /// Only the sandboxes of this playground.
    #[param(value_type = PlaygroundId, required = false)]
    playground_id: Option<String>,
    /// How many, 20 by default; more than 100 is read as 100.
    #[param(value_type = u64, required = false, minimum = 1)]
    limit: Option<String>,
    /// `next` or `prev` of an earlier answer of the same list.
    #[param(value_type = String, required = false)]
    cursor: Option<String>,
}

/// Sandboxes, newest first.
#[utoipa::path(get, path = "/sandboxes", tag = "sandboxes", params(SandboxQuery),
    responses((status = 200, description = "Sandboxes", body = List<Sandbox>), Refusals))]
async fn list_sandboxes(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Base(base): Base,
    Params(query): Params<SandboxQuery>,
) -> Result<Json<List<Sandbox>>, ApiError> {
    let SandboxQuery { playground_id, limit, cursor } = query;
    let playground = playground_id.as_deref().map(filter_id::<PlaygroundId>("playground_id")).transpose()?;
    let request = PageQuery { limit, cursor }.request("sandboxes")?;
    Ok(page("sandboxes", app::sandboxes::list(&state.app, &grant, &base, playground, request).await?))
}

/// Start one simulator: standalone, or in a playground that is there.
#[utoipa::path(post, path = "/sandboxes", tag = "sandboxes", request_body = NewSandbox,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "The sandbox with its credentials", body = Sandbox), Refusals, WriteRefusals))]
async fn create_sandbox(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Base(base): Base,
    Post(new, once): Post<NewSandbox>,
) -> Result<Made<Sandbox>, ApiError> {
    let created = app::sandboxes::create(&state.app, &grant, &base, once, new).await?;
    Ok(Made::at(created, |sandbox| format!("/sandboxes/{}", sandbox.id)))
}

/// One sandbox, with its credentials.
#[utoipa::path(get, path = "/sandboxes/{sandbox_id}", tag = "sandboxes",
    params(("sandbox_id" = SandboxId, Path, description = "The sandbox")),
    responses((status = 200, description = "The sandbox", body = Sandbox), Refusals))]
async fn get_sandbox(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Base(base): Base,
    PathId(sandbox): PathId<SandboxId>,
) -> Result<Tagged<Sandbox>, ApiError> {
    Ok(Tagged(app::sandboxes::get(&state.app, &grant, &base, &sandbox).await?))
}

/// End a sandbox: no traffic and no credentials any more. Events and state stay readable.
#[utoipa::path(post, path = "/sandboxes/{sandbox_id}/teardown", tag = "sandboxes",
    params(("sandbox_id" = SandboxId, Path, description = "The sandbox"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 200, description = "The sandbox", body = Sandbox), Refusals, WriteRefusals))]
async fn tear_down_sandbox(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Base(base): Base,
    PathId(sandbox): PathId<SandboxId>,
    Bodyless(once): Bodyless,
) -> Result<Done<Sandbox>, ApiError> {
    Ok(Done(app::sandboxes::tear_down(&state.app, &grant, &base, &sandbox, once).await?))
}

/// Lay a dataset, at its current revision, over what the sandbox started from. Attaching it again takes its newest
/// revision. What was changed in the sandbox stays changed.
#[utoipa::path(post, path = "/sandboxes/{sandbox_id}/datasets/{dataset_id}", tag = "sandboxes",
    params(("sandbox_id" = SandboxId, Path, description = "The sandbox"), ("dataset_id" = DatasetId, Path, description = "The dataset"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 200, description = "The sandbox with the dataset", body = Sandbox), Refusals, WriteRefusals))]
async fn attach_to_sandbox(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Base(base): Base,
    PathIds(sandbox, dataset): PathIds<SandboxId, DatasetId>,
    Bodyless(once): Bodyless,
) -> Result<Done<Sandbox>, ApiError> {
    Ok(Done(app::sandboxes::attach(&state.app, &grant, &base, &sandbox, &dataset, once).await?))
}

/// Take a dataset away from under the sandbox. What was changed in the sandbox stays changed.
#[utoipa::path(delete, path = "/sandboxes/{sandbox_id}/datasets/{dataset_id}", tag = "sandboxes",
    params(("sandbox_id" = SandboxId, Path, description = "The sandbox"), ("dataset_id" = DatasetId, Path, description = "The dataset")),
    responses((status = 204, description = "It is detached"), Refusals, WriteRefusals))]
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
