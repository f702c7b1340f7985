//! Answers to what cannot be taken at all, so that no sender is left waiting.

use hl7v2::acknowledgement::codes_due;
use hl7v2::{AckCode, Acknowledgement, Delimiters, Draft, ErrorCode, Fault, Limits, Message};

use super::reply::Ack;
use super::text;
use world::Context;

/// Time and control id of an answer.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    pub(super) time: String,
    pub(super) control_id: String,
}

impl Stamp {
    /// Until version 2.6, control IDs have at most 20 characters. They are in lower case because some clients take any
    /// `MSH|` in the text for the start of a message, and a ULID can end in `MSH`.
    pub(super) fn new(context: &Context<'_>) -> Self {
        let id = (context.new_id)();
        let skipped = id.chars().count().saturating_sub(LONGEST_CONTROL_ID);
        Self {
            time: text::time(context.now),
            control_id: id.chars().skip(skipped).collect::<String>().to_ascii_lowercase(),
        }
    }
}

const LONGEST_CONTROL_ID: usize = 20;

/// The answers to a message with these faults, or to its header if no more of it can be read.
pub(super) fn acknowledge(message: &Message, faults: &[Fault], stamp: &Stamp) -> Vec<Ack> {
    let due = codes_due(message, faults).into_iter();
    let answer = |code| {
        let answer = Acknowledgement::new(code, stamp.time.as_str(), stamp.control_id.as_str())
            .with_faults(faults.iter().cloned());
        answer.answer(message).ok().map(Ack::of)
    };
    due.filter_map(answer).collect()
}

/// A rejection of bytes that nobody could look into, whatever they are: `AR` to their header if they have one.
pub fn reject(bytes: &[u8], why: &str, context: &Context<'_>) -> Vec<Ack> {
    let stamp = &Stamp::new(context);
    let fault = Fault::new(ErrorCode::ApplicationInternalError, why);
    match Message::parse_header(bytes, &Limits::default()) {
        Ok(header) => acknowledge(&header, &[fault], stamp),
        Err(_) => headless(&fault, stamp).into_iter().collect(),
    }
}

/// The rejection of what has no header: it names no control id.
pub(super) fn headless(fault: &Fault, stamp: &Stamp) -> Option<Ack> {
    let mut draft = Draft::new(Delimiters::STANDARD);
    draft.header().component(9, 1, "ACK").component(9, 3, "ACK").field(11, "P").field(12, "2.5.1");
    let nothing = draft.build().ok()?;
    let code = AckCode::ApplicationReject;
    let answer = Acknowledgement::new(code, stamp.time.as_str(), stamp.control_id.as_str());
    answer.with_faults([fault.clone()]).answer(&nothing).ok().map(Ack::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_id_cannot_look_like_the_start_of_a_message() {
        let new_id = || "01K0ZQ6B2JE0X8T3SH8FD9MMSH".to_owned();
        let now = model::Timestamp(0);
        let acks =
            reject(b"MSH|^~\\&|A|B|C|D|20260401||ADT^A08|1|P|2.5.1\r", "down", &Context { now, new_id: &new_id });
        let text = acks[0].message.text();
        assert_eq!(text.matches("MSH|").count(), 1, "{text}");
        assert!(text.contains("|6b2je0x8t3sh8fd9mmsh|"), "{text}");
    }
}
