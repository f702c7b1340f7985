//! `/organization`: the caller's own organization.

use axum::extract;
use model::identity::{Organization, OrganizationPatch};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorResponses, WriteErrorResponses};
use crate::extractors::{Auth, Precondition};
use crate::json_body::Patch;
use crate::responses::Tagged;

/// The organization that the key belongs to.
#[utoipa::path(get, path = "/organization", tag = "identity",
    responses((status = 200, description = "The organization", body = Organization), ErrorResponses))]
async fn get_organization(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
) -> Result<Tagged<Organization>, ApiError> {
    Ok(Tagged(app::organizations::get(&state.app, &grant).await?))
}

/// Rename the organization.
#[utoipa::path(patch, path = "/organization", tag = "identity", request_body = OrganizationPatch,
    params(Precondition),
    responses((status = 200, description = "The organization after the change", body = Organization), ErrorResponses, WriteErrorResponses))]
async fn update_organization(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Precondition(if_match): Precondition,
    Patch(patch): Patch<OrganizationPatch>,
) -> Result<Tagged<Organization>, ApiError> {
    Ok(Tagged(app::organizations::update(&state.app, &grant, if_match, patch).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(get_organization, update_organization))
}
