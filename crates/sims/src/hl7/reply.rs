//! The reply to a delivery: acknowledgments as text, MLLP frames and JSON.

use hl7v2::{AckCode, BatchFile, Message, Segment};
use model::EventId;
use model::hl7::{AnsweredMessage, OutboundAnswer};

/// One acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// MSA-1.
    pub code: String,
    pub message: Message,
}

impl Ack {
    pub(super) fn of(message: Message) -> Self {
        let code = message.segments_named("MSA").next().and_then(|segment| segment.field(1));
        Self { code: code.map_or_else(String::new, |code| code.text().into_owned()), message }
    }

    fn is_accept(&self) -> bool {
        [AckCode::ApplicationAccept, AckCode::CommitAccept].iter().any(|code| code.code() == self.code)
    }
}

/// One message of a delivery, with its acknowledgments in the order in which they are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcknowledgedMessage {
    pub control_id: String,
    pub acks: Vec<Ack>,
    pub event_id: EventId,
    pub is_resend: bool,
}

/// The reply to a delivery of at least one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub messages: Vec<AcknowledgedMessage>,
    /// For a batch, which is answered with a batch.
    pub(super) envelope: Option<Envelope>,
}

/// The segments around the acknowledgments of a batch (HL7 v2.8, chapter 2.10.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    control_id: String,
    before: String,
    after: String,
}

impl Envelope {
    /// None for messages without an envelope. `time` and `control_id` are those of the reply.
    pub(super) fn of(file: &BatchFile, count: usize, time: &str, control_id: &str) -> Option<Self> {
        let mut result = None;
        for envelope in file.envelopes() {
            let segment = envelope.segment();
            let separator = segment.field(1).map_or("|", |field| field.raw());
            let (trailer, counted) = match segment.name() {
                "FHS" => ("FTS", 1),
                "BHS" => ("BTS", count),
                _ => continue,
            };
            let reply = result.get_or_insert_with(|| Self {
                control_id: raw(segment, 11).to_owned(),
                before: String::new(),
                after: String::new(),
            });
            // Several batches are answered with one.
            if !reply.before.contains(&format!("{}{separator}", segment.name())) {
                reply.before.push_str(&header(segment, separator, time, control_id));
                reply.after = format!("{trailer}{separator}{counted}\r{}", reply.after);
            }
        }
        result
    }
}

/// The batch header of the reply: sender and receiver are swapped, and the request's control id is the reference.
fn header(request: Segment<'_>, separator: &str, time: &str, control_id: &str) -> String {
    let raw = |number| raw(request, number);
    let fields = [request.name(), raw(2), raw(5), raw(6), raw(3), raw(4), time, "", "", "", control_id, raw(11)];
    format!("{}\r", fields.join(separator))
}

fn raw(segment: Segment<'_>, number: usize) -> &str {
    segment.field(number).map_or("", |field| field.raw())
}

impl Reply {
    /// MSA-1 of the first negative acknowledgment, or else of the last one.
    pub fn code(&self) -> Option<&str> {
        let negative = self.acks().find(|ack| !ack.is_accept());
        negative.or(self.acks().last()).map(|ack| ack.code.as_str())
    }

    /// The reply as text. None if no acknowledgment is due. For a single message with two acknowledgments, the application
    /// acknowledgment.
    pub fn text(&self) -> Option<String> {
        match (&self.envelope, self.messages.as_slice()) {
            (None, [only]) => only.acks.last().map(|ack| ack.message.text().to_owned()),
            (None, _) => Some(self.joined()).filter(|text| !text.is_empty()),
            (Some(envelope), _) => Some(format!("{}{}{}", envelope.before, self.joined(), envelope.after)),
        }
    }

    /// The MLLP frames: one for each acknowledgment, or one for a batch.
    pub fn frames(&self) -> Vec<Vec<u8>> {
        match &self.envelope {
            None => self.acks().map(|ack| ack.message.to_bytes().into_owned()).collect(),
            Some(envelope) => {
                let acks = self.acks().flat_map(|ack| ack.message.to_bytes().into_owned());
                vec![envelope.before.bytes().chain(acks).chain(envelope.after.bytes()).collect()]
            }
        }
    }

    /// The reply as one body, in the character sets of the messages. Empty if no acknowledgment is due.
    pub fn raw(&self) -> Vec<u8> {
        match (&self.envelope, self.messages.as_slice()) {
            (None, [only]) => only.acks.last().map(|ack| ack.message.to_bytes().into_owned()).unwrap_or_default(),
            _ => self.frames().concat(),
        }
    }

    /// The reply as JSON. None if there are no messages.
    pub fn to_answer(&self) -> Option<OutboundAnswer> {
        let first = self.messages.first()?;
        let batch = self.envelope.as_ref().map(|envelope| envelope.control_id.clone());
        Some(OutboundAnswer {
            ack: self.text(),
            ack_code: self.code().map(ToOwned::to_owned),
            control_id: batch.unwrap_or_else(|| first.control_id.clone()),
            event_id: first.event_id.clone(),
            messages: self.messages.iter().map(AcknowledgedMessage::to_json).collect(),
        })
    }

    fn acks(&self) -> impl DoubleEndedIterator<Item = &Ack> {
        self.messages.iter().flat_map(|message| &message.acks)
    }

    fn joined(&self) -> String {
        self.acks().map(|ack| ack.message.text()).collect()
    }
}

impl AcknowledgedMessage {
    fn to_json(&self) -> AnsweredMessage {
        AnsweredMessage {
            control_id: self.control_id.clone(),
            ack_code: self.acks.last().map(|ack| ack.code.clone()),
            acks: self.acks.iter().map(|ack| ack.message.text().to_owned()).collect(),
            event_id: self.event_id.clone(),
            resend: self.is_resend,
        }
    }
}
