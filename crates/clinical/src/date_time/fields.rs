//! What the notations share: the values that each field may have.

use super::{PartialDateTime, Precision, UtcOffset};
use crate::calendar::month_length;

/// The texts of year, month, day, hour, minute and second, as many as are written.
#[derive(Default)]
pub(super) struct FieldTexts<'t> {
    texts: [&'t str; 6],
    count: usize,
}

impl<'t> FieldTexts<'t> {
    /// Adds fields that are separated by a character; `None` if there are more than `most`.
    pub(super) fn push_separated(&mut self, text: &'t str, separator: char, most: usize) -> Option<()> {
        let limit = self.count + most;
        for field in text.split(separator) {
            *self.texts.get_mut(..limit)?.get_mut(self.count)? = field;
            self.count += 1;
        }
        Some(())
    }

    /// Adds fields without separators: a year of four digits if it is the first field, else two digits each.
    pub(super) fn push_compact(&mut self, text: &'t str) -> Option<()> {
        let mut rest = text;
        loop {
            let length = if self.count == 0 { 4 } else { 2 };
            let (field, after) = rest.split_at_checked(length)?;
            *self.texts.get_mut(self.count)? = field;
            self.count += 1;
            rest = after;
            if rest.is_empty() {
                return Some(());
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The date and time, if every field is a valid number. `last_second` is 60 where leap seconds are allowed.
    pub(super) fn read(
        &self,
        fraction: Option<&str>,
        last_second: u16,
        offset: Option<UtcOffset>,
    ) -> Option<PartialDateTime> {
        let precision = *Precision::ALL.get(self.count.checked_sub(1)?)?;
        let mut fields = [1, 1, 1, 0, 0, 0];
        for (at, text) in self.texts.iter().take(self.count).enumerate() {
            let allowed = match at {
                0 => 1..=9999,
                1 => 1..=12,
                2 => 1..=month_length(fields[0], fields[1]),
                3 => 0..=23,
                4 => 0..=59,
                _ => 0..=last_second,
            };
            fields[at] = number(text, if at == 0 { 4 } else { 2 })?;
            if !allowed.contains(&fields[at]) {
                return None;
            }
        }
        let (nanoseconds, fraction_digits) = match fraction {
            Some(digits) if precision == Precision::Second => read_fraction(digits)?,
            Some(_) => return None,
            None => (0, 0),
        };
        Some(PartialDateTime { precision, fields, nanoseconds, fraction_digits, offset })
    }
}

/// Nanoseconds, and the number of digits. Digits after the ninth are cut off.
fn read_fraction(digits: &str) -> Option<(u32, u8)> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let kept = digits.get(..digits.len().min(9)).filter(|_| is_number)?;
    let count = u8::try_from(kept.len()).ok()?;
    Some((kept.parse::<u32>().ok()? * 10_u32.pow(9 - u32::from(count)), count))
}

/// A number of exactly so many digits.
pub(super) fn number(text: &str, digits: usize) -> Option<u16> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}
