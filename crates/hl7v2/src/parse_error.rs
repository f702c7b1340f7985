//! Why bytes are not a message, and where (HL7 v2.8, chapter 2.5).

use std::fmt;

use crate::fault::{ErrorCode, Fault, Location};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {kind}")]
pub struct ParseError {
    pub kind: ParseErrorKind,
    pub place: Place,
}

/// Where in what was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1.
    pub segment: usize,
    /// Of the byte (of text: of its UTF-8 form), from 0.
    pub offset: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseErrorKind {
    #[error("nothing is there")]
    Empty,
    #[error("a message starts with MSH, this with `{found}`")]
    NotAMessage { found: String },
    #[error("this is a batch, not a single message")]
    IsBatch,
    #[error("{0}")]
    Delimiters(&'static str),
    #[error("has more than {most} bytes")]
    TooLarge { most: usize },
    #[error("there are more than {most} segments")]
    TooManySegments { most: usize },
    #[error("the segment has no end within {most} bytes")]
    SegmentTooLong { most: usize },
    #[error("`{found}` is no segment: it must start with three capitals or digits and the field separator")]
    SegmentName { found: String },
    #[error("a second message starts here")]
    SecondHeader,
    #[error("the character set `{name}` of MSH-18 is not supported: ASCII, 8859/1 and UNICODE UTF-8 are")]
    UnsupportedCharacterSet { name: String },
    #[error("a character is not in the character set {name}")]
    ForeignCharacter { name: &'static str },
    #[error("{0}")]
    Envelope(String),
}

impl ParseError {
    pub(crate) fn new(kind: ParseErrorKind, segment: usize, offset: usize) -> Self {
        Self { kind, place: Place { segment, offset } }
    }

    /// Whether there is not even a header to answer to.
    pub fn is_not_hl7(&self) -> bool {
        matches!(self.kind, ParseErrorKind::Empty | ParseErrorKind::NotAMessage { .. } | ParseErrorKind::Delimiters(_))
    }

    /// As an acknowledgement says it.
    pub fn to_fault(&self) -> Fault {
        let (code, field) = match self.kind {
            ParseErrorKind::UnsupportedCharacterSet { .. } => (ErrorCode::TableValueNotFound, Some(18)),
            ParseErrorKind::ForeignCharacter { .. } => (ErrorCode::DataTypeError, None),
            ParseErrorKind::TooLarge { .. }
            | ParseErrorKind::TooManySegments { .. }
            | ParseErrorKind::SegmentTooLong { .. } => (ErrorCode::ApplicationInternalError, None),
            _ => (ErrorCode::SegmentSequenceError, None),
        };
        let fault = Fault::new(code, self.to_string());
        match field {
            Some(field) => fault.at(Location::field("MSH", 1, field)),
            None => fault,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "segment {}, byte {}", self.segment, self.offset)
    }
}
