//! Checks the elements of an ISA: fixed width, valid value, and the TA1 code to report (X12.5, ISA segment).

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

/// Whether a text is a date `YYMMDD`. The century is unknown, so every year divisible by four counts as a leap year.
pub(crate) fn is_date(text: &str) -> bool {
    let two = |from: usize| text.get(from..from + 2).and_then(|digits| digits.parse::<u8>().ok());
    let (Some(year), Some(month), Some(day)) = (two(0), two(2), two(4)) else { return false };
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 => 29,
        2 => 28,
        _ => 0,
    };
    is_digits(text) && (1..=last).contains(&day)
}

/// Whether a text is a time `HHMM`.
pub(crate) fn is_time(text: &str) -> bool {
    let (hour, minute) = text.split_at_checked(2).unwrap_or_default();
    is_digits(text) && hour < "24" && minute < "60" && text.len() == 4
}
