//! Tests the public API of the codec: parsing, properties, acknowledgements, batches, validation.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests and their helpers may panic")]

mod acknowledgements;
mod batches;
mod messages;
mod properties;
mod samples;
mod structures;

use verial_hl7v2::{Limits, Message};

fn read(text: &str) -> Message {
    Message::parse_text(text, &Limits::default()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The decoded values that a path selects.
fn found(message: &Message, path: &str) -> Vec<String> {
    let path = path.parse().unwrap();
    message.find(&path).map(|value| value.text().into_owned()).collect()
}
