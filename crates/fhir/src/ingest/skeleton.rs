//! The grammar of a Bundle down to its entries; what lies deeper is left to the parser.

use super::scan::Span;

/// What comes next. The Bundle itself and its `entry` array are walked byte by byte; every other value is a piece,
/// scanned to its end and then parsed as a whole.
#[derive(Debug, Clone)]
pub(super) enum State {
    Bundle,
    FirstKey,
    Key,
    Colon(Member),
    Value(Member),
    AfterValue,
    FirstEntry,
    Entry,
    AfterEntry,
    End,
    Within(Piece, Span),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    Key,
    Value(Member),
    Entry,
}

/// A member of the Bundle itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Member {
    Entry,
    ResourceType,
    Type,
    Other,
}

impl State {
    /// The step over a byte that is no white space; an error says what was expected instead.
    ///
    /// A piece is entered by its first byte, but that byte is still to be scanned.
    pub(super) fn step(&self, byte: u8) -> Result<Self, &'static str> {
        match (self, byte) {
            (Self::Bundle, b'{') => Ok(Self::FirstKey),
            (Self::FirstKey | Self::AfterValue, b'}') => Ok(Self::End),
            (Self::FirstKey | Self::Key, b'"') => Ok(Self::within(Piece::Key, byte)),
            (Self::Colon(member), b':') => Ok(Self::Value(*member)),
            (Self::Value(Member::Entry), b'[') => Ok(Self::FirstEntry),
            (Self::Value(Member::Entry), _) => Err("an array of entries"),
            (Self::Value(member), _) => Ok(Self::within(Piece::Value(*member), byte)),
            (Self::AfterValue, b',') => Ok(Self::Key),
            (Self::FirstEntry | Self::AfterEntry, b']') => Ok(Self::AfterValue),
            (Self::FirstEntry | Self::Entry, _) => Ok(Self::within(Piece::Entry, byte)),
            (Self::AfterEntry, b',') => Ok(Self::Entry),
            (Self::Bundle, _) => Err("a JSON object"),
            (Self::FirstKey | Self::Key, _) => Err("a key"),
            (Self::Colon(_), _) => Err("`:`"),
            (Self::AfterValue, _) => Err("`,` or `}`"),
            (Self::AfterEntry, _) => Err("`,` or `]`"),
            (Self::End | Self::Within(..), _) => Err("the end of the document"),
        }
    }

    fn within(piece: Piece, first: u8) -> Self {
        Self::Within(piece, Span::starting_with(first))
    }
}

impl Member {
    pub(super) fn named(key: &str) -> Self {
        match key {
            "entry" => Self::Entry,
            "resourceType" => Self::ResourceType,
            "type" => Self::Type,
            _ => Self::Other,
        }
    }

    /// The name of a member that may come only once.
    pub(super) fn unique_name(self) -> Option<&'static str> {
        match self {
            Self::Entry => Some("entry"),
            Self::ResourceType => Some("resourceType"),
            Self::Type => Some("type"),
            Self::Other => None,
        }
    }
}
