//! Acknowledgements (HL7 v2.8, chapter 2.9 and 2.14.5, 2.14.8): original mode AA, AE, AR; enhanced mode CA, CE, CR.

use crate::fault::{Fault, Location, Severity};
use crate::path::Position;
use crate::{CharacterSet, Draft, Element, Message, ParseError, SegmentDraft, Version};

/// Table 0008.
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

    /// What the application says to a message with these faults.
    pub fn of_application(faults: &[Fault]) -> Self {
        match worst(faults) {
            None => Self::ApplicationAccept,
            Some(false) => Self::ApplicationError,
            Some(true) => Self::ApplicationReject,
        }
    }

    /// What the receiving system says, before any application has looked.
    pub fn of_commit(faults: &[Fault]) -> Self {
        match worst(faults) {
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

/// None: nothing is wrong. Some(true): it is to be rejected.
fn worst(faults: &[Fault]) -> Option<bool> {
    let errors = faults.iter().filter(|fault| fault.severity == Severity::Error);
    errors.map(|fault| fault.code.is_rejection()).max()
}

/// Messages that an application answers with a message of their own instead of ACK (HL7 v2.8, chapters 4 and 4A):
/// message type and trigger event, and those of the answer.
const APPLICATION_MESSAGES: &[(&str, &str, &str, &str)] = &[
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

/// Table 0155: when a sender wants an acknowledgement (MSH-15 and MSH-16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Always,
    Never,
    OnError,
    OnSuccess,
}

impl Condition {
    pub fn read(code: &str) -> Option<Self> {
        match code {
            "AL" => Some(Self::Always),
            "NE" => Some(Self::Never),
            "ER" => Some(Self::OnError),
            "SU" => Some(Self::OnSuccess),
            _ => None,
        }
    }

    fn asks(self, is_accepted: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::OnError => !is_accepted,
            Self::OnSuccess => is_accepted,
        }
    }
}

/// The codes that the sender of a message waits for, in the order in which they are sent. In original mode (neither
/// MSH-15 nor MSH-16) that is one of the application; in enhanced mode what the two fields ask for, and nothing from
/// the application if the message was not committed.
pub fn codes_due(message: &Message, faults: &[Fault]) -> Vec<AckCode> {
    let header = message.header();
    let field = |number| header.component(number, 1);
    let (accept, application) = (field(15), field(16));
    if accept.is_empty() && application.is_empty() {
        return vec![AckCode::of_application(faults)];
    }
    let asks = |code: &str| Condition::read(code).is_some_and(|condition| condition.asks(worst(faults).is_none()));
    let mut due = Vec::new();
    let commit = AckCode::of_commit(faults);
    if asks(&accept) {
        due.push(commit);
    }
    // Who asked for no commit still learns from the application that there was a fault.
    if asks(&application) && (commit.is_accept() || due.is_empty()) {
        due.push(AckCode::of_application(faults));
    }
    due
}

/// An answer in the making: a code, the time and the control id of the answer, and what was wrong.
#[derive(Clone, Debug)]
pub struct Acknowledgement {
    code: AckCode,
    timestamp: String,
    control_id: String,
    text: Option<String>,
    faults: Vec<Fault>,
}

impl Acknowledgement {
    /// `timestamp` is MSH-7 in the form of the standard, `control_id` is MSH-10 of the answer.
    pub fn new(code: AckCode, timestamp: impl Into<String>, control_id: impl Into<String>) -> Self {
        Self { code, timestamp: timestamp.into(), control_id: control_id.into(), text: None, faults: Vec::new() }
    }

    /// MSA-3, until 2.6; where it is not given, the first fault says it.
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

    /// The answer to a message, in its version, delimiters and character set, from its receiver to its sender.
    pub fn answer(&self, message: &Message) -> Result<Message, ParseError> {
        // A version that nobody knows is answered as a recent one.
        let version = message.version().unwrap_or(Version::V2_5_1);
        let mut draft = Draft::new(*message.delimiters());
        self.write_header(message, version, &mut draft);
        let acknowledged = draft.segment("MSA");
        acknowledged.field(1, self.code.code()).field(2, message.control_id());
        let errors = self.faults.iter().filter(|fault| fault.severity == Severity::Error);
        let text = self.text.as_deref().or(errors.map(|fault| fault.text.as_str()).next());
        if let Some(text) = text.filter(|_| version < Version::V2_7) {
            acknowledged.field(3, shortened(&in_set(text, message.character_set()), LONGEST_TEXT));
        }
        if version < Version::V2_5 {
            self.write_old_errors(message.character_set(), &mut draft);
        } else {
            self.write_errors(message.character_set(), &mut draft);
        }
        draft.build()
    }

    fn write_header(&self, message: &Message, version: Version, draft: &mut Draft) {
        let asked = message.header();
        let own = draft.header();
        for (from, to) in [(5, 3), (6, 4), (3, 5), (4, 6)] {
            copy_first(asked.field(from), to, own);
        }
        own.field(7, self.timestamp.as_str()).field(10, self.control_id.as_str());
        let trigger = message.trigger_event();
        if let Some((kind, event)) = self.application_message(message, &trigger) {
            own.component(9, 1, kind).component(9, 2, event);
            if version >= Version::V2_3_1 {
                own.component(9, 3, format!("{kind}_{event}"));
            }
        } else {
            own.component(9, 1, "ACK");
            if version >= Version::V2_2 && !trigger.is_empty() {
                own.component(9, 2, trigger);
            }
            if version >= Version::V2_3_1 {
                own.component(9, 3, "ACK");
            }
        }
        let processing = message.processing_id();
        own.field(11, if processing.is_empty() { "P".into() } else { processing });
        let named = asked.component(12, 1);
        own.field(12, if named.is_empty() { version.name().into() } else { named });
        let set = asked.component(18, 1);
        // One that cannot be read cannot be written either.
        if !set.is_empty() && CharacterSet::read(&set).is_some() {
            own.field(18, set);
        }
    }

    /// The message that an application answers with, where MSH-16 asks for its answer. All that follows MSA and ERR in
    /// these messages is optional.
    fn application_message(&self, message: &Message, trigger: &str) -> Option<(&'static str, &'static str)> {
        let is_asked_for = self.code.is_application() && !message.header().component(16, 1).is_empty();
        let kind = message.header().component(9, 1);
        let known = APPLICATION_MESSAGES.iter().find(|(asked, event, ..)| *asked == kind && *event == trigger);
        known.filter(|_| is_asked_for).map(|(_, _, answer, event)| (*answer, *event))
    }

    /// Until 2.4: one ERR, whose first field repeats `segment^sequence^field^code`. It has no severity, so that it cannot
    /// tell of warnings.
    fn write_old_errors(&self, set: CharacterSet, draft: &mut Draft) {
        let errors: Vec<&Fault> = self.faults.iter().filter(|fault| fault.severity == Severity::Error).collect();
        if errors.is_empty() {
            return;
        }
        let error = draft.segment("ERR");
        for (fault, repetition) in errors.into_iter().zip(1..=u16::MAX) {
            if let Some(location) = &fault.location {
                error.value(1, repetition, 1, 1, in_set(&location.segment, set));
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

    /// Since 2.5: one ERR for each fault.
    fn write_errors(&self, set: CharacterSet, draft: &mut Draft) {
        for fault in &self.faults {
            let error = draft.segment("ERR");
            for (part, component) in fault.location.iter().flat_map(location_parts).zip(1..=u16::MAX) {
                error.component(2, component, in_set(&part, set));
            }
            error.component(3, 1, fault.code.code()).component(3, 2, fault.code.name()).component(3, 3, "HL70357");
            error.field(4, fault.severity.code()).field(8, shortened(&in_set(&fault.text, set), LONGEST_USER_MESSAGE));
        }
    }
}

/// The first repetition, part by part: the answer may have more delimiters than the message.
fn copy_first(field: Option<Element<'_>>, to: u16, own: &mut SegmentDraft) {
    let components = field.and_then(|field| field.part(1)).into_iter().flat_map(|first| first.parts());
    for (component, number) in components.zip(1..=u16::MAX) {
        for (part, count) in component.parts().zip(1..=u16::MAX).filter(|(part, _)| part.is_valued()) {
            own.value(to, 1, number, count, part.text());
        }
    }
}

const LONGEST_TEXT: usize = 80;
const LONGEST_USER_MESSAGE: usize = 250;

/// ERL: segment, sequence, field, repetition, component, subcomponent, as far as they are known.
fn location_parts(location: &Location) -> Vec<String> {
    let mut parts = vec![location.segment.clone(), location.sequence.to_string()];
    let Some(Position { field, repetition, component, subcomponent }) = location.position else { return parts };
    parts.push(field.to_string());
    let inner = [repetition, component, subcomponent];
    let known = inner.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    // What is left out before something known is the first.
    parts
        .extend(inner[..known].iter().map(|number| number.map_or_else(|| "1".to_owned(), |number| number.to_string())));
    parts
}

fn shortened(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// What the character set of the message does not have cannot be answered in it.
fn in_set(text: &str, set: CharacterSet) -> String {
    let known = |c: char| set.check(c.encode_utf8(&mut [0; 4])).is_ok();
    text.chars().map(|c| if known(c) { c } else { '?' }).collect()
}
