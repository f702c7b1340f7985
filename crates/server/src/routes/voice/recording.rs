//! Audio recordings of calls.

use app::sandboxes::voice;
use axum::extract;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::PhoneLine;
use crate::State;
use crate::api_error::{ApiError, ErrorBody, ErrorResponses};
use crate::routes::sandbox_routes::{SandboxScope, in_every_scope};

/// A call as a WAV file.
///
/// The turns are spoken by two synthetic voices. Requires a speech synthesizer on the server.
#[utoipa::path(get, path = "/voice/calls/{call_id}/recording", operation_id = "get_recording",
    params(("call_id" = String, Path, description = "The call")),
    responses((status = 200, description = "The recording", content_type = "audio/wav", body = Vec<u8>),
        (status = 409, description = "The server has no speech synthesizer, nothing was said, or the call is too long", body = ErrorBody),
        ErrorResponses))]
async fn get_recording(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PhoneLine>,
) -> Result<Response, ApiError> {
    let wav = voice::record(&state.app, &scope.access, scope.value(0).to_owned()).await?;
    Ok(([(header::CONTENT_TYPE, "audio/wav")], wav).into_response())
}

pub(super) fn router() -> OpenApiRouter<State> {
    in_every_scope(routes!(get_recording))
}
