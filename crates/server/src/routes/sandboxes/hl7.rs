//! The HL7 v2 interface over HTTP: an inbox, and an endpoint that accepts messages and returns acknowledgements.

use app::sandboxes::hl7::{self, Body, LIMITS, Reply};
use axum::Json;
use axum::extract::{self, FromRequest, Request};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use model::FieldErrors;
use model::hl7::{InboxMessage, InboxPatch, OutboundAnswer, OutboundMessage};
use model::page::List;
use model::simulator::SimulatorType;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ClosedSandboxResponse, ErrorResponses, WriteErrorResponses};
use crate::extractors::{PageQuery, Paged, Precondition, once};
use crate::json_body::{Patch, Post, media_type, read_body, reject_content_encoding};
use crate::responses::{Tagged, page};
use crate::routes::sandbox_routes::{SandboxScope, ScopedType, alias_at, in_every_scope};

struct Hl7;

impl ScopedType for Hl7 {
    const TYPE: SimulatorType = SimulatorType::Hl7;
}

/// The media type of raw messages.
const ER7: &str = "x-application/hl7-v2+er7";

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct InboxQuery {
    /// `true` for messages that were read, `false` for unread ones.
    #[param(value_type = bool, required = false)]
    read: Option<String>,
}

/// Received messages, newest first.
#[utoipa::path(get, path = "/hl7/inbox", operation_id = "list_hl7_inbox", params(InboxQuery, PageQuery),
    responses((status = 200, description = "Messages", body = List<InboxMessage>),
        ClosedSandboxResponse, ErrorResponses))]
async fn list_inbox(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Hl7>,
    Paged(query, paging): Paged<InboxQuery>,
) -> Result<Json<List<InboxMessage>>, ApiError> {
    let read = match query.read.as_deref() {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) => return Err(ApiError::invalid(FieldErrors::one("read", "must be true or false"))),
    };
    let request = paging.request("hl7_inbox")?;
    Ok(page("hl7_inbox", hl7::inbox(&state.app, scope.access, read, request).await?))
}

/// One message of the inbox. Reading it does not mark it as read.
#[utoipa::path(get, path = "/hl7/inbox/{message_id}", operation_id = "get_hl7_message",
    params(("message_id" = String, Path, description = "The message")),
    responses((status = 200, description = "The message", body = InboxMessage), ClosedSandboxResponse, ErrorResponses))]
async fn get_message(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Hl7>,
) -> Result<Tagged<InboxMessage>, ApiError> {
    let message = scope.value(0).to_owned();
    Ok(Tagged(hl7::message(&state.app, scope.access, message).await?))
}

/// Mark a message as read or unread; with `If-Match` only if its current `ETag` matches.
#[utoipa::path(patch, path = "/hl7/inbox/{message_id}", operation_id = "mark_hl7_message", request_body = InboxPatch,
    params(("message_id" = String, Path, description = "The message")),
    responses((status = 200, description = "The message", body = InboxMessage), ErrorResponses, WriteErrorResponses))]
async fn mark_message(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Hl7>,
    Precondition(if_match): Precondition,
    Patch(patch): Patch<InboxPatch>,
) -> Result<Tagged<InboxMessage>, ApiError> {
    let message = scope.value(0).to_owned();
    Ok(Tagged(hl7::mark(&state.app, scope.access, message, patch.read, if_match).await?))
}

/// Send one or several messages or a batch: as JSON, or raw in the character set of MSH-18. An invalid message gets AE or AR
/// in its acknowledgement; only a body that is not HL7 at all is rejected. Repeating a message is safe: with the same control
/// id and content it gets the first acknowledgement again. With `Accept: x-application/hl7-v2+er7` the response is the raw
/// acknowledgement, and 204 if none is due.
#[utoipa::path(post, path = "/hl7/outbound", operation_id = "send_hl7",
    request_body(content((OutboundMessage = "application/json"), (String = "x-application/hl7-v2+er7"))),
    responses((status = 200, description = "The acknowledgement",
            content((OutboundAnswer = "application/json"), (String = "x-application/hl7-v2+er7"))),
        (status = 204, description = "No acknowledgement is due, and raw HL7 was requested"),
        ErrorResponses, WriteErrorResponses))]
async fn send(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Hl7>,
    request: Request,
) -> Result<Response, ApiError> {
    let wants_er7 = accepts_er7(request.headers());
    let body = read_message(request, &state).await?;
    let reply = hl7::send(&state.app, scope.access, body).await?;
    if wants_er7 { Ok(raw(&reply)) } else { parsed(&reply) }
}

async fn read_message(request: Request, state: &State) -> Result<Body, ApiError> {
    let media = media_type(request.headers()).unwrap_or_default();
    if !is_er7(&media) {
        // Retries are recognized by the control id of the message. The idempotency key is only validated.
        let Post(message, _) = Post::<OutboundMessage>::from_request(request, state).await?;
        return Ok(Body::Text(message.payload));
    }
    let (parts, body) = request.into_parts();
    reject_content_encoding(&parts.headers)?;
    let bytes = read_body(body, LIMITS.bytes as u64).await?;
    once(&parts, &bytes)?;
    Ok(Body::Bytes(bytes.into()))
}

/// Accepts the media type with and without the `x-` prefix.
fn is_er7(media: &str) -> bool {
    [ER7, "application/hl7-v2+er7", "application/hl7-v2"].contains(&media)
}

fn accepts_er7(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accepted.split(',').next().is_some_and(|first| first.trim().to_ascii_lowercase().starts_with(ER7))
}

fn parsed(reply: &Reply) -> Result<Response, ApiError> {
    let response = reply.to_answer().ok_or_else(ApiError::internal)?;
    Ok(Json(response).into_response())
}

/// The acknowledgement in the character set of the message, as over MLLP.
fn raw(reply: &Reply) -> Response {
    let body = reply.raw();
    if body.is_empty() {
        return axum::http::StatusCode::NO_CONTENT.into_response();
    }
    ([(header::CONTENT_TYPE, ER7)], body).into_response()
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .merge(in_every_scope(routes!(list_inbox)))
        .merge(in_every_scope(routes!(get_message, mark_message)))
        .merge(in_every_scope(routes!(send)))
        .merge(alias_at("/hl7/messages", routes!(send)))
}
