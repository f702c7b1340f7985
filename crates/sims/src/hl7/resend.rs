//! Control ids: a message that is sent again gets the acknowledgement of the first time and stays one message
//! (HL7 v2.8, chapter 2.9.2 and 2.14.9.10).

use hl7v2::{Limits, Message};
use model::canonical::sha256_hex;
use model::{EventId, Timestamp};
use serde::{Deserialize, Serialize};
use world::{Lookup, Sandbox};

use super::reply::Ack;

/// Rows by sender and control id: what the interface has taken.
pub(crate) const OUTBOUND: &str = "outbound";

/// What is remembered of a message that was taken.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Taken {
    pub(super) control_id: String,
    pub(super) message_type: String,
    pub(super) received_at: Timestamp,
    pub(super) event_id: EventId,
    /// Of what the message says.
    pub(super) fingerprint: String,
    pub(super) acks: Vec<String>,
}

/// How a message stands to those before it.
pub(super) enum Standing {
    New,
    /// The same message once more.
    Resend(Taken),
    /// The control id was used for another message.
    IdInUse,
}

pub(super) fn standing(sandbox: &Sandbox, message: &Message) -> Standing {
    let Some(key) = key(message) else { return Standing::New };
    let Lookup::Live(record) = sandbox.records.get(OUTBOUND, &key) else { return Standing::New };
    let Ok(taken) = Taken::deserialize(&*record.json()) else { return Standing::New };
    if taken.fingerprint == fingerprint(message) { Standing::Resend(taken) } else { Standing::IdInUse }
}

/// Control ids are unique for their sender, MSH-3 and MSH-4. None without a control id.
pub(super) fn key(message: &Message) -> Option<String> {
    let id = message.control_id();
    if id.is_empty() {
        return None;
    }
    let header = message.header();
    let sender = |number| header.field(number).map_or("", |field| field.raw());
    // A line end is in none of them.
    let key = sha256_hex(format!("{}\n{}\n{id}", sender(3), sender(4)).as_bytes());
    Some(key.chars().take(KEY_LENGTH).collect())
}

const KEY_LENGTH: usize = 32;
/// When a message was sent is another time for each time that it is sent.
const SENT_AT: usize = 7;

pub(super) fn fingerprint(message: &Message) -> String {
    let mut said = String::with_capacity(message.text().len());
    for (field, number) in message.header().fields().zip(1..) {
        said.push_str(if number == SENT_AT { "" } else { field.raw() });
        said.push('\n');
    }
    for segment in message.segments().skip(1) {
        said.push_str(segment.text());
        said.push('\n');
    }
    sha256_hex(said.as_bytes())
}

impl Taken {
    pub(super) fn acks(&self) -> Vec<Ack> {
        let read = |text: &String| Message::parse_text(text, &Limits::default()).ok();
        self.acks.iter().filter_map(read).map(Ack::of).collect()
    }
}
