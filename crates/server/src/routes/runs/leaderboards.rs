//! `/v1/leaderboards`: published results of a version.

use axum::extract;
use model::run::Leaderboard;
use model::slug::VersionRef;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::envelope::{ApiError, Code, Refusals};
use crate::extract::{Anyone, Segment};
use crate::respond::Tagged;

/// The leaderboard of a version: for everyone if the benchmark is Public, else for its organization.
#[utoipa::path(get, path = "/v1/leaderboards/{reference}", tag = "v1", security(()),
    params(("reference" = String, Path, description = "`slug@version`")),
    responses((status = 200, description = "The leaderboard", body = Leaderboard), Refusals))]
async fn get_leaderboard(
    extract::State(state): extract::State<State>,
    Anyone(reader): Anyone,
    Segment(reference): Segment,
) -> Result<Tagged<Leaderboard>, ApiError> {
    let no_such = |()| ApiError::new(Code::NotFound, "no such benchmark");
    let reference: VersionRef = reference.parse().map_err(no_such)?;
    Ok(Tagged(app::runs::leaderboards::leaderboard(&state.app, reader.as_ref(), &reference).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(get_leaderboard))
}
