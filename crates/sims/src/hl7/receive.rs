//! Takes what a sender delivers: reads it, judges it, acknowledges each message and remembers those that were taken.
//! (HL7 v2.8, chapter 2.9: original and enhanced acknowledgement.)

use hl7v2::{BatchFile, ErrorCode, Fault, Limits, Location, Message, ParseError, Severity, validate};
use model::SandboxId;
use serde_json::Value;
use world::{Change, Context, NewEvent, Outcome, Sandbox, World, Write};

use super::config::Validation;
use super::event::{self, Attempt};
use super::refusal::{self, Stamp, acknowledge};
use super::reply::{Ack, Answered, Envelope, Reply};
use super::resend::{self, OUTBOUND, Standing, Taken};
use super::text;

/// What one delivery may hold: room for a scanned document in one OBX.
pub const LIMITS: Limits = Limits { bytes: 16 << 20, segments: 20_000, segment_bytes: 16 << 20 };

/// Each is answered and told by itself.
const MOST_MESSAGES: usize = 1000;

/// Something that a sender handed over.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub body: Body,
    pub transport: Transport,
    /// Who it is, as events tell it.
    pub actor: String,
}

#[derive(Clone, Debug)]
pub enum Body {
    /// As it came over the wire, in the character set of MSH-18.
    Bytes(Vec<u8>),
    /// Decoded already, as in JSON.
    Text(String),
}

impl Body {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
        }
    }

    fn read(&self) -> Result<BatchFile, ParseError> {
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

/// Not even a header is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotHl7 {
    pub why: String,
    /// For a sender who waits for an answer and knows no other.
    pub rejection: Option<Ack>,
}

/// The answer to a delivery.
pub type Receipt = Result<Reply, NotHl7>;

/// Takes deliveries in their order. Nothing is changed but the memory of what was taken; every attempt is an event.
pub fn receive(
    world: &World,
    sandbox: &SandboxId,
    deliveries: &[Delivery],
    context: &Context<'_>,
) -> Outcome<Vec<Receipt>> {
    let mut interface = Interface { staged: world.clone(), sandbox, context, changes: Vec::new(), events: Vec::new() };
    let receipts = deliveries.iter().map(|delivery| interface.take(delivery)).collect();
    Outcome { answer: receipts, changes: interface.changes, events: interface.events }
}

struct Interface<'a> {
    /// As the messages so far have left it.
    staged: World,
    sandbox: &'a SandboxId,
    context: &'a Context<'a>,
    changes: Vec<Change>,
    events: Vec<NewEvent>,
}

impl Interface<'_> {
    fn take(&mut self, delivery: &Delivery) -> Receipt {
        let file = match delivery.body.read() {
            Ok(file) => file,
            Err(fault) => return self.refuse(delivery, &fault),
        };
        let (count, miscounts) = (file.messages().count(), file.miscounts());
        if count == 0 || count > MOST_MESSAGES {
            let why = format!("a delivery has from 1 to {MOST_MESSAGES} messages, this has {count}");
            return Err(self.not_hl7(delivery, why));
        }
        let messages = file.messages().map(|message| self.answer(delivery, message, &miscounts)).collect();
        let stamp = Stamp::new(self.context);
        Ok(Reply { messages, envelope: Envelope::of(&file, count, &stamp.time, &stamp.control_id) })
    }

    fn answer(&mut self, delivery: &Delivery, message: &Message, miscounts: &[String]) -> Answered {
        let control_id = message.control_id().into_owned();
        let event_id = self.context.new_event_id();
        let standing = self.sandbox().map_or(Standing::New, |sandbox| resend::standing(sandbox, message));
        if let (Standing::Resend(taken), []) = (&standing, miscounts) {
            let acks = taken.acks();
            self.events.push(event::resend(self.sandbox, delivery, message, taken, event_id.clone()));
            return Answered { control_id, acks, event_id, is_resend: true };
        }
        let mut judged = self.judge(message, &standing);
        judged.extend(miscounts.iter().map(|why| Fault::new(ErrorCode::SegmentSequenceError, why)));
        let acks = acknowledge(message, &judged, &Stamp::new(self.context));
        let is_accepted = judged.iter().all(|fault| fault.severity != Severity::Error);
        let attempt = Attempt {
            text: message.text().into(),
            message_type: text::type_of(message),
            control_id: control_id.clone(),
            is_accepted,
            acks: &acks,
            faults: judged,
        };
        self.events.push(event::attempt(self.sandbox, delivery, &attempt, event_id.clone()));
        if is_accepted {
            self.remember(message, &attempt, &event_id);
        }
        Answered { control_id, acks, event_id, is_resend: false }
    }

    /// What is wrong with a message. What the interface tolerates is a warning.
    fn judge(&self, message: &Message, standing: &Standing) -> Vec<Fault> {
        let config = self.sandbox().map(|sandbox| &*sandbox.config);
        let mut faults = validate(message);
        if matches!(standing, Standing::IdInUse) {
            let why = "MSH-10 was used for another message; a resend has the same content, another message another id";
            let fault = Fault::new(ErrorCode::DuplicateKeyIdentifier, why).at(Location::field("MSH", 1, 10));
            faults.push(fault);
        }
        let validation = Validation::of(config);
        for fault in faults.iter_mut().filter(|fault| validation.tolerates(fault.code)) {
            fault.severity = Severity::Warning;
        }
        faults.extend(wrong_version(message, config.and_then(|config| config.get("version"))));
        faults
    }

    /// What cannot be read is answered by what there is of its header.
    fn refuse(&mut self, delivery: &Delivery, fault: &ParseError) -> Receipt {
        if fault.is_not_hl7() {
            return Err(self.not_hl7(delivery, fault.to_string()));
        }
        let event_id = self.context.new_event_id();
        let stamp = &Stamp::new(self.context);
        let header = Message::parse_header(delivery.body.bytes(), &LIMITS).ok();
        let faults = vec![fault.to_fault()];
        let acks = match &header {
            Some(header) => acknowledge(header, &faults, stamp),
            None => faults.first().and_then(|fault| refusal::headless(fault, stamp)).into_iter().collect(),
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
        Ok(Reply { messages: vec![Answered { control_id, acks, event_id, is_resend: false }], envelope: None })
    }

    fn not_hl7(&mut self, delivery: &Delivery, why: String) -> NotHl7 {
        let event_id = self.context.new_event_id();
        let fault = Fault::new(ErrorCode::SegmentSequenceError, why.as_str());
        let rejection = refusal::headless(&fault, &Stamp::new(self.context));
        let attempt = Attempt {
            text: String::from_utf8_lossy(delivery.body.bytes()),
            message_type: String::new(),
            control_id: String::new(),
            is_accepted: false,
            acks: rejection.as_slice(),
            faults: vec![fault],
        };
        self.events.push(event::attempt(self.sandbox, delivery, &attempt.shortened(), event_id));
        NotHl7 { why, rejection }
    }

    fn remember(&mut self, message: &Message, attempt: &Attempt<'_>, event_id: &model::EventId) {
        let (Some(key), Some(sandbox)) = (resend::key(message), self.sandbox()) else { return };
        let taken = Taken {
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
            text: serde_json::to_string(&taken).ok().map(Into::into),
        };
        self.staged.apply(self.staged.seq + 1, &change);
        self.changes.push(change);
    }

    fn sandbox(&self) -> Option<&Sandbox> {
        self.staged.sandboxes.get(self.sandbox)
    }
}

fn wrong_version(message: &Message, spoken: Option<&Value>) -> Option<Fault> {
    let spoken = spoken?.as_str()?;
    if message.version().is_some_and(|version| version.name() == spoken) {
        return None;
    }
    let why = format!("this interface speaks version {spoken} only");
    Some(Fault::new(ErrorCode::UnsupportedVersionId, why).at(Location::field("MSH", 1, 12)))
}
