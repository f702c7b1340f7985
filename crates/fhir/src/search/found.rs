//! What a search parameter finds in one resource: values in the form in which they are compared.

use rust_decimal::Decimal;

/// One value. A parameter may find several in a resource; any of them can answer a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Token(Concept),
    String(Box<str>),
    Reference {
        target: Target,
        identifier: Option<Concept>,
    },
    Date(Span),
    Number(Range),
    Quantity {
        range: Range,
        system: Option<Box<str>>,
        code: Option<Box<str>>,
        unit: Option<Box<str>>,
    },
    Uri(Box<str>),
    /// For each component what it finds in the one element that the composite's expression found.
    Composite(Vec<Vec<Found>>),
}

/// A code in a system: of a Coding, an Identifier, a `code`, a boolean, a ContactPoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Concept {
    pub system: Option<Box<str>>,
    pub code: Option<Box<str>>,
    /// For `:text`: the display of a Coding, the text of a CodeableConcept or of an Identifier's type.
    pub text: Option<Box<str>>,
    /// For `:of-type`: the codings of an Identifier's type, as system and code.
    pub kinds: Vec<SystemAndCode>,
}

pub type SystemAndCode = (Option<Box<str>>, Option<Box<str>>);

/// Where a reference points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `Patient/1`, or the same with the server's base before it; perhaps with a version.
    Local { resource_type: crate::ResourceType, id: Box<str>, version: Option<Box<str>> },
    /// An absolute address, a canonical, or a fragment: compared as text. A canonical keeps its `|version`.
    Other(Box<str>),
    /// An identifier only.
    None,
}

/// Milliseconds since 1970, the first and the last of the time that a date, dateTime, instant, Period or Timing covers.
/// An open end is `i64::MIN` or `i64::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub first: i64,
    pub last: i64,
}

/// The least and the greatest value that a number stands for; `None` is open. A plain number has both the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub low: Option<Decimal>,
    pub high: Option<Decimal>,
}
