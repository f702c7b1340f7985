//! The HTTP operations of a message sandbox.

use model::channel::Channel;
use model::message::NewMessage;
use model::{FieldErrors, Timestamp};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use world::Outcome;

use super::inbox::{self, Filter};
use super::send;
use crate::operation::{
    Method, Mode, NoQuery, Operation, OperationCall, OperationEntry, OperationError, OperationInfo, Reply,
};

pub(super) const OPERATIONS: &[OperationEntry] = &[
    OperationEntry::with_body::<SendMessage>(),
    OperationEntry::of::<ListMessages>(),
    OperationEntry::of::<ReadMessage>(),
];

/// A text message or an e-mail.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a row")]
pub(super) struct Message {
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

struct SendMessage;

impl Operation for SendMessage {
    const INFO: OperationInfo = OperationInfo {
        path: "/messages",
        id: "send_message",
        summary: "Send a message to a patient.",
        description: "The response says whether it was delivered: a patient who has sent `STOP` gets no text messages until `START`. The patient\nmay reply, at once or later; the reply is then in the list.",
        returns: "The message",
        ..OperationInfo::CREATE
    };
    type Query = NoQuery;
    type Body = NewMessage;
    type Response = Message;

    fn run(call: &OperationCall<'_>, _: &NoQuery, new: &NewMessage) -> Outcome<Result<Reply, OperationError>> {
        let Outcome { answer, changes, events } =
            send::send(call.world, call.sandbox, call.actor, call.context, new, call.token);
        Outcome { answer: answer.map(Reply::One), changes, events }
    }
}

struct ListMessages;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
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
}

impl MessageQuery {
    fn filter(&self) -> Result<Filter, FieldErrors> {
        let channel = match self.channel.as_deref() {
            None => None,
            Some("sms") => Some(Channel::Sms),
            Some("email") => Some(Channel::Email),
            Some(_) => return Err(FieldErrors::one("channel", "must be `sms` or `email`")),
        };
        if self.direction.as_deref().is_some_and(|direction| !["inbound", "outbound"].contains(&direction)) {
            return Err(FieldErrors::one("direction", "must be `inbound` or `outbound`"));
        }
        Ok(Filter { channel, direction: self.direction.clone(), patient_id: self.patient_id.clone() })
    }
}

impl Operation for ListMessages {
    const INFO: OperationInfo = OperationInfo {
        path: "/messages",
        id: "list_messages",
        summary: "The conversation, oldest first.",
        returns: "Messages",
        list: Some("messages"),
        ..OperationInfo::GET
    };
    type Query = MessageQuery;
    type Body = ();
    type Response = Message;

    fn validate(query: &MessageQuery, (): &()) -> Result<(), FieldErrors> {
        query.filter().map(drop)
    }

    fn run(call: &OperationCall<'_>, query: &MessageQuery, (): &()) -> Outcome<Result<Reply, OperationError>> {
        // It was validated before.
        let filter = query.filter().unwrap_or_default();
        let Outcome { answer, changes, events } = inbox::list(call.sandbox, call.actor, &filter, call.page);
        Outcome { answer: Ok(Reply::Page(answer)), changes, events }
    }
}

struct ReadMessage;

impl Operation for ReadMessage {
    const INFO: OperationInfo = OperationInfo {
        method: Method::Get,
        path: "/messages/{message_id}",
        id: "read_message",
        summary: "One message. Reading an inbound message marks it as read.",
        path_parameters: &["The message"],
        mode: Mode::MarkingRead,
        returns: "The message",
        ..OperationInfo::GET
    };
    type Query = NoQuery;
    type Body = ();
    type Response = Message;

    fn run(call: &OperationCall<'_>, _: &NoQuery, (): &()) -> Outcome<Result<Reply, OperationError>> {
        let Outcome { answer, changes, events } = inbox::read(call.sandbox, call.actor, call.context, call.path(0));
        Outcome { answer: answer.map(Reply::One).ok_or(OperationError::NotFound("message")), changes, events }
    }
}
