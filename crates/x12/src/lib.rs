//! ASC X12 005010 as plain values: reading interchanges, checking their envelopes, the loops of the
//! implementation guides, acknowledgements, and writing. No I/O, no clock, no randomness: dates and control
//! numbers come in as arguments.
//!
//! Reading borrows from the text, so that every interchange prints back as the bytes that it was read from.

pub mod acknowledge;
pub mod check;
pub mod codes;
mod delimiters;
pub mod draft;
pub mod envelope;
pub mod guide;
pub mod hierarchy;
pub mod loops;
mod parse;
mod place;
pub mod query;
mod read;
mod scope;

pub use check::check;
pub use delimiters::{Delimiters, DelimitersError};
pub use parse::{Limits, ParseError, ParseFault, parse, parse_bytes};
pub use place::Place;
pub use read::{Body, Element, Group, Interchange, Segment, Transaction};
