//! Acknowledgments, and rejections of input that cannot be read, so that no sender waits in vain.

use hl7v2::acknowledgement::codes_due;
use hl7v2::{AckCode, Acknowledgement, Delimiters, Draft, ErrorCode, Fault, Limits, Message};

use super::reply::Ack;
use super::text;
use world::Context;

/// MSH-7 and MSH-10 of an acknowledgment.
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
        let skipped = id.chars().count().saturating_sub(MAX_CONTROL_ID_CHARS);
        Self {
            time: text::time(context.now),
            control_id: id.chars().skip(skipped).collect::<String>().to_ascii_lowercase(),
        }
    }
}

const MAX_CONTROL_ID_CHARS: usize = 20;

/// The acknowledgments for a message with these faults. If the message cannot be read, its header is enough.
pub(super) fn acknowledge(message: &Message, faults: &[Fault], stamp: &Stamp) -> Vec<Ack> {
    let codes = codes_due(message, faults).into_iter();
    let ack = |code| {
        let acknowledgement = Acknowledgement::new(code, stamp.time.as_str(), stamp.control_id.as_str())
            .with_faults(faults.iter().cloned());
        acknowledgement.answer(message).ok().map(Ack::of)
    };
    codes.filter_map(ack).collect()
}

/// Rejects bytes without reading the message: `AR` in reply to their header, if they have one.
pub fn reject(bytes: &[u8], reason: &str, context: &Context<'_>) -> Vec<Ack> {
    let stamp = &Stamp::new(context);
    let fault = Fault::new(ErrorCode::ApplicationInternalError, reason);
    match Message::parse_header(bytes, &Limits::default()) {
        Ok(header) => acknowledge(&header, &[fault], stamp),
        Err(_) => without_header(&fault, stamp).into_iter().collect(),
    }
}

/// The rejection of input without a header. It has no control id.
pub(super) fn without_header(fault: &Fault, stamp: &Stamp) -> Option<Ack> {
    let mut draft = Draft::new(Delimiters::STANDARD);
    draft.header().component(9, 1, "ACK").component(9, 3, "ACK").field(11, "P").field(12, "2.5.1");
    let empty_message = draft.build().ok()?;
    let code = AckCode::ApplicationReject;
    let acknowledgement = Acknowledgement::new(code, stamp.time.as_str(), stamp.control_id.as_str());
    acknowledgement.with_faults([fault.clone()]).answer(&empty_message).ok().map(Ack::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_ids_do_not_look_like_message_headers() {
        let new_id = || "01K0ZQ6B2JE0X8T3SH8FD9MMSH".to_owned();
        let now = model::Timestamp(0);
        let acks =
            reject(b"MSH|^~\\&|A|B|C|D|20260401||ADT^A08|1|P|2.5.1\r", "down", &Context { now, new_id: &new_id });
        let text = acks[0].message.text();
        assert_eq!(text.matches("MSH|").count(), 1, "{text}");
        assert!(text.contains("|6b2je0x8t3sh8fd9mmsh|"), "{text}");
    }
}
