//! Voicemail messages.

use app::sandboxes::voice;
use axum::{Json, extract};
use model::Timestamp;
use model::page::List;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::PhoneLine;
use crate::State;
use crate::api_error::{ApiError, ClosedSandboxResponse, ErrorResponses};
use crate::extractors::{PageQuery, Params};
use crate::responses::page;
use crate::routes::sandbox_routes::{SandboxScope, in_every_scope};

/// A message that somebody left for the agent.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a row")]
struct Voicemail {
    id: String,
    /// Null if the number is withheld.
    from_number: Option<String>,
    caller_name: Option<String>,
    text: String,
    received_at: Timestamp,
    heard: bool,
}

/// Voicemails, oldest first.
#[utoipa::path(get, path = "/voice/voicemails", operation_id = "list_voicemails", params(PageQuery),
    responses((status = 200, description = "Voicemails", body = List<Voicemail>),
        ClosedSandboxResponse, ErrorResponses))]
async fn list_voicemails(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PhoneLine>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let request = query.request("voicemails")?;
    Ok(page("voicemails", voice::voicemails(&state.app, &scope.access, request).await?))
}

/// One voicemail. Reading it marks it as heard.
#[utoipa::path(get, path = "/voice/voicemails/{voicemail_id}", operation_id = "hear_voicemail",
    params(("voicemail_id" = String, Path, description = "The voicemail")),
    responses((status = 200, description = "The voicemail", body = Voicemail), ClosedSandboxResponse, ErrorResponses))]
async fn hear_voicemail(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PhoneLine>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(voice::voicemail(&state.app, &scope.access, scope.value(0).to_owned()).await?))
}

pub(super) fn router() -> OpenApiRouter<State> {
    in_every_scope(routes!(list_voicemails)).merge(in_every_scope(routes!(hear_voicemail)))
}
