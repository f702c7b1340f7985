//! The codec as its users see it: samples, properties, acknowledgements, batches, validation.

mod acknowledgements;
mod batches;
mod messages;
mod properties;
mod samples;
mod structures;

use verial_hl7v2::{Limits, Message};

fn read(text: &str) -> Message {
    Message::parse_text(text, &Limits::default()).unwrap_or_else(|fault| panic!("{fault}: {text}"))
}

/// What a path finds, each value decoded.
fn found(message: &Message, path: &str) -> Vec<String> {
    let path = path.parse().unwrap();
    message.find(&path).map(|value| value.text().into_owned()).collect()
}
