use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;

fn fhir(text: &str) -> PartialDateTime {
    PartialDateTime::parse_fhirpath(text).unwrap_or_else(|| panic!("{text}"))
}

fn hl7v2(text: &str) -> PartialDateTime {
    PartialDateTime::parse_hl7v2(text).unwrap_or_else(|| panic!("{text}"))
}

fn time(text: &str) -> PartialTime {
    PartialTime::parse_fhirpath(text).unwrap_or_else(|| panic!("{text}"))
}

/// The parser accepts all of the first texts and none of the second.
#[track_caller]
fn check<T>(parse: impl Fn(&str) -> Option<T>, valid: &[&str], invalid: &[&str]) {
    assert_eq!(valid.iter().find(|text| parse(text).is_none()), None, "valid");
    assert_eq!(invalid.iter().find(|text| parse(text).is_some()), None, "invalid");
}

#[test]
fn fhir_dates_may_be_partial() {
    check(
        |text| PartialDateTime::parse_fhir(text).filter(PartialDateTime::is_fhir_date),
        &["0001", "2024", "2024-12", "2024-02-29", "2000-02-29", "1999-12-31"],
        &[
            "",
            "0000",
            "24",
            "2024-",
            "2024-13",
            "2024-00",
            "2024-1",
            "2023-02-29",
            "1900-02-29",
            "2024-04-31",
            "2024-01-00",
            "2024-01-32",
            "2024-01-01-",
            "2024-01-01-02",
            "2024-01-01T",
            "2024-01-01+02:00",
            "2024-01-01T10:00:00Z",
            " 2024",
            "+024",
            "2024/01",
            "20240101",
            "２０２４",
            "é024",
        ],
    );
}

#[test]
fn fhir_instants_have_seconds_and_an_offset() {
    let valid = [
        "2024-02-29T00:00:00Z",
        "2024-02-29T23:59:60.5Z",
        "2024-02-29T23:59:59.123+14:00",
        "2024-02-29T23:59:59-05:30",
        "2024-02-29T00:00:00.0123456789Z",
        "2024-02-29T00:00:00-00:00",
    ];
    let invalid = [
        "2024-02-29T00:00:00",
        "2024-02-29T00:00Z",
        "2024-02T00:00:00Z",
        "2024T00:00:00Z",
        "2024-02-30T00:00:00Z",
        "2024-02-29 00:00:00Z",
        "2024-02-29T24:00:00Z",
        "2024-02-29T00:00:61Z",
        "2024-02-29T00:00:00.Z",
        "2024-02-29T00:00:00+14:01",
        "2024-02-29T00:00:00+14:30",
        "2024-02-29T00:00:00+1:00",
        "2024-02-29T00:00:00+01",
        "2024-02-29T00:00:00+0100",
        "2024-02-29T00:00:00z",
        "2024-02-29T00:00:00ZZ",
        "T",
    ];
    check(|text| PartialDateTime::parse_fhir(text).filter(PartialDateTime::is_fhir_instant), &valid, &invalid);
    check(|text| PartialDateTime::parse_fhir(text).filter(PartialDateTime::is_fhir_date_time), &valid, &invalid);
}

#[test]
fn fhir_search_accepts_minutes_and_missing_offsets() {
    check(
        PartialDateTime::parse_fhir,
        &["2024", "2024-01-01T10:00", "2024-01-01T10:00:00", "2024-01-01T10:00Z", "2024-01-01T10:00:00.1234567-05:30"],
        &[
            "2024-01-01T",
            "2024-01-01T10",
            "2024-01-01T10:0",
            "2024-01-01T10:60",
            "2024-01T10:00",
            "2024-01-01T10-00:00",
            "2024-01-01T10:00:00+15:00",
            "2024-01-01T10:00:00.x",
        ],
    );
    check(PartialDateTime::parse_fhirpath, &["2024-01-01T10", "2024-01-01T10Z"], &["2024-01T10", "2024-01-01T1"]);
}

#[test]
fn times_of_day() {
    check(
        PartialTime::parse_fhirpath,
        &["00:00:00", "23:59:59", "12:00:60", "12:00:00.000000001", "12:00", "12"],
        &["", "24:00:00", "12:60:00", "12:00:61", "1:00:00", "12:00:00.", "12:00:00Z", "12:00:00:00", "12:00.5"],
    );
    check(
        PartialTime::parse_hl7v2,
        &["09", "0930", "093015", "093015.1+0100"],
        &["", "9", "24", "0960", "09:30", "093060", "0930.5", "093015.12345", "093015+1430"],
    );
    check(
        PartialTime::parse_x12,
        &["0930", "093015", "0930155", "09301555"],
        &["", "09", "2400", "0960", "093060", "093015555", "093015.5", "é930"],
    );
}

#[test]
fn hl7v2_dates_and_times() {
    check(
        PartialDateTime::parse_hl7v2,
        &[
            "2026",
            "202603",
            "20260301",
            "2026030109",
            "202603010930",
            "20260301093015",
            "20260301093015.1234",
            "20260301093015.12+0100",
            "20240229",
            "20260301-0500",
            "20260301093015+1400",
        ],
        &[
            "",
            "26",
            "20261",
            "20261301",
            "20260230",
            "2026-03-01",
            "20260301T09",
            "2026030124",
            "202603010960",
            "20260301093060",
            "20260301093015.",
            "20260301093015.12345",
            "2026030109.5",
            "20260301+01",
            "20260301+2500",
            "20260301093015+1430",
            "20260301+é00",
            "20260301093000Z",
            "0000",
            "202601011",
            "March",
            "2026é301",
            "+0100",
        ],
    );
    assert!(hl7v2("2026").is_hl7v2_date() && !hl7v2("2026030109").is_hl7v2_date());
}

#[test]
fn x12_dates_are_days_of_the_calendar() {
    check(
        PartialDateTime::parse_x12_date,
        &["20240229", "20261231"],
        &["", "20230229", "2024022", "202402", "2024022912", "2024-02-29", "é024022"],
    );
    check(
        PartialDateTime::parse_x12_date_range,
        &["20240101-20240229", "20240101-20240101"],
        &["20240101", "20240102-20240101", "20240101-20240230", "20240101-20240102-20240103", "-"],
    );
}

/// The parsers of search, FHIRPath, validation and criteria used to disagree on these.
#[test]
fn every_notation_has_the_same_limit_of_offsets() {
    for (offset, is_valid) in [("14:00", true), ("13:59", true), ("14:01", false), ("14:30", false), ("15:00", false)] {
        for sign in ['+', '-'] {
            let extended = format!("2024-02-29T12:00:00{sign}{offset}");
            assert_eq!(PartialDateTime::parse_fhir(&extended).is_some(), is_valid, "{extended}");
            let compact = format!("20240229120000{sign}{}", offset.replace(':', ""));
            assert_eq!(PartialDateTime::parse_hl7v2(&compact).is_some(), is_valid, "{compact}");
        }
    }
}

#[test]
fn notations_are_converted() {
    let noon = PartialDateTime::from_unix_milliseconds(1_776_945_600_070).unwrap();
    assert_eq!(noon.to_string(), "2026-04-23T12:00:00.070Z");
    assert_eq!(noon.to_hl7v2(), "20260423120000+0000");
    assert_eq!((noon.to_x12_date().as_deref(), noon.to_x12_time().as_deref()), (Some("20260423"), Some("1200")));
    assert_eq!((fhir("2026-04").to_x12_date(), fhir("2026-04-23").to_x12_time()), (None, None));
    assert_eq!(fhir("2026-04").to_hl7v2(), "202604");
    assert_eq!(fhir("2026-04-23T09:05-05:30").to_hl7v2(), "202604230905-0530");
    assert_eq!(PartialDateTime::parse_x12_date("20260423").unwrap().to_string(), "2026-04-23");
    assert_eq!(PartialDateTime::from_unix_milliseconds(-1).unwrap().to_string(), "1969-12-31T23:59:59.999Z");
    assert_eq!(PartialDateTime::from_unix_milliseconds(i64::MAX), None);
}

#[test]
fn parts_of_a_date_and_time() {
    let whole = fhir("2024-01-01T10:30:00.50+02:00");
    assert_eq!((whole.date(), whole.time()), (fhir("2024-01-01"), Some(time("10:30:00.50"))));
    assert_eq!(whole.offset().map(UtcOffset::minutes), Some(120));
    assert_eq!((fhir("2024").date(), fhir("2024").time()), (fhir("2024"), None));
}

#[test]
fn comparison_is_open_where_precision_ends() {
    for (left, right, expected) in [
        ("2024", "2025-01", Some(Ordering::Less)),
        ("2024", "2024-01", None),
        ("2024-01-01", "2024-01-01T00:00:00", None),
        ("2024-01-01T10:00:00", "2024-01-01T10:00:00.000", Some(Ordering::Equal)),
        ("2024-01-01T10:00:00Z", "2024-01-01T12:00:00+02:00", Some(Ordering::Equal)),
        ("2024-01-01T10:00:00Z", "2024-01-01T12:00:00", None),
        ("2024-01-01T10:00:00Z", "2024-01-03T12:00:00", Some(Ordering::Less)),
        ("2024-01-01T23:00:00-05:00", "2024-01-02T03:00:00Z", Some(Ordering::Greater)),
    ] {
        assert_eq!(fhir(left).compare(&fhir(right)), expected, "{left} {right}");
    }
    assert_eq!(time("10:30").compare(&time("10:30:00")), None);
    assert_eq!(time("10:30").compare(&time("10:31:00")), Some(Ordering::Less));
    assert_eq!(hl7v2("20240101-0500").compare(&fhir("2024-01-01")), Some(Ordering::Equal));
}

const YEAR_2024: i64 = 1_704_067_200_000;

#[test]
fn an_interval_covers_what_is_not_written() {
    for (text, first, last) in [
        ("1970", 0, 365 * DAY - 1),
        ("1970-01", 0, 31 * DAY - 1),
        ("1970-01-02", DAY, 2 * DAY - 1),
        ("2024-02-29", 1_709_164_800_000, 1_709_251_199_999),
        ("2024-02", 1_706_745_600_000, 1_709_251_199_999),
        ("2024", YEAR_2024, YEAR_2024 + 366 * DAY - 1),
        ("0001-01-01", -62_135_596_800_000, -62_135_510_400_001),
        ("9999-12-31", 253_402_214_400_000, 253_402_300_799_999),
        ("1970-01-01T01", HOUR, 2 * HOUR - 1),
        ("1970-01-01T01:00", HOUR, HOUR + MINUTE - 1),
        ("1970-01-01T01:00:00Z", HOUR, HOUR + 999),
        ("1970-01-01T01:00:00.5Z", HOUR + 500, HOUR + 599),
        ("1970-01-01T01:00:00.1234567Z", HOUR + 123, HOUR + 123),
        ("1970-01-01T01:00:00+01:00", 0, 999),
        ("1970-01-01T00:00:00-05:30", 5 * HOUR + 30 * MINUTE, 5 * HOUR + 30 * MINUTE + 999),
        ("1969-12-31T23:59:60Z", 0, 999),
    ] {
        assert_eq!(fhir(text).utc_interval(), TimeInterval { first, last }, "{text}");
    }
}

#[test]
fn intervals_within_others() {
    for (inner, outer, is_within) in [
        ("2026-04-02", "2026-04-02", true),
        ("2026-04-02T09:30:00Z", "2026-04-02", true),
        ("2026-04-02T23:30:00-05:00", "2026-04-02", true),
        ("2026-04-02", "2026-04", true),
        ("2026-04", "2026-04-02", false),
        ("2026-04-03", "2026-04-02", false),
        ("2026-03-31T07:30:00Z", "2026-03-31T09:30:00+02:00", true),
        ("2026-03-31T09:30:00", "2026-03-31T09:30:00+02:00", false),
        ("2026-03-31T09:30:00.123Z", "2026-03-31T09:30:00Z", true),
    ] {
        assert_eq!(fhir(inner).is_within(&fhir(outer)), is_within, "{inner} in {outer}");
    }
    assert!(hl7v2("20260331").is_within(&fhir("2026-03-31")));
    assert!(hl7v2("202603310930+0200").is_within(&fhir("2026-03-31T07:30Z")));
    assert!(hl7v2("2026033109").is_within(&hl7v2("20260331")));
    assert!(hl7v2("20260331093000.25").is_within(&hl7v2("20260331093000")));
    assert!(fhir("2026-04-03").starts_after(&fhir("2026-04-02")) && !fhir("2026-04").starts_after(&fhir("2026-04-02")));
    assert!(fhir("2026-04-01").ends_before(&fhir("2026-04-02")) && !fhir("2026-04").ends_before(&fhir("2026-04-02")));
    assert!(fhir("2026-04-02").starts_with_or_after(&fhir("2026-04")));
    assert!(fhir("2026-04-02").ends_with_or_before(&fhir("2026-04")));
}

#[test]
fn durations_are_added() {
    for (start, months, expected) in [
        ("2024-01-31", 1, "2024-02-29"),
        ("2024-02-29", 12, "2025-02-28"),
        ("2024", 24, "2026"),
        ("2024", 11, "2024"),
        ("2024-01", -1, "2023-12"),
    ] {
        assert_eq!(fhir(start).plus_months(months).unwrap().to_string(), expected, "{start}");
    }
    for (start, seconds, nanoseconds, expected) in [
        ("2024-03-01", -86_400, 0, "2024-02-29"),
        ("2024-03-01", 86_399, 0, "2024-03-01"),
        ("2023-12-31T23:59:59Z", 1, 0, "2024-01-01T00:00:00Z"),
        ("2024-01-01T00:00:00.000Z", 0, -1_000_000, "2023-12-31T23:59:59.999Z"),
        ("2024-01-01T00:00:00Z", 1, -1_000_000, "2024-01-01T00:00:00.999Z"),
        ("2024-01-01T10", -3_599, 0, "2024-01-01T10"),
        ("2016", 365 * 86_400, 0, "2017"),
    ] {
        assert_eq!(fhir(start).plus(seconds, nanoseconds).unwrap().to_string(), expected, "{start}");
    }
    assert_eq!(time("23:30").plus(3_600, 0), Some(time("00:30")));
    assert_eq!(time("00:30").plus(-49 * 3_600, 0), Some(time("23:30")));
    assert_eq!(fhir("9999-12-31").plus(86_400, 0), None);
    assert_eq!(fhir("9999-12-31T00:00:00Z").plus(i64::MAX, 0), None);
    assert_eq!(fhir("2024").plus_months(i64::MAX), None);
}

proptest! {
    #[test]
    fn any_text_is_parsed(text in ".*", dates in "[0-9TZ:.+-]{0,30}") {
        for text in [&text, &dates] {
            let _ = (PartialDateTime::parse_hl7v2(text), PartialTime::parse_hl7v2(text));
            let _ = (PartialDateTime::parse_x12_date(text), PartialDateTime::parse_x12_date_range(text));
            let _ = (PartialTime::parse_x12(text), PartialTime::parse_fhirpath(text));
            if let Some(parsed) = PartialDateTime::parse_fhirpath(text) {
                prop_assert_eq!(PartialDateTime::parse_fhirpath(&parsed.to_string()), Some(parsed));
            }
        }
    }

    #[test]
    fn notations_agree(milliseconds in -62_135_596_800_000_i64..253_402_300_800_000, offset in -840_i64..=840) {
        let utc = PartialDateTime::from_unix_milliseconds(milliseconds).unwrap();
        prop_assert_eq!(utc.utc_interval(), TimeInterval { first: milliseconds, last: milliseconds });
        prop_assert_eq!(PartialDateTime::parse_fhir(&utc.to_string()), Some(utc));
        let seconds = hl7v2(&utc.to_hl7v2());
        prop_assert_eq!(seconds.utc_interval().first, milliseconds.div_euclid(1_000) * 1_000);
        prop_assert!(utc.is_within(&seconds));
        // The same time on another clock is equal.
        if let Some(local) = utc.plus(offset * 60, 0) {
            let sign = if offset < 0 { '-' } else { '+' };
            let offset = format!("{sign}{:02}:{:02}", offset.abs() / 60, offset.abs() % 60);
            let local = fhir(&format!("{}{offset}", local.to_string().trim_end_matches('Z')));
            prop_assert_eq!(local.compare(&utc), Some(Ordering::Equal));
            prop_assert_eq!(local.utc_interval(), utc.utc_interval());
        }
    }
}
