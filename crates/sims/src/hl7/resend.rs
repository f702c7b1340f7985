//! Detects resends by control id. A resent message gets the original acknowledgments and has no further effect
//! (HL7 v2.8, chapter 2.9.2 and 2.14.9.10).

use hl7v2::{Limits, Message};
use model::canonical::sha256_hex;
use model::{EventId, Timestamp};
use serde::{Deserialize, Serialize};
use world::{Lookup, Sandbox};

use super::reply::Ack;

/// The collection of accepted messages, by sender and control id.
pub(crate) const OUTBOUND: &str = "outbound";

/// The stored data of an accepted message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AcceptedMessage {
    pub(super) control_id: String,
    pub(super) message_type: String,
    pub(super) received_at: Timestamp,
    pub(super) event_id: EventId,
    /// A hash of the message's content.
    pub(super) fingerprint: String,
    pub(super) acks: Vec<String>,
}

/// Whether the interface has seen a message before.
pub(super) enum MessageHistory {
    New,
    /// The same message was accepted before.
    Resend(AcceptedMessage),
    /// The control id was used for another message.
    IdInUse,
}

pub(super) fn history(sandbox: &Sandbox, message: &Message) -> MessageHistory {
    let Some(key) = key(message) else { return MessageHistory::New };
    let Lookup::Live(record) = sandbox.records.get(OUTBOUND, &key) else { return MessageHistory::New };
    let Ok(accepted) = AcceptedMessage::deserialize(&*record.json()) else { return MessageHistory::New };
    if accepted.fingerprint == fingerprint(message) {
        MessageHistory::Resend(accepted)
    } else {
        MessageHistory::IdInUse
    }
}

/// Control ids are unique per sender (MSH-3 and MSH-4). None if the message has no control id.
pub(super) fn key(message: &Message) -> Option<String> {
    let id = message.control_id();
    if id.is_empty() {
        return None;
    }
    let header = message.header();
    let sender = |number| header.field(number).map_or("", |field| field.raw());
    // None of the parts can contain a line feed.
    let key = sha256_hex(format!("{}\n{}\n{id}", sender(3), sender(4)).as_bytes());
    Some(key.chars().take(KEY_LENGTH).collect())
}

const KEY_LENGTH: usize = 32;
/// MSH-7 is ignored, because a resend may have a new time.
const MESSAGE_TIME_FIELD: usize = 7;

pub(super) fn fingerprint(message: &Message) -> String {
    let mut content = String::with_capacity(message.text().len());
    for (field, number) in message.header().fields().zip(1..) {
        content.push_str(if number == MESSAGE_TIME_FIELD { "" } else { field.raw() });
        content.push('\n');
    }
    for segment in message.segments().skip(1) {
        content.push_str(segment.text());
        content.push('\n');
    }
    sha256_hex(content.as_bytes())
}

impl AcceptedMessage {
    pub(super) fn acks(&self) -> Vec<Ack> {
        let parse = |text: &String| Message::parse_text(text, &Limits::default()).ok();
        self.acks.iter().filter_map(parse).map(Ack::of).collect()
    }
}
