//! National Provider Identifiers (45 CFR 162.406).

use std::fmt;
use std::str::FromStr;

/// Ten digits, of which the last is a check digit: Luhn over the number with the prefix 80840 of a US health identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Npi([u8; 10]);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a National Provider Identifier: ten digits, the last of which is a check digit")]
pub struct InvalidNpi;

impl Npi {
    /// `Identifier.system` of an NPI in FHIR.
    pub const SYSTEM: &'static str = "http://hl7.org/fhir/sid/us-npi";

    /// The identifier that starts with the nine digits of a number. More digits are cut off at the front.
    pub fn with_check_digit(number: u32) -> Self {
        let mut digits = [0; 10];
        let mut rest = number;
        for digit in digits.iter_mut().rev().skip(1) {
            *digit = (rest % 10) as u8;
            rest /= 10;
        }
        digits[9] = ((10 - luhn_sum(&digits) % 10) % 10) as u8;
        Self(digits)
    }
}

impl FromStr for Npi {
    type Err = InvalidNpi;

    fn from_str(text: &str) -> Result<Self, InvalidNpi> {
        let digits: [u8; 10] = text.as_bytes().try_into().map_err(|_| InvalidNpi)?;
        let digits = digits.map(|byte| byte.wrapping_sub(b'0'));
        let is_valid = digits.iter().all(|digit| *digit <= 9) && luhn_sum(&digits).is_multiple_of(10);
        is_valid.then_some(Self(digits)).ok_or(InvalidNpi)
    }
}

impl fmt::Display for Npi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|digit| write!(f, "{digit}"))
    }
}

/// The sum of Luhn's algorithm, with the prefix.
fn luhn_sum(digits: &[u8; 10]) -> u32 {
    /// What the digits 80840 add.
    const PREFIX: u32 = 24;
    digits.iter().rev().enumerate().fold(PREFIX, |sum, (position, digit)| {
        let value = u32::from(*digit) * if position % 2 == 1 { 2 } else { 1 };
        sum + value / 10 + value % 10
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_npi_has_a_check_digit() {
        for text in ["1234567893", "1999999992", "1319045823"] {
            assert_eq!(text.parse::<Npi>().map(|npi| npi.to_string()).as_deref(), Ok(text));
        }
        for text in ["", "1234567890", "123456789", "12345678931", "123456789é", "123456789a", "１２３４５６７８９３"]
        {
            assert_eq!(text.parse::<Npi>(), Err(InvalidNpi), "{text}");
        }
        assert_eq!(Npi::with_check_digit(123_456_789).to_string(), "1234567893");
    }

    proptest::proptest! {
        #[test]
        fn exactly_one_check_digit_is_right(number in 0..1_000_000_000_u32) {
            let valid: Vec<Npi> = (0..10).filter_map(|digit| format!("{number:09}{digit}").parse().ok()).collect();
            proptest::prop_assert_eq!(valid, vec![Npi::with_check_digit(number)]);
        }

        #[test]
        fn any_text_is_parsed(text in ".*") {
            let _ = text.parse::<Npi>();
        }
    }
}
