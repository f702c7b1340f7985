//! The time that a date covers (<https://hl7.org/fhir/R4/search.html#date>). A missing offset is read as UTC.

use clinical::PartialDateTime;

use super::Span;

/// Parses a date of any precision. A space is a `+` that was not escaped in a URL.
pub fn date_span(text: &str) -> Option<Span> {
    let date = match text.contains(' ') {
        true => PartialDateTime::parse_fhir(&text.replace(' ', "+"))?,
        false => PartialDateTime::parse_fhir(text)?,
    };
    let interval = date.utc_interval();
    Some(Span { first: interval.first, last: interval.last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_utc() {
        const HOUR: i64 = 3_600_000;
        for (text, first, last) in [
            ("1970-01-01T01", None, None),
            ("1970-01-01T01:00", Some(HOUR), Some(HOUR + 59_999)),
            ("1970-01-01T01:00:00+01:00", Some(0), Some(999)),
            ("1970-01-01T01:00:00 01:00", Some(0), Some(999)),
            ("1970-01-01 01:00", None, None),
            ("1970-01-01T01:00:00+14:30", None, None),
        ] {
            let span = date_span(text);
            assert_eq!((span.map(|span| span.first), span.map(|span| span.last)), (first, last), "{text}");
        }
    }
}
