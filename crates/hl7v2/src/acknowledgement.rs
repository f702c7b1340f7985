//! Builds acknowledgements (HL7 v2.8, chapter 2.9 and 2.14.5, 2.14.8): original mode AA, AE, AR; enhanced mode CA, CE,
//! CR.

use crate::fault::{Fault, Location, Severity};
use crate::path::Position;
use crate::{CharacterSet, Draft, Element, Message, ParseError, SegmentDraft, Version};

/// Acknowledgement code (table 0008).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckCode {
    ApplicationAccept,
    ApplicationError,
    ApplicationReject,
    CommitAccept,
    CommitError,
    CommitReject,
}

impl AckCode {
    pub fn code(self) -> &'static str {
        match self {
            Self::ApplicationAccept => "AA",
            Self::ApplicationError => "AE",
            Self::ApplicationReject => "AR",
            Self::CommitAccept => "CA",
            Self::CommitError => "CE",
            Self::CommitReject => "CR",
        }
    }

    /// The application acknowledgement code for a message with these faults.
    pub fn for_application(faults: &[Fault]) -> Self {
        match requires_rejection(faults) {
            None => Self::ApplicationAccept,
            Some(false) => Self::ApplicationError,
            Some(true) => Self::ApplicationReject,
        }
    }

    /// The commit acknowledgement code for a message with these faults: the receiving system's, before any application
    /// processes the message.
    pub fn for_commit(faults: &[Fault]) -> Self {
        match requires_rejection(faults) {
            None => Self::CommitAccept,
            Some(false) => Self::CommitError,
            Some(true) => Self::CommitReject,
        }
    }

    pub fn is_accept(self) -> bool {
        matches!(self, Self::ApplicationAccept | Self::CommitAccept)
    }

    fn is_application(self) -> bool {
        matches!(self, Self::ApplicationAccept | Self::ApplicationError | Self::ApplicationReject)
    }
}

/// Whether the faults require a rejection (`Some(true)`) or an error (`Some(false)`); None if there are no errors.
fn requires_rejection(faults: &[Fault]) -> Option<bool> {
    let errors = faults.iter().filter(|fault| fault.severity == Severity::Error);
    errors.map(|fault| fault.code.is_rejection()).max()
}

/// Messages that an application answers with a specific response message instead of ACK (HL7 v2.8, chapters 4 and 4A):
/// message type and trigger event, then those of the response.
const RESPONSE_MESSAGES: &[(&str, &str, &str, &str)] = &[
    ("ORM", "O01", "ORR", "O02"),
    ("OMD", "O03", "ORD", "O04"),
    ("OMS", "O05", "ORS", "O06"),
    ("OMN", "O07", "ORN", "O08"),
    ("OMP", "O09", "ORP", "O10"),
    ("OMG", "O19", "ORG", "O20"),
    ("OML", "O21", "ORL", "O22"),
    ("OMI", "O23", "ORI", "O24"),
    ("OMB", "O27", "ORB", "O28"),
    ("OML", "O33", "ORL", "O34"),
    ("OML", "O35", "ORL", "O36"),
    ("RDE", "O01", "RRE", "O02"),
    ("RDE", "O11", "RRE", "O12"),
    ("RDE", "O25", "RRE", "O26"),
    ("RDS", "O13", "RRD", "O14"),
    ("RGV", "O15", "RRG", "O16"),
    ("RAS", "O17", "RRA", "O18"),
];

/// When the sender wants an acknowledgement (table 0155, in MSH-15 and MSH-16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckCondition {
    Always,
    Never,
    OnError,
    OnSuccess,
}

impl AckCondition {
    pub fn read(code: &str) -> Option<Self> {
        match code {
            "AL" => Some(Self::Always),
            "NE" => Some(Self::Never),
            "ER" => Some(Self::OnError),
            "SU" => Some(Self::OnSuccess),
            _ => None,
        }
    }

    fn requests_ack(self, is_accepted: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::OnError => !is_accepted,
            Self::OnSuccess => is_accepted,
        }
    }
}

/// The codes of the acknowledgements to send for a message, in order. In original mode (neither MSH-15 nor MSH-16) that
/// is one application acknowledgement. In enhanced mode it is what the two fields request, without an application
/// acknowledgement if the message was not committed.
pub fn codes_due(message: &Message, faults: &[Fault]) -> Vec<AckCode> {
    let header = message.header();
    let field = |number| header.component(number, 1);
    let (accept, application) = (field(15), field(16));
    if accept.is_empty() && application.is_empty() {
        return vec![AckCode::for_application(faults)];
    }
    let is_accepted = requires_rejection(faults).is_none();
    let requests_ack =
        |code: &str| AckCondition::read(code).is_some_and(|condition| condition.requests_ack(is_accepted));
    let mut due = Vec::new();
    let commit = AckCode::for_commit(faults);
    if requests_ack(&accept) {
        due.push(commit);
    }
    // A sender that requested no commit acknowledgement still gets the error from the application.
    if requests_ack(&application) && (commit.is_accept() || due.is_empty()) {
        due.push(AckCode::for_application(faults));
    }
    due
}

/// Builder for an acknowledgement message: its code, time and control id, and the faults to report.
#[derive(Clone, Debug)]
pub struct Acknowledgement {
    code: AckCode,
    timestamp: String,
    control_id: String,
    text: Option<String>,
    faults: Vec<Fault>,
}

impl Acknowledgement {
    /// `timestamp` is MSH-7 in HL7 format, `control_id` is MSH-10; both are those of the acknowledgement.
    pub fn new(code: AckCode, timestamp: impl Into<String>, control_id: impl Into<String>) -> Self {
        Self { code, timestamp: timestamp.into(), control_id: control_id.into(), text: None, faults: Vec::new() }
    }

    /// Sets MSA-3, which exists until 2.6. The default is the text of the first error.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    #[must_use]
    pub fn with_faults(mut self, faults: impl IntoIterator<Item = Fault>) -> Self {
        self.faults.extend(faults);
        self
    }

    /// Builds the acknowledgement of a message, in its version, delimiters and character set, from its receiver to its
    /// sender.
    pub fn answer(&self, message: &Message) -> Result<Message, ParseError> {
        // Unknown versions are answered as 2.5.1.
        let version = message.version().unwrap_or(Version::V2_5_1);
        let mut draft = Draft::new(*message.delimiters());
        self.write_header(message, version, &mut draft);
        let msa = draft.segment("MSA");
        msa.field(1, self.code.code()).field(2, message.control_id());
        let errors = self.faults.iter().filter(|fault| fault.severity == Severity::Error);
        let text = self.text.as_deref().or(errors.map(|fault| fault.text.as_str()).next());
        if let Some(text) = text.filter(|_| version < Version::V2_7) {
            msa.field(3, truncated(&encodable(text, message.character_set()), MAX_TEXT_CHARS));
        }
        if version < Version::V2_5 {
            self.write_errors_before_2_5(message.character_set(), &mut draft);
        } else {
            self.write_errors(message.character_set(), &mut draft);
        }
        draft.build()
    }

    fn write_header(&self, message: &Message, version: Version, draft: &mut Draft) {
        let received = message.header();
        let header = draft.header();
        for (from, to) in [(5, 3), (6, 4), (3, 5), (4, 6)] {
            copy_first_repetition(received.field(from), to, header);
        }
        header.field(7, self.timestamp.as_str()).field(10, self.control_id.as_str());
        let trigger = message.trigger_event();
        if let Some((message_type, event)) = self.response_message(message, &trigger) {
            header.component(9, 1, message_type).component(9, 2, event);
            if version >= Version::V2_3_1 {
                header.component(9, 3, format!("{message_type}_{event}"));
            }
        } else {
            header.component(9, 1, "ACK");
            if version >= Version::V2_2 && !trigger.is_empty() {
                header.component(9, 2, trigger);
            }
            if version >= Version::V2_3_1 {
                header.component(9, 3, "ACK");
            }
        }
        let processing = message.processing_id();
        header.field(11, if processing.is_empty() { "P".into() } else { processing });
        let received_version = received.component(12, 1);
        header.field(12, if received_version.is_empty() { version.name().into() } else { received_version });
        let set = received.component(18, 1);
        // An unsupported character set cannot be written.
        if !set.is_empty() && CharacterSet::read(&set).is_some() {
            header.field(18, set);
        }
    }

    /// The type and event of the response message, if MSH-16 requests an application acknowledgement and the message
    /// has a specific response. All segments after MSA and ERR are optional in these responses.
    fn response_message(&self, message: &Message, trigger: &str) -> Option<(&'static str, &'static str)> {
        let is_requested = self.code.is_application() && !message.header().component(16, 1).is_empty();
        let received = message.header().component(9, 1);
        let known =
            RESPONSE_MESSAGES.iter().find(|(message_type, event, ..)| *message_type == received && *event == trigger);
        known.filter(|_| is_requested).map(|(_, _, response, event)| (*response, *event))
    }

    /// Writes the ERR segment of versions up to 2.4, whose first field repeats `segment^sequence^field^code`. It has no
    /// severity, so warnings are left out.
    fn write_errors_before_2_5(&self, set: CharacterSet, draft: &mut Draft) {
        let errors: Vec<&Fault> = self.faults.iter().filter(|fault| fault.severity == Severity::Error).collect();
        if errors.is_empty() {
            return;
        }
        let error = draft.segment("ERR");
        for (fault, repetition) in errors.into_iter().zip(1..=u16::MAX) {
            if let Some(location) = &fault.location {
                error.value(1, repetition, 1, 1, encodable(&location.segment, set));
                error.value(1, repetition, 2, 1, location.sequence.to_string());
                if let Some(position) = location.position {
                    error.value(1, repetition, 3, 1, position.field.to_string());
                }
            }
            error.value(1, repetition, 4, 1, fault.code.code());
            error.value(1, repetition, 4, 2, fault.code.name());
            error.value(1, repetition, 4, 3, "HL70357");
        }
    }

    /// Writes one ERR segment for each fault (since 2.5).
    fn write_errors(&self, set: CharacterSet, draft: &mut Draft) {
        for fault in &self.faults {
            let error = draft.segment("ERR");
            for (part, component) in fault.location.iter().flat_map(location_parts).zip(1..=u16::MAX) {
                error.component(2, component, encodable(&part, set));
            }
            error.component(3, 1, fault.code.code()).component(3, 2, fault.code.name()).component(3, 3, "HL70357");
            let text = truncated(&encodable(&fault.text, set), MAX_USER_MESSAGE_CHARS);
            error.field(4, fault.severity.code()).field(8, text);
        }
    }
}

/// Copies the first repetition of a field part by part, because the acknowledgement may have more delimiters than the
/// message.
fn copy_first_repetition(field: Option<Element<'_>>, to: u16, header: &mut SegmentDraft) {
    let components = field.and_then(|field| field.part(1)).into_iter().flat_map(|first| first.parts());
    for (component, number) in components.zip(1..=u16::MAX) {
        for (part, count) in component.parts().zip(1..=u16::MAX).filter(|(part, _)| part.is_valued()) {
            header.value(to, 1, number, count, part.text());
        }
    }
}

/// Limit of MSA-3.
const MAX_TEXT_CHARS: usize = 80;
/// Limit of ERR-8.
const MAX_USER_MESSAGE_CHARS: usize = 250;

/// The components of an ERL: segment, sequence, field, repetition, component, subcomponent, as far as they are known.
fn location_parts(location: &Location) -> Vec<String> {
    let mut parts = vec![location.segment.clone(), location.sequence.to_string()];
    let Some(Position { field, repetition, component, subcomponent }) = location.position else { return parts };
    parts.push(field.to_string());
    let inner = [repetition, component, subcomponent];
    let known = inner.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    // An omitted number before a known one means 1.
    parts
        .extend(inner[..known].iter().map(|number| number.map_or_else(|| "1".to_owned(), |number| number.to_string())));
    parts
}

fn truncated(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).collect()
}

/// Replaces characters that are not in the character set with `?`.
fn encodable(text: &str, set: CharacterSet) -> String {
    let is_in_set = |c: char| set.check(c.encode_utf8(&mut [0; 4])).is_ok();
    text.chars().map(|c| if is_in_set(c) { c } else { '?' }).collect()
}
