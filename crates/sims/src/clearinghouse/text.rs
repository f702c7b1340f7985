//! Formats values for X12 elements: uppercase text, dates, codes (X12.6: data types AN, DT, ID).

use clinical::PartialDateTime;
use model::Timestamp;
use x12::draft::SegmentDraft;

/// `CCYYMMDD` and `HHMM` of a time, in UTC.
pub(super) fn date_and_time(at: Timestamp) -> (String, String) {
    let time = PartialDateTime::from_unix_milliseconds(at.milliseconds());
    let text = |part: fn(&PartialDateTime) -> Option<String>| time.as_ref().and_then(part).unwrap_or_default();
    (text(PartialDateTime::to_x12_date), text(PartialDateTime::to_x12_time))
}

/// Converts `2026-01-15` or `2026-01-15T09:30:00Z` to `20260115`. None for dates without a day.
pub(super) fn date(fhir: &str) -> Option<String> {
    PartialDateTime::parse_fhir(fhir)?.to_x12_date()
}

/// Converts `20260115` to `2026-01-15`; empty for a text that is not a date.
pub(super) fn fhir_date(date: &str) -> String {
    PartialDateTime::parse_x12_date(date).map(|date| date.to_string()).unwrap_or_default()
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
        assert_eq!((fhir_date("20240229").as_str(), fhir_date("20230229").as_str()), ("2024-02-29", ""));
        assert_eq!(date_and_time(Timestamp(1_776_945_600_000)), ("20260423".to_owned(), "1200".to_owned()));
    }

    #[test]
    fn text_is_uppercased_on_one_line() {
        assert_eq!(uppercase(" O'Neill\n de  la\u{0}Cruz ", 60), "O'NEILL DE LA CRUZ");
        assert_eq!(uppercase("Abc def", 4), "ABC");
    }
}
