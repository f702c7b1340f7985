//! Text messages and e-mail, at `messages` of every door.

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
use crate::envelope::{ApiError, ErrorBody, Refusals, WriteRefusals};
use crate::extract::{PageQuery, Params};
use crate::json_body::Post;
use crate::respond::page;
use crate::routes::doors::{Door, Kind, mounted};

struct Messages;

impl Kind for Messages {
    const TYPE: SimulatorType = SimulatorType::Message;
}

/// A text message or an e-mail.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are what rows have")]
struct Message {
    id: String,
    /// `outbound` is the agent's, `inbound` a patient's.
    direction: String,
    /// `sms` or `email`.
    channel: String,
    /// Of a message from a patient.
    #[schema(required = false)]
    from: Option<String>,
    /// Of a message to one.
    #[schema(required = false)]
    to: Option<String>,
    patient_id: Option<String>,
    subject: Option<String>,
    body: String,
    /// `delivered` or `undelivered`, of a message to a patient.
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
    /// Whether a message from a patient was read.
    #[schema(required = false)]
    read: bool,
}

/// Write to a patient.
///
/// The answer says whether it was delivered: whoever has sent `STOP` gets no text messages until `START`. The patient may
/// answer, at once or later; the answer is then in the list.
#[utoipa::path(post, path = "/messages", operation_id = "send_message", request_body = NewMessage,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "The message", body = Message), Refusals, WriteRefusals))]
async fn send_message(
    extract::State(state): extract::State<State>,
    door: Door<Messages>,
    Post(new, once): Post<NewMessage>,
) -> Result<(axum::http::StatusCode, Json<Value>), ApiError> {
    let sent = messages::send(&state.app, &door.access, new, once).await?;
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
    /// Those to and from one patient.
    #[param(value_type = String, required = false)]
    patient_id: Option<String>,
    /// How many, 20 by default; more than 100 is read as 100.
    #[param(value_type = u64, required = false, minimum = 1)]
    limit: Option<String>,
    /// `next` or `prev` of an earlier answer of the same list.
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
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn list_messages(
    extract::State(state): extract::State<State>,
    door: Door<Messages>,
    Params(query): Params<MessageQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let filter = query.filter()?;
    let MessageQuery { limit, cursor, .. } = query;
    let request = PageQuery { limit, cursor }.request("messages")?;
    Ok(page("messages", messages::list(&state.app, &door.access, filter, request).await?))
}

/// One message. It has been read from now on.
#[utoipa::path(get, path = "/messages/{message_id}", operation_id = "read_message",
    params(("message_id" = String, Path, description = "The message")),
    responses((status = 200, description = "The message", body = Message),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn read_message(
    extract::State(state): extract::State<State>,
    door: Door<Messages>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(messages::read(&state.app, &door.access, door.value(0).to_owned()).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    mounted(routes!(send_message, list_messages)).merge(mounted(routes!(read_message)))
}
