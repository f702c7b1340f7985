//! The HL7 v2 interface over HTTP: an inbox to read, and a place to send to that answers with acknowledgements.

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
use crate::envelope::{ApiError, ErrorBody, Refusals, WriteRefusals};
use crate::extract::{PageQuery, Params, Precondition, once};
use crate::json_body::{Patch, Post, media_type, read_whole, refuse_encoding};
use crate::respond::{Tagged, page};
use crate::routes::doors::{Door, Kind, also_at, mounted};

struct Hl7;

impl Kind for Hl7 {
    const TYPE: SimulatorType = SimulatorType::Hl7;
}

/// The media type of messages as they are.
const ER7: &str = "x-application/hl7-v2+er7";

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct InboxQuery {
    /// Only messages that were read (`true`), or that were not (`false`).
    #[param(value_type = bool, required = false)]
    read: Option<String>,
    /// How many, 20 by default; more than 100 is read as 100.
    #[param(value_type = u64, required = false, minimum = 1)]
    limit: Option<String>,
    /// `next` or `prev` of an earlier answer of the same list.
    #[param(value_type = String, required = false)]
    cursor: Option<String>,
}

/// Messages that have arrived, newest first.
#[utoipa::path(get, path = "/hl7/inbox", operation_id = "list_hl7_inbox", params(InboxQuery),
    responses((status = 200, description = "Messages", body = List<InboxMessage>), (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn list_inbox(
    extract::State(state): extract::State<State>,
    door: Door<Hl7>,
    Params(query): Params<InboxQuery>,
) -> Result<Json<List<InboxMessage>>, ApiError> {
    let read = match query.read.as_deref() {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) => return Err(ApiError::invalid(FieldErrors::one("read", "must be true or false"))),
    };
    let request = PageQuery { limit: query.limit, cursor: query.cursor }.request("hl7_inbox")?;
    Ok(page("hl7_inbox", hl7::inbox(&state.app, door.access, read, request).await?))
}

/// One message of the inbox. Reading it does not mark it as read.
#[utoipa::path(get, path = "/hl7/inbox/{message_id}", operation_id = "get_hl7_message",
    params(("message_id" = String, Path, description = "The message")),
    responses((status = 200, description = "The message", body = InboxMessage), (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn get_message(
    extract::State(state): extract::State<State>,
    door: Door<Hl7>,
) -> Result<Tagged<InboxMessage>, ApiError> {
    let message = door.value(0).to_owned();
    Ok(Tagged(hl7::message(&state.app, door.access, message).await?))
}

/// Mark a message as read, or as not read; with `If-Match` only if it is as it was.
#[utoipa::path(patch, path = "/hl7/inbox/{message_id}", operation_id = "mark_hl7_message", request_body = InboxPatch,
    params(("message_id" = String, Path, description = "The message")),
    responses((status = 200, description = "The message", body = InboxMessage), Refusals, WriteRefusals))]
async fn mark_message(
    extract::State(state): extract::State<State>,
    door: Door<Hl7>,
    Precondition(if_match): Precondition,
    Patch(patch): Patch<InboxPatch>,
) -> Result<Tagged<InboxMessage>, ApiError> {
    let message = door.value(0).to_owned();
    Ok(Tagged(hl7::mark(&state.app, door.access, message, patch.read, if_match).await?))
}

/// Send a message, several or a batch: as JSON, or raw in the character set of MSH-18. A fault of the message is answered by
/// AE or AR in the acknowledgement; only a body that is no HL7 at all is refused. To repeat a message is safe: with the
/// same control id and content it gets the acknowledgement of the first time. With `Accept: x-application/hl7-v2+er7` the
/// answer is the acknowledgement alone, and 204 if none is due.
#[utoipa::path(post, path = "/hl7/outbound", operation_id = "send_hl7",
    request_body(content((OutboundMessage = "application/json"), (String = "x-application/hl7-v2+er7"))),
    responses((status = 200, description = "The acknowledgement",
            content((OutboundAnswer = "application/json"), (String = "x-application/hl7-v2+er7"))),
        (status = 204, description = "No acknowledgement is due, and no other answer was asked for"),
        Refusals, WriteRefusals))]
async fn send(
    extract::State(state): extract::State<State>,
    door: Door<Hl7>,
    request: Request,
) -> Result<Response, ApiError> {
    let wants_er7 = accepts_er7(request.headers());
    let body = body(request, &state).await?;
    let reply = hl7::send(&state.app, door.access, body).await?;
    if wants_er7 { Ok(raw(&reply)) } else { shown(&reply) }
}

async fn body(request: Request, state: &State) -> Result<Body, ApiError> {
    let media = media_type(request.headers()).unwrap_or_default();
    if !is_er7(&media) {
        // A retry is known by the message's own control id, but its key must be sane here too.
        let Post(message, _) = Post::<OutboundMessage>::from_request(request, state).await?;
        return Ok(Body::Text(message.payload));
    }
    let (parts, body) = request.into_parts();
    refuse_encoding(&parts.headers)?;
    let bytes = read_whole(body, LIMITS.bytes as u64).await?;
    once(&parts, &bytes)?;
    Ok(Body::Bytes(bytes.into()))
}

/// The registered type has had an `x-` before it for most of its life.
fn is_er7(media: &str) -> bool {
    [ER7, "application/hl7-v2+er7", "application/hl7-v2"].contains(&media)
}

fn accepts_er7(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accepted.split(',').next().is_some_and(|first| first.trim().to_ascii_lowercase().starts_with(ER7))
}

fn shown(reply: &Reply) -> Result<Response, ApiError> {
    let answer = reply.to_answer().ok_or_else(ApiError::internal)?;
    Ok(Json(answer).into_response())
}

/// In the character set of the message, as over MLLP.
fn raw(reply: &Reply) -> Response {
    let body = reply.raw();
    if body.is_empty() {
        return axum::http::StatusCode::NO_CONTENT.into_response();
    }
    ([(header::CONTENT_TYPE, ER7)], body).into_response()
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .merge(mounted(routes!(list_inbox)))
        .merge(mounted(routes!(get_message, mark_message)))
        .merge(mounted(routes!(send)))
        .merge(also_at("/hl7/messages", routes!(send)))
}
