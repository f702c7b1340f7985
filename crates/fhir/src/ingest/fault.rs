//! Errors in datasets and their locations.

use std::fmt;

use crate::excerpt::Excerpt;
use crate::resource_type::UnknownResourceType;

/// Why an ingest failed: the dataset is invalid, or the sink failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IngestError<E> {
    #[error(transparent)]
    Fault(#[from] IngestFault),
    #[error("{0}")]
    Sink(E),
}

/// An error in a dataset, for its author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}{message}")]
pub struct IngestFault {
    pub place: InputLocation,
    /// A short message with at most 80 characters of the dataset.
    pub message: String,
}

/// The location of an error in a dataset, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputLocation {
    /// A line of an NDJSON dataset, including blank lines.
    Line(u64),
    /// An entry of a Bundle.
    Entry(u64),
    /// The dataset as a whole.
    Document,
}

impl fmt::Display for InputLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(formatter, "line {line}: "),
            Self::Entry(entry) => write!(formatter, "entry {entry}: "),
            Self::Document => Ok(()),
        }
    }
}

/// The message of a fault.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    #[error("not valid UTF-8")]
    NotUtf8,
    #[error("not valid JSON: {}", without_first_line(.0))]
    NotJson(#[from] serde_json::Error),
    #[error("not valid JSON before byte {0}")]
    NotJsonBefore(u64),
    #[error("a string holds the character U+0000")]
    NulCharacter,
    #[error("a string holds half of a surrogate pair")]
    LoneSurrogate,
    #[error("nested {0} levels deep or more")]
    TooDeep(usize),
    #[error("larger than {0} bytes")]
    TooLarge(usize),
    #[error("{0} is not a JSON object")]
    NotAnObject(&'static str),
    #[error("{0} is not a string")]
    NotAString(&'static str),
    #[error("{0} has no {1}")]
    Missing(&'static str, &'static str),
    #[error("{0} has more than one {1}")]
    Repeated(&'static str, &'static str),
    #[error(transparent)]
    UnknownType(#[from] UnknownResourceType),
    #[error("id {0} is not 1 to 64 letters, digits, - and .")]
    InvalidId(Excerpt),
    #[error("{0}/{1} is there more than once")]
    Duplicate(&'static str, String),
    #[error("more than {0} resources")]
    TooMany(u64),
    #[error("expected {expected} at byte {offset}")]
    Expected { expected: &'static str, offset: u64 },
    #[error("resourceType is {0}, not \"Bundle\"")]
    NotABundle(Excerpt),
    #[error("unknown type of Bundle {0}")]
    UnknownBundleType(Excerpt),
    #[error("the Bundle is cut off after {0} entries")]
    CutOff(u64),
    #[error("the ingest has been stopped")]
    Stopped,
}

impl Problem {
    pub(super) fn at(self, place: InputLocation) -> IngestFault {
        IngestFault { place, message: self.to_string() }
    }
}

/// serde_json counts lines within the text it was given, which beside the line of the dataset only confuses.
fn without_first_line(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rsplit_once(" at line 1 column ") {
        Some((what, column)) => format!("{what} at column {column}"),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_its_place() {
        let missing = || Problem::Missing("resource", "id");
        assert_eq!(missing().at(InputLocation::Line(17)).to_string(), "line 17: resource has no id");
        assert_eq!(missing().at(InputLocation::Entry(3)).to_string(), "entry 3: resource has no id");
        assert_eq!(Problem::CutOff(2).at(InputLocation::Document).to_string(), "the Bundle is cut off after 2 entries");
    }
}
