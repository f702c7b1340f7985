//! Points in time as HTTP writes them (<https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7>) and as FHIR's `instant`
//! and `dateTime` do.

use clinical::PartialDateTime;
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

/// The start of a date in UTC, or of a time with an offset.
pub(crate) fn parse_since(text: &str) -> Option<Timestamp> {
    // In a query that was not encoded, the plus of an offset has become a space.
    let since = PartialDateTime::parse_fhir(&text.replace(' ', "+"))?;
    let is_definite = !since.has_time() || since.offset().is_some();
    is_definite.then(|| Timestamp(since.utc_interval().first))
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
        for bad in
            ["", "now", "1970-13", "1970-02-30", "01.01.1970", "1970-01-01T01:00:00", "1970-01-02T00:00:00+14:30"]
        {
            assert_eq!(parse_since(bad), None, "{bad}");
        }
    }
}
