//! Text messages and e-mail, at `messages` of every scope.

use app::sandboxes::messages::{self, Filter};
use axum::{Json, extract};
use model::channel::Channel;
use model::message::NewMessage;
use model::page::List;
use model::simulator::SimulatorType;
use model::{FieldErrors, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorBody, ErrorResponses, WriteErrorResponses};
use crate::extractors::{PageQuery, Params};
use crate::json_body::Post;
use crate::responses::page;
use crate::routes::sandbox_routes::{SandboxScope, ScopedType, in_every_scope};

struct Messages;

impl ScopedType for Messages {
    const TYPE: SimulatorType = SimulatorType::Message;
}

/// A text message or an e-mail.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a row")]
struct Message {
    id: String,
    /// `outbound` if the agent sent it, `inbound` if a patient did.
    direction: String,
    /// `sms` or `email`.
    channel: String,
    /// The sender of an inbound message.
    #[schema(required = false)]
    from: Option<String>,
    /// The recipient of an outbound message.
    #[schema(required = false)]
    to: Option<String>,
    patient_id: Option<String>,
    subject: Option<String>,
    body: String,
    /// Of an outbound message: `delivered` or `undelivered`.
    #[schema(required = false)]
    status: String,
    /// Why it was not delivered.
    #[schema(required = false)]
    error: Option<String>,
    #[schema(required = false)]
    sent_at: Timestamp,
    /// When it arrived; null if it was not delivered.
    #[schema(required = false)]
    delivered_at: Option<Timestamp>,
    #[schema(required = false)]
    received_at: Timestamp,
    /// Whether an inbound message was read.
    #[schema(required = false)]
    read: bool,
}

/// Send a message to a patient.
///
/// The response says whether it was delivered: a patient who has sent `STOP` gets no text messages until `START`. The patient
/// may reply, at once or later; the reply is then in the list.
#[utoipa::path(post, path = "/messages", operation_id = "send_message", request_body = NewMessage,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "The message", body = Message), ErrorResponses, WriteErrorResponses))]
async fn send_message(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Messages>,
    Post(new, once): Post<NewMessage>,
) -> Result<(axum::http::StatusCode, Json<Value>), ApiError> {
    let sent = messages::send(&state.app, &scope.access, new, once).await?;
    Ok((axum::http::StatusCode::CREATED, Json(sent)))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct MessageQuery {
    /// `sms` or `email`.
    #[param(value_type = String, required = false)]
    channel: Option<String>,
    /// `inbound` or `outbound`.
    #[param(value_type = String, required = false)]
    direction: Option<String>,
    /// Only messages to and from this patient.
    #[param(value_type = String, required = false)]
    patient_id: Option<String>,
    /// Page size, 20 by default; more than 100 is read as 100.
    #[param(value_type = u64, required = false, minimum = 1)]
    limit: Option<String>,
    /// `next` or `prev` cursor of an earlier response of the same list.
    #[param(value_type = String, required = false)]
    cursor: Option<String>,
}

impl MessageQuery {
    fn filter(&self) -> Result<Filter, ApiError> {
        let channel = match self.channel.as_deref() {
            None => None,
            Some("sms") => Some(Channel::Sms),
            Some("email") => Some(Channel::Email),
            Some(_) => return Err(ApiError::invalid(FieldErrors::one("channel", "must be `sms` or `email`"))),
        };
        if self.direction.as_deref().is_some_and(|direction| !["inbound", "outbound"].contains(&direction)) {
            return Err(ApiError::invalid(FieldErrors::one("direction", "must be `inbound` or `outbound`")));
        }
        Ok(Filter { channel, direction: self.direction.clone(), patient_id: self.patient_id.clone() })
    }
}

/// The conversation, oldest first.
#[utoipa::path(get, path = "/messages", operation_id = "list_messages", params(MessageQuery),
    responses((status = 200, description = "Messages", body = List<Message>),
        (status = 409, description = "The sandbox does not accept traffic", body = ErrorBody), ErrorResponses))]
async fn list_messages(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Messages>,
    Params(query): Params<MessageQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let filter = query.filter()?;
    let MessageQuery { limit, cursor, .. } = query;
    let request = PageQuery { limit, cursor }.request("messages")?;
    Ok(page("messages", messages::list(&state.app, &scope.access, filter, request).await?))
}

/// One message. Reading an inbound message marks it as read.
#[utoipa::path(get, path = "/messages/{message_id}", operation_id = "read_message",
    params(("message_id" = String, Path, description = "The message")),
    responses((status = 200, description = "The message", body = Message),
        (status = 409, description = "The sandbox does not accept traffic", body = ErrorBody), ErrorResponses))]
async fn read_message(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Messages>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(messages::read(&state.app, &scope.access, scope.value(0).to_owned()).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    in_every_scope(routes!(send_message, list_messages)).merge(in_every_scope(routes!(read_message)))
}
