//! Checks the elements of an ISA: fixed width, valid value, and the TA1 code to report (X12.5, ISA segment).

use clinical::{PartialDateTime, PartialTime};

use crate::Interchange;
use crate::codes::InterchangeFault;

/// The width of an element, whether a value is valid, and the fault to report if not.
type ElementRule = (usize, fn(&str) -> bool, InterchangeFault);

/// The rules for ISA01 to ISA16.
const ELEMENTS: [ElementRule; 16] = [
    (2, |text| matches!(text, "00" | "03"), InterchangeFault::AuthorizationQualifier),
    (10, is_printable, InterchangeFault::Authorization),
    (2, |text| matches!(text, "00" | "01"), InterchangeFault::SecurityQualifier),
    (10, is_printable, InterchangeFault::Security),
    (2, is_party_qualifier, InterchangeFault::SenderQualifier),
    (15, is_party, InterchangeFault::Sender),
    (2, is_party_qualifier, InterchangeFault::ReceiverQualifier),
    (15, is_party, InterchangeFault::Receiver),
    (6, is_date, InterchangeFault::Date),
    (4, is_time, InterchangeFault::Time),
    (1, |text| !text.bytes().any(|byte| byte.is_ascii_alphanumeric() || byte == b' '), InterchangeFault::Standard),
    (5, |text| text == "00501", InterchangeFault::Version),
    (9, is_digits, InterchangeFault::ControlNumber),
    (1, |text| matches!(text, "0" | "1"), InterchangeFault::AcknowledgmentRequested),
    (1, |text| matches!(text, "T" | "P"), InterchangeFault::TestIndicator),
    (1, |_| true, InterchangeFault::ComponentSeparator),
];

pub(super) fn faults(interchange: &Interchange<'_>) -> Vec<InterchangeFault> {
    let header = interchange.header();
    let mut faults = Vec::new();
    if header.elements().count() != ELEMENTS.len() {
        faults.push(InterchangeFault::ElementSeparator);
    }
    for (element, (width, is_valid, fault)) in header.elements().zip(ELEMENTS) {
        if element.text().chars().count() != width || !is_valid(element.text()) {
            faults.push(fault);
        }
    }
    faults
}

/// Whether an interchange id qualifier is one that the health care guides allow.
pub(crate) fn is_party_qualifier(text: &str) -> bool {
    matches!(text, "01" | "14" | "20" | "27" | "28" | "29" | "30" | "33" | "ZZ")
}

pub(crate) fn is_party(text: &str) -> bool {
    !text.starts_with(' ') && is_printable(text)
}

fn is_printable(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a date `YYMMDD`. The century is unknown; in this one, every year divisible by four is a leap year.
fn is_date(text: &str) -> bool {
    PartialDateTime::parse_x12_date(&format!("20{text}")).is_some()
}

/// Whether a text is a time `HHMM`; the width is checked separately.
fn is_time(text: &str) -> bool {
    PartialTime::parse_x12(text).is_some()
}
