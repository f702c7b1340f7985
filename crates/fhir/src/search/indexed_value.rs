//! The values of search parameters in resources, in the form in which they are indexed and compared.

use rust_decimal::Decimal;

/// One value. A parameter can have several values in a resource; any of them can match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexedValue {
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
    /// For each component, its values in the element that the composite selects.
    Composite(Vec<Vec<IndexedValue>>),
}

/// A code in a system: from a Coding, Identifier, `code`, Boolean or ContactPoint.
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

/// The target of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `Patient/1`, or the same below the server's base URL; with or without a version.
    Local { resource_type: crate::ResourceType, id: Box<str>, version: Option<Box<str>> },
    /// An absolute URL, a canonical or a fragment, compared as text. A canonical keeps its `|version`.
    Other(Box<str>),
    /// The reference has only an identifier.
    None,
}

/// The first and the last millisecond since 1970 that a date, dateTime, instant, Period or Timing covers. An open end
/// is `i64::MIN` or `i64::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub first: i64,
    pub last: i64,
}

/// The lowest and the highest value; `None` is open. Both are equal for a plain number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub low: Option<Decimal>,
    pub high: Option<Decimal>,
}
