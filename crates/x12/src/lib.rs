//! ASC X12 005010 codec: parse interchanges, check their envelopes, find the loops of the implementation guides,
//! acknowledge, and write. No I/O, no clock, no randomness: dates and control numbers are arguments.
//!
//! Parsed values borrow from the text, so every interchange prints back exactly the bytes it was parsed from.

pub mod acknowledge;
pub mod check;
pub mod codes;
mod delimiters;
pub mod draft;
pub mod envelope;
pub mod guide;
pub mod hierarchy;
mod location;
pub mod loops;
mod parse;
pub mod query;
mod read;
mod scope;

pub use check::check;
pub use delimiters::{Delimiters, DelimitersError};
pub use location::X12Location;
pub use parse::{Limits, ParseError, ParseFault, parse, parse_bytes};
pub use read::{Body, Element, Group, Interchange, Segment, Transaction};
