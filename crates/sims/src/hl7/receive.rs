//! Receives deliveries: parses and validates them, acknowledges each message, and remembers accepted ones to detect resends.
//! (HL7 v2.8, chapter 2.9: original and enhanced acknowledgement.)

use hl7v2::{BatchFile, ErrorCode, Fault, Limits, Location, Message, ParseError, Severity, validate};
use model::SandboxId;
use serde_json::Value;
use world::{Change, Context, NewEvent, Outcome, Sandbox, World, Write};

use super::acknowledge::{self, Stamp, acknowledge};
use super::config::Validation;
use super::event::{self, Attempt};
use super::reply::{Ack, AcknowledgedMessage, Envelope, Reply};
use super::resend::{self, AcceptedMessage, MessageHistory, OUTBOUND};
use super::text;

/// Limits of one delivery. They leave room for a scanned document in one OBX.
pub const LIMITS: Limits = Limits { bytes: 16 << 20, segments: 20_000, segment_bytes: 16 << 20 };

/// Each message has its own acknowledgments and event.
const MAX_MESSAGES: usize = 1000;

/// A message or batch from a sender.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub body: Body,
    pub transport: Transport,
    /// The sender's name in events.
    pub actor: String,
}

#[derive(Clone, Debug)]
pub enum Body {
    /// Raw bytes, in the character set of MSH-18.
    Bytes(Vec<u8>),
    /// Decoded text, as in JSON.
    Text(String),
}

impl Body {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
        }
    }

    fn parse(&self) -> Result<BatchFile, ParseError> {
        match self {
            Self::Bytes(bytes) => BatchFile::parse(bytes, &LIMITS),
            Self::Text(text) => BatchFile::parse_text(&text::with_carriage_returns(text), &LIMITS),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Http,
    Mllp,
}

impl Transport {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Mllp => "mllp",
        }
    }
}

/// The delivery has no message header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotHl7 {
    pub reason: String,
    /// For senders that wait for an acknowledgment (MLLP).
    pub rejection: Option<Ack>,
}

/// The reply to a delivery.
pub type Receipt = Result<Reply, NotHl7>;

/// Receives deliveries in order. Stores the keys of accepted messages; every message is an event.
pub fn receive(
    world: &World,
    sandbox: &SandboxId,
    deliveries: &[Delivery],
    context: &Context<'_>,
) -> Outcome<Vec<Receipt>> {
    let mut interface = Interface { staged: world.clone(), sandbox, context, changes: Vec::new(), events: Vec::new() };
    let receipts = deliveries.iter().map(|delivery| interface.receive(delivery)).collect();
    Outcome { answer: receipts, changes: interface.changes, events: interface.events }
}

struct Interface<'a> {
    /// Includes the changes of the messages so far.
    staged: World,
    sandbox: &'a SandboxId,
    context: &'a Context<'a>,
    changes: Vec<Change>,
    events: Vec<NewEvent>,
}

impl Interface<'_> {
    fn receive(&mut self, delivery: &Delivery) -> Receipt {
        let file = match delivery.body.parse() {
            Ok(file) => file,
            Err(error) => return self.reject_unreadable(delivery, &error),
        };
        let (count, miscounts) = (file.messages().count(), file.miscounts());
        if count == 0 || count > MAX_MESSAGES {
            let reason = format!("a delivery has from 1 to {MAX_MESSAGES} messages, this has {count}");
            return Err(self.not_hl7(delivery, reason));
        }
        let messages = file.messages().map(|message| self.process(delivery, message, &miscounts)).collect();
        let stamp = Stamp::new(self.context);
        Ok(Reply { messages, envelope: Envelope::of(&file, count, &stamp.time, &stamp.control_id) })
    }

    fn process(&mut self, delivery: &Delivery, message: &Message, miscounts: &[String]) -> AcknowledgedMessage {
        let control_id = message.control_id().into_owned();
        let event_id = self.context.new_event_id();
        let history = self.sandbox().map_or(MessageHistory::New, |sandbox| resend::history(sandbox, message));
        if let (MessageHistory::Resend(accepted), []) = (&history, miscounts) {
            let acks = accepted.acks();
            self.events.push(event::resend(self.sandbox, delivery, message, accepted, event_id.clone()));
            return AcknowledgedMessage { control_id, acks, event_id, is_resend: true };
        }
        let mut faults = self.validate(message, &history);
        faults.extend(miscounts.iter().map(|reason| Fault::new(ErrorCode::SegmentSequenceError, reason)));
        let acks = acknowledge(message, &faults, &Stamp::new(self.context));
        let is_accepted = faults.iter().all(|fault| fault.severity != Severity::Error);
        let attempt = Attempt {
            text: message.text().into(),
            message_type: text::type_of(message),
            control_id: control_id.clone(),
            is_accepted,
            acks: &acks,
            faults,
        };
        self.events.push(event::attempt(self.sandbox, delivery, &attempt, event_id.clone()));
        if is_accepted {
            self.remember(message, &attempt, &event_id);
        }
        AcknowledgedMessage { control_id, acks, event_id, is_resend: false }
    }

    /// Validates a message. Faults that the interface tolerates are warnings.
    fn validate(&self, message: &Message, history: &MessageHistory) -> Vec<Fault> {
        let config = self.sandbox().map(|sandbox| &*sandbox.config);
        let mut faults = validate(message);
        if matches!(history, MessageHistory::IdInUse) {
            let reason =
                "MSH-10 was used for another message; a resend has the same content, another message another id";
            let fault = Fault::new(ErrorCode::DuplicateKeyIdentifier, reason).at(Location::field("MSH", 1, 10));
            faults.push(fault);
        }
        let validation = Validation::of(config);
        for fault in faults.iter_mut().filter(|fault| validation.tolerates(fault.code)) {
            fault.severity = Severity::Warning;
        }
        faults.extend(wrong_version(message, config.and_then(|config| config.get("version"))));
        faults
    }

    /// Rejects input that cannot be parsed, in reply to its header if that can be.
    fn reject_unreadable(&mut self, delivery: &Delivery, error: &ParseError) -> Receipt {
        if error.is_not_hl7() {
            return Err(self.not_hl7(delivery, error.to_string()));
        }
        let event_id = self.context.new_event_id();
        let stamp = &Stamp::new(self.context);
        let header = Message::parse_header(delivery.body.bytes(), &LIMITS).ok();
        let faults = vec![error.to_fault()];
        let acks = match &header {
            Some(header) => acknowledge(header, &faults, stamp),
            None => faults.first().and_then(|fault| acknowledge::without_header(fault, stamp)).into_iter().collect(),
        };
        let control_id = header.as_ref().map_or_else(String::new, |header| header.control_id().into_owned());
        let attempt = Attempt {
            text: String::from_utf8_lossy(delivery.body.bytes()),
            message_type: header.as_ref().map_or_else(String::new, text::type_of),
            control_id: control_id.clone(),
            is_accepted: false,
            acks: &acks,
            faults,
        };
        self.events.push(event::attempt(self.sandbox, delivery, &attempt.shortened(), event_id.clone()));
        Ok(Reply {
            messages: vec![AcknowledgedMessage { control_id, acks, event_id, is_resend: false }],
            envelope: None,
        })
    }

    fn not_hl7(&mut self, delivery: &Delivery, reason: String) -> NotHl7 {
        let event_id = self.context.new_event_id();
        let fault = Fault::new(ErrorCode::SegmentSequenceError, reason.as_str());
        let rejection = acknowledge::without_header(&fault, &Stamp::new(self.context));
        let attempt = Attempt {
            text: String::from_utf8_lossy(delivery.body.bytes()),
            message_type: String::new(),
            control_id: String::new(),
            is_accepted: false,
            acks: rejection.as_slice(),
            faults: vec![fault],
        };
        self.events.push(event::attempt(self.sandbox, delivery, &attempt.shortened(), event_id));
        NotHl7 { reason, rejection }
    }

    fn remember(&mut self, message: &Message, attempt: &Attempt<'_>, event_id: &model::EventId) {
        let (Some(key), Some(sandbox)) = (resend::key(message), self.sandbox()) else { return };
        let accepted = AcceptedMessage {
            control_id: attempt.control_id.clone(),
            message_type: attempt.message_type.clone(),
            received_at: self.context.now,
            event_id: event_id.clone(),
            fingerprint: resend::fingerprint(message),
            acks: attempt.acks.iter().map(|ack| ack.message.text().to_owned()).collect(),
        };
        let version = sandbox.records.next_version(OUTBOUND, &key);
        let change = Change {
            sandbox: self.sandbox.clone(),
            collection: OUTBOUND.into(),
            key: key.into(),
            version,
            at: self.context.now,
            write: if version == 1 { Write::Create } else { Write::Update },
            text: serde_json::to_string(&accepted).ok().map(Into::into),
        };
        self.staged.apply(self.staged.seq + 1, &change);
        self.changes.push(change);
    }

    fn sandbox(&self) -> Option<&Sandbox> {
        self.staged.sandboxes.get(self.sandbox)
    }
}

fn wrong_version(message: &Message, configured: Option<&Value>) -> Option<Fault> {
    let configured = configured?.as_str()?;
    if message.version().is_some_and(|version| version.name() == configured) {
        return None;
    }
    let reason = format!("this interface only accepts version {configured}");
    Some(Fault::new(ErrorCode::UnsupportedVersionId, reason).at(Location::field("MSH", 1, 12)))
}
