//! Telephone numbers as people write them; only the digits count.

use std::str::FromStr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhoneNumber {
    /// With the leading `+` when there was one.
    pub dialled: String,
}

pub const LONGEST: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a phone number of 3 to 15 digits, such as +1 555 010 0199")]
pub struct InvalidPhoneNumber;

impl FromStr for PhoneNumber {
    type Err = InvalidPhoneNumber;

    /// Three to fifteen digits: E.164, and short codes.
    fn from_str(text: &str) -> Result<Self, InvalidPhoneNumber> {
        let written = text.trim();
        let (plus, written) = written.strip_prefix('+').map_or(("", written), |rest| ("+", rest));
        let is_plausible = |c: char| c.is_ascii_digit() || " ()-./".contains(c);
        let dialled = digits(written);
        if text.len() > LONGEST || !written.chars().all(is_plausible) || !(3..=15).contains(&dialled.len()) {
            return Err(InvalidPhoneNumber);
        }
        Ok(Self { dialled: format!("{plus}{dialled}") })
    }
}

/// What makes two spellings the same number.
pub fn digits(number: &str) -> String {
    number.chars().filter(char::is_ascii_digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_digits_count() {
        for (text, dialled) in [
            ("+15550100199", "+15550100199"),
            (" +1 (555) 010-0199", "+15550100199"),
            ("+1 555.010.0199", "+15550100199"),
            ("030/5550100", "0305550100"),
            ("911", "911"),
        ] {
            assert_eq!(text.parse(), Ok(PhoneNumber { dialled: dialled.to_owned() }), "{text}");
        }
        assert_eq!(digits("+1 (555) 010-0199"), "15550100199");
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for text in [
            "",
            "+",
            "12",
            "fax",
            "1+5550100",
            "+1+2345",
            "555-010-01x9",
            "1234567890123456",
            "５５５０１００",
            "555\n0100",
            "{{entity.phone}}",
            &format!("555{}", "-".repeat(40)),
        ] {
            assert_eq!(text.parse::<PhoneNumber>(), Err(InvalidPhoneNumber), "{text}");
        }
    }
}
