//! HL7 version 2 (2.1 to 2.8) as plain values: messages exactly as they were written, access by path, writing,
//! acknowledgement, batches, MLLP frames, and validation of the structure.
//! No I/O, no clock, no randomness: bytes, times and control ids come in as arguments.

pub mod acknowledgement;
pub mod batch;
mod character_set;
mod delimiters;
mod draft;
mod element;
mod escape;
mod fault;
mod message;
pub mod mllp;
mod parse_error;
mod path;
pub mod validate;
mod version;

pub use acknowledgement::{AckCode, Acknowledgement};
pub use batch::BatchFile;
pub use character_set::CharacterSet;
pub use delimiters::Delimiters;
pub use draft::{Draft, SegmentDraft};
pub use element::{Element, Segment};
pub use escape::escape;
pub use fault::{ErrorCode, Fault, Location, Severity};
pub use message::{Limits, Message};
pub use parse_error::{ParseError, ParseErrorKind, Place};
pub use path::{Number, Path, PathError, Position, Selector};
pub use validate::validate;
pub use version::Version;
