//! `/v1/leaderboards`: published results of a version.

use axum::extract;
use model::run::Leaderboard;
use model::slug::VersionRef;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, Code, ErrorResponses};
use crate::extractors::{OptionalAuth, Params, PathSegment};
use crate::responses::Tagged;

/// Query parameters of a leaderboard.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct EngineQuery {
    /// Only results of this engine; by default the newest engine that has results.
    #[param(value_type = String, required = false)]
    engine: Option<String>,
}

/// The leaderboard of a version. Everyone can read it if the benchmark is Public, else only its organization.
#[utoipa::path(get, path = "/v1/leaderboards/{reference}", tag = "v1", security(()),
    params(("reference" = String, Path, description = "`slug@version`"), EngineQuery),
    responses((status = 200, description = "The leaderboard", body = Leaderboard), ErrorResponses))]
async fn get_leaderboard(
    extract::State(state): extract::State<State>,
    OptionalAuth(reader): OptionalAuth,
    PathSegment(reference): PathSegment,
    Params(query): Params<EngineQuery>,
) -> Result<Tagged<Leaderboard>, ApiError> {
    let not_found = |()| ApiError::new(Code::NotFound, "no such benchmark");
    let reference: VersionRef = reference.parse().map_err(not_found)?;
    Ok(Tagged(app::runs::leaderboards::leaderboard(&state.app, reader.as_ref(), &reference, query.engine).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(get_leaderboard))
}
