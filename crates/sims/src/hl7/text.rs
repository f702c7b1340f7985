//! Formats message types, times and one-line summaries.

use clinical::PartialDateTime;
use hl7v2::Message;
use model::Timestamp;
use model::reading::shortened;

/// `ADT^A01`, or `ADT` without an event.
pub(super) fn type_of(message: &Message) -> String {
    match (message.message_type(), message.trigger_event()) {
        (code, trigger) if trigger.is_empty() => code.into_owned(),
        (code, trigger) => format!("{code}^{trigger}"),
    }
}

/// Formats a time as an HL7 DTM in UTC (HL7 v2.8, chapter 2A.3.22).
pub(super) fn time(at: Timestamp) -> String {
    PartialDateTime::from_unix_milliseconds(at.milliseconds()).map(|time| time.to_hl7v2()).unwrap_or_default()
}

/// Converts line feeds to CR, the segment terminator.
pub(super) fn with_carriage_returns(text: &str) -> String {
    text.replace("\r\n", "\r").replace('\n', "\r")
}

/// A summary for the log, on one line.
pub(super) fn one_line(text: &str) -> String {
    let one_line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    shortened(&one_line, MAX_SUMMARY_CHARS)
}

const MAX_SUMMARY_CHARS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_with_seconds() {
        assert_eq!(time(Timestamp(1_776_945_600_070)), "20260423120000+0000");
    }
}
