//! What the interface answers to a delivery: acknowledgements, as text and as they go over the wire.

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

/// One message of a delivery, with its acknowledgements in the order in which they are due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    pub control_id: String,
    pub acks: Vec<Ack>,
    pub event_id: EventId,
    pub is_resend: bool,
}

/// The answer to a whole delivery: at least one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub messages: Vec<Answered>,
    /// For a delivery that came as a batch, so that its answer does too.
    pub(super) envelope: Option<Envelope>,
}

/// What stands around the answers to a batch (HL7 v2.8, chapter 2.10.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    control_id: String,
    before: String,
    after: String,
}

impl Envelope {
    /// None for messages without an envelope. `time` and `control_id` are those of the answer.
    pub(super) fn of(file: &BatchFile, count: usize, time: &str, control_id: &str) -> Option<Self> {
        let mut found = None;
        for envelope in file.envelopes() {
            let segment = envelope.segment();
            let separator = segment.field(1).map_or("|", |field| field.raw());
            let (trailer, counted) = match segment.name() {
                "FHS" => ("FTS", 1),
                "BHS" => ("BTS", count),
                _ => continue,
            };
            let around = found.get_or_insert_with(|| Self {
                control_id: raw(segment, 11).to_owned(),
                before: String::new(),
                after: String::new(),
            });
            // Of several batches the answers are one.
            if !around.before.contains(&format!("{}{separator}", segment.name())) {
                around.before.push_str(&header(segment, separator, time, control_id));
                around.after = format!("{trailer}{separator}{counted}\r{}", around.after);
            }
        }
        found
    }
}

/// From the receiver to the sender, and naming what it answers.
fn header(asked: Segment<'_>, separator: &str, time: &str, control_id: &str) -> String {
    let raw = |number| raw(asked, number);
    let fields = [asked.name(), raw(2), raw(5), raw(6), raw(3), raw(4), time, "", "", "", control_id, raw(11)];
    format!("{}\r", fields.join(separator))
}

fn raw(segment: Segment<'_>, number: usize) -> &str {
    segment.field(number).map_or("", |field| field.raw())
}

impl Reply {
    /// MSA-1 of the first that is not an acceptance, else of the last.
    pub fn code(&self) -> Option<&str> {
        let refused = self.acks().find(|ack| !ack.is_accept());
        refused.or(self.acks().last()).map(|ack| ack.code.as_str())
    }

    /// All of it in one text; none when no acknowledgement is due. Of one message that has two, the one that tells more.
    pub fn text(&self) -> Option<String> {
        match (&self.envelope, self.messages.as_slice()) {
            (None, [only]) => only.acks.last().map(|ack| ack.message.text().to_owned()),
            (None, _) => Some(self.joined()).filter(|text| !text.is_empty()),
            (Some(envelope), _) => Some(format!("{}{}{}", envelope.before, self.joined(), envelope.after)),
        }
    }

    /// As MLLP carries it: one for each acknowledgement, one for a batch of them.
    pub fn frames(&self) -> Vec<Vec<u8>> {
        match &self.envelope {
            None => self.acks().map(|ack| ack.message.to_bytes().into_owned()).collect(),
            Some(envelope) => {
                let acks = self.acks().flat_map(|ack| ack.message.to_bytes().into_owned());
                vec![envelope.before.bytes().chain(acks).chain(envelope.after.bytes()).collect()]
            }
        }
    }

    /// As one body, in the character sets of the messages; empty when no acknowledgement is due.
    pub fn raw(&self) -> Vec<u8> {
        match (&self.envelope, self.messages.as_slice()) {
            (None, [only]) => only.acks.last().map(|ack| ack.message.to_bytes().into_owned()).unwrap_or_default(),
            _ => self.frames().concat(),
        }
    }

    /// As the API tells it; none for a reply to nothing.
    pub fn to_answer(&self) -> Option<OutboundAnswer> {
        let first = self.messages.first()?;
        let batch = self.envelope.as_ref().map(|envelope| envelope.control_id.clone());
        Some(OutboundAnswer {
            ack: self.text(),
            ack_code: self.code().map(ToOwned::to_owned),
            control_id: batch.unwrap_or_else(|| first.control_id.clone()),
            event_id: first.event_id.clone(),
            messages: self.messages.iter().map(Answered::shown).collect(),
        })
    }

    fn acks(&self) -> impl DoubleEndedIterator<Item = &Ack> {
        self.messages.iter().flat_map(|message| &message.acks)
    }

    fn joined(&self) -> String {
        self.acks().map(|ack| ack.message.text()).collect()
    }
}

impl Answered {
    fn shown(&self) -> AnsweredMessage {
        AnsweredMessage {
            control_id: self.control_id.clone(),
            ack_code: self.acks.last().map(|ack| ack.code.clone()),
            acks: self.acks.iter().map(|ack| ack.message.text().to_owned()).collect(),
            event_id: self.event_id.clone(),
            resend: self.is_resend,
        }
    }
}
