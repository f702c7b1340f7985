//! Dates and times, whole or in part (<https://hl7.org/fhir/R4/datatypes.html#dateTime>).

/// `2024`, `2024-02` or `2024-02-29`.
pub(super) fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let Some(year) = parts.next().and_then(|text| number(text, 4)).filter(|year| *year > 0) else {
        return false;
    };
    let Some(month) = parts.next() else { return true };
    let Some(month) = number(month, 2).filter(|month| (1..=12).contains(month)) else {
        return false;
    };
    let Some(day) = parts.next() else { return true };
    let is_day = number(day, 2).is_some_and(|day| (1..=days(year, month)).contains(&day));
    is_day && parts.next().is_none()
}

/// A date, or a moment to the second or finer with its zone.
pub(super) fn is_date_time(text: &str) -> bool {
    is_date(text) || is_instant(text)
}

/// `2024-02-29T23:59:60.5+01:00`; seconds reach 60 for leap seconds.
pub(super) fn is_instant(text: &str) -> bool {
    text.split_once('T').is_some_and(|(date, rest)| {
        let zone_at = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
        let (time, zone) = rest.split_at(zone_at);
        date.len() == 10 && is_date(date) && is_time(time) && is_zone(zone)
    })
}

/// `23:59:59`, with any number of digits after a point.
pub(super) fn is_time(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut parts = whole.split(':');
    let mut below = |limit| parts.next().and_then(|text| number(text, 2)).is_some_and(|part| part < limit);
    let is_whole = below(24) && below(60) && below(61) && parts.next().is_none();
    let is_fraction = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_whole && fraction.is_none_or(is_fraction)
}

/// `Z`, or up to 14 hours either way.
fn is_zone(text: &str) -> bool {
    let offset = text.strip_prefix(['+', '-']).and_then(|offset| offset.split_once(':'));
    text == "Z"
        || offset.is_some_and(|(hours, minutes)| match (number(hours, 2), number(minutes, 2)) {
            (Some(hours), Some(minutes)) => minutes < 60 && hours * 60 + minutes <= 14 * 60,
            _ => false,
        })
}

/// A number of exactly so many digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn days(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn rule(rule: fn(&str) -> bool, good: &[&str], bad: &[&str]) {
        assert_eq!(good.iter().find(|text| !rule(text)), None, "good");
        assert_eq!(bad.iter().find(|text| rule(text)), None, "bad");
    }

    #[test]
    fn dates_may_be_partial_and_days_are_real() {
        rule(
            is_date,
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
                "2024-01-01-",
                "2024-01-01T",
                " 2024",
                "+024",
                "2024/01",
                "２０２４",
            ],
        );
    }

    #[test]
    fn times_have_seconds() {
        rule(
            is_time,
            &["00:00:00", "23:59:59", "12:00:60", "12:00:00.000000001"],
            &["", "24:00:00", "12:60:00", "12:00:61", "12:00", "1:00:00", "12:00:00.", "12:00:00Z", "12:00:00:00"],
        );
    }

    #[test]
    fn moments_have_a_zone() {
        let good = ["2024-02-29T00:00:00Z", "2024-02-29T23:59:59.123+14:00", "2024-02-29T23:59:59-05:30"];
        let bad = [
            "2024-02-29T00:00:00",
            "2024-02-29T00:00Z",
            "2024-02T00:00:00Z",
            "2024-02-30T00:00:00Z",
            "2024-02-29 00:00:00Z",
            "2024-02-29T00:00:00+14:01",
            "2024-02-29T00:00:00+1:00",
            "2024-02-29T00:00:00+01",
            "2024-02-29T00:00:00z",
            "2024-02-29T00:00:00ZZ",
            "T",
            "2024T00:00:00Z",
        ];
        rule(is_instant, &good, &bad);
        rule(is_date_time, &good, &bad);
        assert!(is_date_time("2024-02") && !is_instant("2024-02-29"));
    }
}
