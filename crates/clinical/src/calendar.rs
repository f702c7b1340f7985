//! The proleptic Gregorian calendar as a count of days.

/// Days since 1970-01-01. A day or month outside of its range counts on from the valid ones.
pub fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March end with the leap day.
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468
}

/// Year, month and day of a number of days since 1970-01-01.
pub fn civil_date(days: i64) -> (i64, i64, i64) {
    // Eras of 400 years begin on a first of March.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Number of days of a month, 1 to 12.
pub fn month_length(year: u16, month: u16) -> u16 {
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

    #[test]
    fn days_are_consecutive() {
        let mut next = days_since_epoch(1, 1, 1);
        for year in 1..=2_800_u16 {
            for month in 1..=12 {
                assert_eq!(days_since_epoch(year.into(), month.into(), 1), next, "{year}-{month}");
                next += i64::from(month_length(year, month));
            }
        }
    }

    #[test]
    fn days_and_dates_are_inverse() {
        assert_eq!((days_since_epoch(1970, 1, 1), civil_date(0)), (0, (1970, 1, 1)));
        for days in (days_since_epoch(1, 1, 1)..days_since_epoch(9999, 12, 31)).step_by(97) {
            let (year, month, day) = civil_date(days);
            assert_eq!(days_since_epoch(year, month, day), days);
        }
    }
}
