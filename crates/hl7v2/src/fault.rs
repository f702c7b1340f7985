//! An error in a message, as reported by ERR (HL7 v2.8, chapter 2.14.5, tables 0357 and 0516).

use std::fmt;

use crate::path::{Number, Position};

/// One error in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub code: ErrorCode,
    pub severity: Severity,
    pub location: Option<Location>,
    pub text: String,
}

/// Message error condition code (table 0357).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorCode {
    SegmentSequenceError,
    RequiredFieldMissing,
    DataTypeError,
    TableValueNotFound,
    UnsupportedMessageType,
    UnsupportedEventCode,
    UnsupportedProcessingId,
    UnsupportedVersionId,
    UnknownKeyIdentifier,
    DuplicateKeyIdentifier,
    ApplicationRecordLocked,
    ApplicationInternalError,
}

impl ErrorCode {
    pub fn code(self) -> &'static str {
        self.code_and_name().0
    }

    pub fn name(self) -> &'static str {
        self.code_and_name().1
    }

    /// Whether the error leads to a rejection of the message without processing it. Header errors do.
    pub fn is_rejection(self) -> bool {
        matches!(
            self,
            Self::UnsupportedMessageType
                | Self::UnsupportedEventCode
                | Self::UnsupportedProcessingId
                | Self::UnsupportedVersionId
                | Self::ApplicationInternalError
        )
    }

    fn code_and_name(self) -> (&'static str, &'static str) {
        match self {
            Self::SegmentSequenceError => ("100", "Segment sequence error"),
            Self::RequiredFieldMissing => ("101", "Required field missing"),
            Self::DataTypeError => ("102", "Data type error"),
            Self::TableValueNotFound => ("103", "Table value not found"),
            Self::UnsupportedMessageType => ("200", "Unsupported message type"),
            Self::UnsupportedEventCode => ("201", "Unsupported event code"),
            Self::UnsupportedProcessingId => ("202", "Unsupported processing id"),
            Self::UnsupportedVersionId => ("203", "Unsupported version id"),
            Self::UnknownKeyIdentifier => ("204", "Unknown key identifier"),
            Self::DuplicateKeyIdentifier => ("205", "Duplicate key identifier"),
            Self::ApplicationRecordLocked => ("206", "Application record locked"),
            Self::ApplicationInternalError => ("207", "Application internal error"),
        }
    }
}

/// Error severity (table 0516).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
    Information,
}

impl Severity {
    pub fn code(self) -> &'static str {
        match self {
            Self::Error => "E",
            Self::Warning => "W",
            Self::Information => "I",
        }
    }
}

/// The location of an error (ERL): the segment name, the number of the segment among those of that name (from 1), and
/// the position in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub segment: String,
    pub sequence: usize,
    pub position: Option<Position>,
}

impl Location {
    pub fn segment(name: &str, sequence: usize) -> Self {
        Self { segment: name.to_owned(), sequence, position: None }
    }

    /// The location of a field, numbered from 1; 0 means the whole segment.
    pub fn field(name: &str, sequence: usize, field: u16) -> Self {
        let position = Number::new(field).map(Position::of_field);
        Self { position, ..Self::segment(name, sequence) }
    }
}

impl Fault {
    pub fn new(code: ErrorCode, text: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, location: None, text: text.into() }
    }

    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.segment, self.sequence)?;
        match &self.position {
            Some(position) => write!(f, ".{position}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        write!(f, "{} ({} {})", self.text, self.code.code(), self.code.name())
    }
}
