//! `/playgrounds`: running environments.

use axum::Json;
use axum::extract;
use model::PlaygroundId;
use model::page::List;
use model::playground::{NewPlayground, Playground};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::base_url::Base;
use crate::envelope::{ApiError, Refusals, WriteRefusals};
use crate::extract::{Auth, PageQuery, Params, PathId};
use crate::json_body::{Bodyless, Post};
use crate::respond::{Done, Made, Tagged, page};

/// Playgrounds with their sandboxes, newest first.
#[utoipa::path(get, path = "/playgrounds", tag = "playgrounds", params(PageQuery),
    responses((status = 200, description = "Playgrounds", body = List<Playground>), Refusals))]
async fn list_playgrounds(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Base(base): Base,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Playground>>, ApiError> {
    let request = query.request("playgrounds")?;
    Ok(page("playgrounds", app::playgrounds::list(&state.app, &grant, &base, request).await?))
}

/// Start a playground: one sandbox for each simulator of the environment, over its datasets as they are now. It takes as
/// long for ten records as for a million.
#[utoipa::path(post, path = "/playgrounds", tag = "playgrounds", request_body = NewPlayground,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "The playground with its sandboxes and their credentials", body = Playground), Refusals, WriteRefusals))]
async fn create_playground(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Base(base): Base,
    Post(new, once): Post<NewPlayground>,
) -> Result<Made<Playground>, ApiError> {
    let created = app::playgrounds::create(&state.app, &grant, &base, once, new).await?;
    Ok(Made::at(created, |playground| format!("/playgrounds/{}", playground.id)))
}

/// One playground, with its sandboxes and their credentials.
#[utoipa::path(get, path = "/playgrounds/{playground_id}", tag = "playgrounds",
    params(("playground_id" = PlaygroundId, Path, description = "The playground")),
    responses((status = 200, description = "The playground", body = Playground), Refusals))]
async fn get_playground(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Base(base): Base,
    PathId(playground): PathId<PlaygroundId>,
) -> Result<Tagged<Playground>, ApiError> {
    Ok(Tagged(app::playgrounds::get(&state.app, &grant, &base, &playground).await?))
}

/// Go back to the baseline: whatever was changed is as it was. Events stay readable, credentials stay valid.
#[utoipa::path(post, path = "/playgrounds/{playground_id}/reset", tag = "playgrounds",
    params(("playground_id" = PlaygroundId, Path, description = "The playground"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 200, description = "The playground", body = Playground), Refusals, WriteRefusals))]
async fn reset_playground(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Base(base): Base,
    PathId(playground): PathId<PlaygroundId>,
    Bodyless(once): Bodyless,
) -> Result<Done<Playground>, ApiError> {
    Ok(Done(app::playgrounds::reset(&state.app, &grant, &base, &playground, once).await?))
}

/// End a playground: no traffic and no credentials any more. Events, state and evidence stay readable.
#[utoipa::path(post, path = "/playgrounds/{playground_id}/teardown", tag = "playgrounds",
    params(("playground_id" = PlaygroundId, Path, description = "The playground"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 200, description = "The playground", body = Playground), Refusals, WriteRefusals))]
async fn tear_down_playground(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Base(base): Base,
    PathId(playground): PathId<PlaygroundId>,
    Bodyless(once): Bodyless,
) -> Result<Done<Playground>, ApiError> {
    Ok(Done(app::playgrounds::tear_down(&state.app, &grant, &base, &playground, once).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list_playgrounds, create_playground))
        .routes(routes!(get_playground))
        .routes(routes!(reset_playground))
        .routes(routes!(tear_down_playground))
}
