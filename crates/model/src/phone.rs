//! Telephone numbers in any common notation.

use std::str::FromStr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhoneNumber {
    /// The digits, with a leading `+` if there was one.
    pub dialled: String,
}

pub const LONGEST: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a phone number of 3 to 15 digits, such as +1 555 010 0199")]
pub struct InvalidPhoneNumber;

impl FromStr for PhoneNumber {
    type Err = InvalidPhoneNumber;

    /// Parses a number of three to fifteen digits: E.164, and short codes.
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

impl PhoneNumber {
    /// The number with its country code (E.164). A number without one is North American if it has an area code; `None`
    /// if the country is unknown.
    pub fn international(&self) -> Option<String> {
        let dialled = self.dialled.as_str();
        let with_country = dialled.strip_prefix('+').or_else(|| dialled.strip_prefix("011"));
        let number = match with_country.or_else(|| dialled.strip_prefix("00")) {
            Some(number) => number.to_owned(),
            None if dialled.len() == 11 && dialled.starts_with('1') => dialled.to_owned(),
            None if dialled.len() == 10 && !dialled.starts_with(['0', '1']) => format!("1{dialled}"),
            None => return None,
        };
        ((8..=15).contains(&number.len()) && !number.starts_with('0')).then(|| format!("+{number}"))
    }
}

/// The normalized form by which two notations of the same number are equal: the international number if it is known,
/// else the digits.
pub fn same(number: &str) -> String {
    let international = number.parse::<PhoneNumber>().ok().and_then(|number| number.international());
    international.unwrap_or_else(|| digits(number))
}

/// The ASCII digits of a text.
pub fn digits(number: &str) -> String {
    number.chars().filter(char::is_ascii_digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_is_ignored() {
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
    fn equal_numbers_have_the_same_international_form() {
        for (text, expected) in [
            ("+1 (555) 010-0199", Some("+15550100199")),
            ("(555) 010-0199", Some("+15550100199")),
            ("1-555-010-0199", Some("+15550100199")),
            ("011 49 30 5550100", Some("+49305550100")),
            ("0049 30 5550100", Some("+49305550100")),
            ("555-0100", None),
            ("911", None),
            ("030/5550100", None),
            ("+0 555 010 0199", None),
        ] {
            let number: PhoneNumber = text.parse().unwrap();
            assert_eq!(number.international().as_deref(), expected, "{text}");
        }
        assert_eq!(same("(555) 010-0199"), same("+15550100199"));
        assert_eq!(same("555-0100"), "5550100");
    }

    #[test]
    fn invalid_numbers_are_rejected() {
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
