//! `/playgrounds`: running environments.

use axum::Json;
use axum::extract;
use model::PlaygroundId;
use model::page::List;
use model::playground::{NewPlayground, Playground};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorResponses, WriteErrorResponses};
use crate::base_url::BaseUrl;
use crate::extractors::{Auth, IdempotencyKey, PageQuery, Params, PathId};
use crate::json_body::{Bodyless, Post};
use crate::responses::{CreatedResponse, Tagged, TransitionResponse, page};

/// Playgrounds with their sandboxes, newest first.
#[utoipa::path(get, path = "/playgrounds", tag = "playgrounds", params(PageQuery),
    responses((status = 200, description = "Playgrounds", body = List<Playground>), ErrorResponses))]
async fn list_playgrounds(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    BaseUrl(base): BaseUrl,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Playground>>, ApiError> {
    let request = query.request("playgrounds")?;
    let mut playgrounds = app::playgrounds::list(&state.app, &grant, &base, request).await?;
    if let Some(ports) = &state.mllp {
        let sandboxes = playgrounds.items.iter_mut().flat_map(|playground| &mut playground.sandboxes);
        sandboxes.for_each(|sandbox| ports.add_open_to(sandbox, &base));
    }
    Ok(page("playgrounds", playgrounds))
}

/// Start a playground: one sandbox for each simulator of the environment, over the current revisions of its datasets. The
/// time it takes does not depend on the size of the datasets.
#[utoipa::path(post, path = "/playgrounds", tag = "playgrounds", request_body = NewPlayground,
    params(IdempotencyKey),
    responses((status = 201, description = "The playground with its sandboxes and their credentials", body = Playground), ErrorResponses, WriteErrorResponses))]
async fn create_playground(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    BaseUrl(base): BaseUrl,
    Post(new, once): Post<NewPlayground>,
) -> Result<CreatedResponse<Playground>, ApiError> {
    let mut created = app::playgrounds::create(&state.app, &grant, &base, once, new).await?;
    created.value.sandboxes.iter_mut().for_each(|sandbox| state.add_mllp_port(sandbox, &base));
    Ok(CreatedResponse::at(created, |playground| format!("/playgrounds/{}", playground.id)))
}

/// One playground, with its sandboxes and their credentials.
#[utoipa::path(get, path = "/playgrounds/{playground_id}", tag = "playgrounds",
    params(("playground_id" = PlaygroundId, Path, description = "The playground")),
    responses((status = 200, description = "The playground", body = Playground), ErrorResponses))]
async fn get_playground(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    BaseUrl(base): BaseUrl,
    PathId(playground): PathId<PlaygroundId>,
) -> Result<Tagged<Playground>, ApiError> {
    let mut playground = app::playgrounds::get(&state.app, &grant, &base, &playground).await?;
    playground.sandboxes.iter_mut().for_each(|sandbox| state.add_mllp_port(sandbox, &base));
    Ok(Tagged(playground))
}

/// Reset to the baseline: all changes are undone. Events stay readable, and credentials stay valid.
#[utoipa::path(post, path = "/playgrounds/{playground_id}/reset", tag = "playgrounds",
    params(("playground_id" = PlaygroundId, Path, description = "The playground"),
        IdempotencyKey),
    responses((status = 200, description = "The playground", body = Playground), ErrorResponses, WriteErrorResponses))]
async fn reset_playground(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    BaseUrl(base): BaseUrl,
    PathId(playground): PathId<PlaygroundId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<Playground>, ApiError> {
    let mut reset = app::playgrounds::reset(&state.app, &grant, &base, &playground, once).await?;
    reset.value.sandboxes.iter_mut().for_each(|sandbox| state.add_mllp_port(sandbox, &base));
    Ok(TransitionResponse(reset))
}

/// End a playground: it accepts no more traffic, and its credentials become invalid. Events, state and evidence stay
/// readable.
#[utoipa::path(post, path = "/playgrounds/{playground_id}/teardown", tag = "playgrounds",
    params(("playground_id" = PlaygroundId, Path, description = "The playground"),
        IdempotencyKey),
    responses((status = 200, description = "The playground", body = Playground), ErrorResponses, WriteErrorResponses))]
async fn tear_down_playground(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    BaseUrl(base): BaseUrl,
    PathId(playground): PathId<PlaygroundId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<Playground>, ApiError> {
    Ok(TransitionResponse(app::playgrounds::tear_down(&state.app, &grant, &base, &playground, once).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list_playgrounds, create_playground))
        .routes(routes!(get_playground))
        .routes(routes!(reset_playground))
        .routes(routes!(tear_down_playground))
}
