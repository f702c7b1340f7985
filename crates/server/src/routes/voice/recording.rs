//! A call as sound.

use app::sandboxes::voice;
use axum::extract;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Line;
use crate::State;
use crate::envelope::{ApiError, ErrorBody, Refusals};
use crate::routes::doors::{Door, mounted};

/// A call as a WAV file.
///
/// Its turns, spoken by two synthetic voices, where the server has a speech synthesiser.
#[utoipa::path(get, path = "/voice/calls/{call_id}/recording", operation_id = "get_recording",
    params(("call_id" = String, Path, description = "The call")),
    responses((status = 200, description = "The recording", content_type = "audio/wav", body = Vec<u8>),
        (status = 409, description = "The server has no speech synthesiser, nothing was said, or too much was", body = ErrorBody),
        Refusals))]
async fn get_recording(extract::State(state): extract::State<State>, door: Door<Line>) -> Result<Response, ApiError> {
    let wav = voice::record(&state.app, &door.access, door.value(0).to_owned()).await?;
    Ok(([(header::CONTENT_TYPE, "audio/wav")], wav).into_response())
}

pub(super) fn router() -> OpenApiRouter<State> {
    mounted(routes!(get_recording))
}
