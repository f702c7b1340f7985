//! HL7 version 2 codec (2.1 to 2.8): lossless parsing, access by path, writing, acknowledgements, batches, MLLP frames,
//! and validation of the message structure.
//! No I/O, no clock, no randomness: bytes, times and control ids are arguments.

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
pub use parse_error::{ParseError, ParseErrorKind, ParsePosition};
pub use path::{Number, Path, PathError, Position, Selector};
pub use validate::{is_known_segment, known_segments, validate};
pub use version::Version;
