//! The rows of messages. Ids are ordered by time, so rows are in the order of the conversation.

use model::Timestamp;
use model::channel::Channel;
use serde_json::{Map, Value};
use world::{Record, Sandbox};

use super::steps::MESSAGES;
use crate::scenario::step::object;

pub(super) fn text<'v>(row: &'v Value, member: &str) -> Option<&'v str> {
    row.get(member).and_then(Value::as_str)
}

/// A message from a patient.
pub(super) struct InboundMessage<'a> {
    pub(super) id: &'a str,
    pub(super) channel: Channel,
    pub(super) from: Option<&'a str>,
    pub(super) patient_id: Option<&'a str>,
    pub(super) subject: Option<&'a str>,
    pub(super) body: &'a str,
    pub(super) at: Timestamp,
}

impl InboundMessage<'_> {
    /// The members of the row, which are also the payload of its event.
    pub(super) fn members(&self) -> Map<String, Value> {
        object([
            ("id", self.id.into()),
            ("direction", "inbound".into()),
            ("channel", self.channel.name().into()),
            ("from", self.from.into()),
            ("patient_id", self.patient_id.into()),
            ("subject", self.subject.into()),
            ("body", self.body.into()),
            ("received_at", self.at.to_string().into()),
        ])
    }

    /// The row of an unread message.
    pub(super) fn row(&self) -> Value {
        let mut row = self.members();
        row.insert("read".to_owned(), false.into());
        Value::Object(row)
    }
}

/// All messages, oldest first.
pub(super) fn all(sandbox: &Sandbox) -> impl Iterator<Item = Record<'_>> {
    sandbox.records.own(MESSAGES)
}
