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

/// Reads bytes in every way that the crate has, for fuzzing: it must return, whatever they are.
pub fn fuzz_parse(bytes: &[u8]) {
    let limits = Limits::default();
    if let Ok(file) = BatchFile::parse(bytes, &limits) {
        assert_eq!(file.to_bytes(), bytes, "what was read is written back as it was");
    }
    if let Ok(header) = Message::parse_header(bytes, &limits) {
        drop(Acknowledgement::new(AckCode::ApplicationReject, "20260301", "1").answer(&header));
    }
    let Ok(message) = Message::parse(bytes, &limits) else { return };
    assert_eq!(message.to_bytes().as_ref(), bytes, "what was read is written back as it was");
    for segment in message.segments() {
        for field in segment.fields() {
            drop(field.text());
        }
    }
    let faults = validate(&message);
    drop(Acknowledgement::new(AckCode::ApplicationError, "20260301", "1").with_faults(faults).answer(&message));
}
