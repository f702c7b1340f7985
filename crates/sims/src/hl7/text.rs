//! How messages are shown: their type in one word, their time, and what fits into one line.

use hl7v2::Message;
use model::Timestamp;
use model::reading::shortened;

/// `ADT^A01`, or `ADT` without an event.
pub(super) fn type_of(message: &Message) -> String {
    match (message.message_type(), message.trigger_event()) {
        (kind, trigger) if trigger.is_empty() => kind.into_owned(),
        (kind, trigger) => format!("{kind}^{trigger}"),
    }
}

/// A time as HL7 writes it (HL7 v2.8, chapter 2A.3.22), in UTC.
pub(super) fn time(at: Timestamp) -> String {
    let printed = at.to_string();
    let digits: String = printed.chars().take_while(|c| *c != '.').filter(char::is_ascii_digit).collect();
    format!("{digits}+0000")
}

/// Segments end with CR; people and JSON write LF.
pub(super) fn with_carriage_returns(text: &str) -> String {
    text.replace("\r\n", "\r").replace('\n', "\r")
}

/// One line for people.
pub(super) fn one_line(text: &str) -> String {
    let one_line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    shortened(&one_line, LONGEST_SUMMARY)
}

const LONGEST_SUMMARY: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_seconds_of_utc() {
        assert_eq!(time(Timestamp(1_776_945_600_070)), "20260423120000+0000");
    }
}
