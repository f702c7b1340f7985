//! Formats values for X12 elements: uppercase text, dates, codes (X12.6: data types AN, DT, ID).

use jiff::tz::TimeZone;
use model::Timestamp;
use x12::draft::SegmentDraft;

/// `CCYYMMDD` and `HHMM` of a moment, in UTC.
pub(super) fn date_and_time(at: Timestamp) -> (String, String) {
    let moment = jiff::Timestamp::from_millisecond(at.milliseconds()).unwrap_or_default().to_zoned(TimeZone::UTC);
    let (year, month, day) = (moment.year().clamp(0, 9999), moment.month(), moment.day());
    (format!("{year:04}{month:02}{day:02}"), format!("{:02}{:02}", moment.hour(), moment.minute()))
}

/// Converts `2026-01-15` or `2026-01-15T09:30:00Z` to `20260115`. None for dates without a day.
pub(super) fn date(fhir: &str) -> Option<String> {
    let day = fhir.get(..10).filter(|day| day.parse::<jiff::civil::Date>().is_ok())?;
    Some(day.replace('-', ""))
}

/// Whether the text is a valid `CCYYMMDD` date.
pub(super) fn is_date(text: &str) -> bool {
    let parts = (text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]));
    parts.is_some_and(|parts| parts.parse::<jiff::civil::Date>().is_ok())
}

/// Converts `20260115` to `2026-01-15`.
pub(super) fn fhir_date(date: &str) -> String {
    match (date.get(..4), date.get(4..6), date.get(6..8)) {
        (Some(year), Some(month), Some(day)) => format!("{year}-{month}-{day}"),
        _ => String::new(),
    }
}

/// Uppercases free text, normalizes whitespace, and truncates it to the maximum length of the element.
pub(super) fn uppercase(text: &str, max_chars: usize) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let uppercase: String = words.join(" ").to_uppercase().chars().take(max_chars).collect();
    uppercase.trim_end().to_owned()
}

/// Trims a code or number, drops control characters, and truncates it to the maximum length of the element.
pub(super) fn plain(text: &str, max_chars: usize) -> String {
    text.trim().chars().filter(|c| !c.is_control()).take(max_chars).collect()
}

/// A segment of simple elements.
pub(super) fn segment<const N: usize>(name: &str, elements: [&str; N]) -> SegmentDraft {
    SegmentDraft::of(name, elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_of_the_calendar() {
        assert_eq!(date("2026-02-28T10:00:00Z").as_deref(), Some("20260228"));
        for bad in ["2026", "2026-02", "2026-02-30", "", "20260228", "2026-02-é8"] {
            assert_eq!(date(bad), None, "{bad}");
        }
        assert!(is_date("20240229") && !is_date("20230229") && !is_date("2024022") && !is_date("é024022"));
        assert_eq!(date_and_time(Timestamp(1_776_945_600_000)), ("20260423".to_owned(), "1200".to_owned()));
    }

    #[test]
    fn text_is_uppercased_on_one_line() {
        assert_eq!(uppercase(" O'Neill\n de  la\u{0}Cruz ", 60), "O'NEILL DE LA CRUZ");
        assert_eq!(uppercase("Abc def", 4), "ABC");
    }
}
