//! Points in time as HTTP writes them (<https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7>) and as FHIR's `instant`
//! and `dateTime` do.

use jiff::fmt::rfc2822::{DateTimeParser, DateTimePrinter};
use model::Timestamp;

/// `Sun, 06 Nov 1994 08:49:37 GMT`
pub(crate) fn http_date(at: Timestamp) -> String {
    let instant = jiff::Timestamp::from_millisecond(at.milliseconds()).unwrap_or_default();
    DateTimePrinter::new().timestamp_to_rfc9110_string(&instant).unwrap_or_default()
}

/// Whole seconds since 1970.
pub(crate) fn parse_http_date(text: &str) -> Option<i64> {
    DateTimeParser::new().parse_timestamp(text.trim()).ok().map(jiff::Timestamp::as_second)
}

/// The first moment of a date, dateTime or instant; a date is one in UTC.
pub(crate) fn parse_since(text: &str) -> Option<Timestamp> {
    let whole = match text.len() {
        4 => format!("{text}-01-01T00:00:00Z"),
        7 => format!("{text}-01T00:00:00Z"),
        10 => format!("{text}T00:00:00Z"),
        // In a query that was not encoded, the plus of a zone has become a space.
        _ => text.replace(' ', "+"),
    };
    let instant: jiff::Timestamp = whole.parse().ok()?;
    Some(Timestamp(instant.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_dates_survive_their_text() {
        assert_eq!(http_date(Timestamp(784_111_777_000)), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(parse_http_date("yesterday"), None);
    }

    #[test]
    fn since_is_a_date_or_a_moment() {
        assert_eq!(parse_since("1970-01-02"), Some(Timestamp(86_400_000)));
        assert_eq!(parse_since("1970"), Some(Timestamp(0)));
        assert_eq!(parse_since("1970-01-01T01:00:00.250+01:00"), Some(Timestamp(250)));
        assert_eq!(parse_since("1970-01-01T01:00:00 01:00"), Some(Timestamp(0)));
        for bad in ["", "now", "1970-13", "1970-02-30", "01.01.1970"] {
            assert_eq!(parse_since(bad), None, "{bad}");
        }
    }
}
