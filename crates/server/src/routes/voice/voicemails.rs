//! Messages that callers left.

use app::sandboxes::voice;
use axum::{Json, extract};
use model::Timestamp;
use model::page::List;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Line;
use crate::State;
use crate::envelope::{ApiError, ErrorBody, Refusals};
use crate::extract::{PageQuery, Params};
use crate::respond::page;
use crate::routes::doors::{Door, mounted};

/// A message that somebody left for the agent.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are what rows have")]
struct Voicemail {
    id: String,
    /// Withheld without it.
    from_number: Option<String>,
    caller_name: Option<String>,
    text: String,
    received_at: Timestamp,
    heard: bool,
}

/// Messages, oldest first.
#[utoipa::path(get, path = "/voice/voicemails", operation_id = "list_voicemails", params(PageQuery),
    responses((status = 200, description = "Voicemails", body = List<Voicemail>),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn list_voicemails(
    extract::State(state): extract::State<State>,
    door: Door<Line>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let request = query.request("voicemails")?;
    Ok(page("voicemails", voice::voicemails(&state.app, &door.access, request).await?))
}

/// One message. It has been heard from now on.
#[utoipa::path(get, path = "/voice/voicemails/{voicemail_id}", operation_id = "hear_voicemail",
    params(("voicemail_id" = String, Path, description = "The voicemail")),
    responses((status = 200, description = "The voicemail", body = Voicemail),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn hear_voicemail(
    extract::State(state): extract::State<State>,
    door: Door<Line>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(voice::voicemail(&state.app, &door.access, door.value(0).to_owned()).await?))
}

pub(super) fn router() -> OpenApiRouter<State> {
    mounted(routes!(list_voicemails)).merge(mounted(routes!(hear_voicemail)))
}
