//! Parse errors and their position (HL7 v2.8, chapter 2.5).

use std::fmt;

use crate::fault::{ErrorCode, Fault, Location};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{position}: {kind}")]
pub struct ParseError {
    pub kind: ParseErrorKind,
    pub position: ParsePosition,
}

/// Where in the input an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsePosition {
    /// Counted from 1.
    pub segment: usize,
    /// Byte offset from 0; in text, of its UTF-8 form.
    pub offset: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseErrorKind {
    #[error("the message is empty")]
    Empty,
    #[error("a message starts with MSH, this with `{found}`")]
    NotAMessage { found: String },
    #[error("this is a batch, not a single message")]
    IsBatch,
    #[error("{0}")]
    Delimiters(&'static str),
    #[error("has more than {max} bytes")]
    TooLarge { max: usize },
    #[error("there are more than {max} segments")]
    TooManySegments { max: usize },
    #[error("the segment has no end within {max} bytes")]
    SegmentTooLong { max: usize },
    #[error("`{found}` is not a segment: it must start with three uppercase letters or digits and the field separator")]
    SegmentName { found: String },
    #[error("a second message starts here")]
    SecondHeader,
    #[error("the character set `{name}` of MSH-18 is not supported; use ASCII, 8859/1 or UNICODE UTF-8")]
    UnsupportedCharacterSet { name: String },
    #[error("a character is not in the character set {name}")]
    ForeignCharacter { name: &'static str },
    #[error("{0}")]
    Envelope(String),
}

impl ParseError {
    pub(crate) fn new(kind: ParseErrorKind, segment: usize, offset: usize) -> Self {
        Self { kind, position: ParsePosition { segment, offset } }
    }

    /// Whether the input has no valid header, so that it cannot be acknowledged.
    pub fn is_not_hl7(&self) -> bool {
        matches!(self.kind, ParseErrorKind::Empty | ParseErrorKind::NotAMessage { .. } | ParseErrorKind::Delimiters(_))
    }

    /// The error as an acknowledgement reports it.
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

impl fmt::Display for ParsePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "segment {}, byte {}", self.segment, self.offset)
    }
}
