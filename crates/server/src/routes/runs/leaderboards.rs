//! `/v1/leaderboards`: published results of a version.

use axum::extract;
use model::run::Leaderboard;
use model::slug::VersionRef;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::envelope::{ApiError, Code, Refusals};
use crate::extract::{Anyone, Params, Segment};
use crate::respond::Tagged;

/// Whose scores are shown.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct EngineQuery {
    /// Only results of this engine; of the newest that has any, by default.
    #[param(value_type = String, required = false)]
    engine: Option<String>,
}

/// The leaderboard of a version: for everyone if the benchmark is Public, else for its organization.
#[utoipa::path(get, path = "/v1/leaderboards/{reference}", tag = "v1", security(()),
    params(("reference" = String, Path, description = "`slug@version`"), EngineQuery),
    responses((status = 200, description = "The leaderboard", body = Leaderboard), Refusals))]
async fn get_leaderboard(
    extract::State(state): extract::State<State>,
    Anyone(reader): Anyone,
    Segment(reference): Segment,
    Params(query): Params<EngineQuery>,
) -> Result<Tagged<Leaderboard>, ApiError> {
    let no_such = |()| ApiError::new(Code::NotFound, "no such benchmark");
    let reference: VersionRef = reference.parse().map_err(no_such)?;
    Ok(Tagged(app::runs::leaderboards::leaderboard(&state.app, reader.as_ref(), &reference, query.engine).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(get_leaderboard))
}
