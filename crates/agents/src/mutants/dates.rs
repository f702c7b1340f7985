//! Shifts dates: `2026-04-07`, timestamps that start with such a date, and `20260407`.

use clinical::month_length;

/// Adds a number of days (-1 or 1), in the same format.
pub(super) fn shifted(text: &str, days: i8) -> Option<String> {
    let date = Date::read(text)?;
    let (mut year, mut month, mut day) = (date.year, date.month, i32::from(date.day) + i32::from(days));
    if day < 1 {
        (year, month) = if month == 1 { (year - 1, 12) } else { (year, month - 1) };
        day = i32::from(month_length(year, month.into()));
    } else if day > i32::from(month_length(year, month.into())) {
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        day = 1;
    }
    Some(date.with(year, month, u8::try_from(day).ok()?))
}

/// The same day of the previous year.
pub(super) fn year_before(text: &str) -> Option<String> {
    let date = Date::read(text)?;
    Some(date.with(date.year.checked_sub(1)?, date.month, date.day.min(28)))
}

/// Adds an hour to a timestamp. `None` for a date without a time.
pub(super) fn hour_later(text: &str) -> Option<String> {
    let hour: u8 = text.get(10..)?.strip_prefix('T')?.get(..2)?.parse().ok()?;
    Some(format!("{}{:02}{}", text.get(..11)?, (hour + 1) % 24, text.get(13..)?))
}

struct Date<'t> {
    year: u16,
    month: u8,
    day: u8,
    dash: &'static str,
    rest: &'t str,
}

impl<'t> Date<'t> {
    fn read(text: &'t str) -> Option<Self> {
        let dash = if text.get(4..5)? == "-" { "-" } else { "" };
        let at = |from: usize, length: usize| text.get(from..from + length);
        let step = dash.len();
        let (month_at, day_at) = (4 + step, 6 + 2 * step);
        let (year, month, day) =
            (at(0, 4)?.parse().ok()?, at(month_at, 2)?.parse().ok()?, at(day_at, 2)?.parse().ok()?);
        let is_valid = (1800..2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
        is_valid.then_some(Self { year, month, day, dash, rest: text.get(day_at + 2..)? })
    }

    /// Formats another date in the same format.
    fn with(&self, year: u16, month: u8, day: u8) -> String {
        let (dash, rest) = (self.dash, self.rest);
        format!("{year:04}{dash}{month:02}{dash}{day:02}{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifted_dates_are_valid_dates() {
        assert_eq!(shifted("2026-12-31", 1).as_deref(), Some("2027-01-01"));
        assert_eq!(shifted("20240301", -1).as_deref(), Some("20240229"));
        assert_eq!(shifted("2026-04-14T09:30:00-05:00", 1).as_deref(), Some("2026-04-15T09:30:00-05:00"));
        assert_eq!(year_before("2024-02-29").as_deref(), Some("2023-02-28"));
        assert_eq!(hour_later("2026-04-14T23:30:00Z").as_deref(), Some("2026-04-14T00:30:00Z"));
        assert_eq!((hour_later("2026-04-14"), shifted("CARDCONS", 1), shifted("12", 1)), (None, None, None));
    }
}
