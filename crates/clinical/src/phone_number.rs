//! Telephone numbers in any common notation.

use std::str::FromStr;

/// A number as it is dialed: three to fifteen digits, with or without a country code (E.164), or a short code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhoneNumber {
    /// The digits, with a leading `+` if there was one.
    dialed: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a phone number of 3 to 15 digits, such as +1 555 010 0199")]
pub struct InvalidPhoneNumber;

impl FromStr for PhoneNumber {
    type Err = InvalidPhoneNumber;

    fn from_str(text: &str) -> Result<Self, InvalidPhoneNumber> {
        let written = text.trim();
        let (plus, written) = written.strip_prefix('+').map_or(("", written), |rest| ("+", rest));
        let is_plausible = |c: char| c.is_ascii_digit() || " ()-./".contains(c);
        let digits = phone_digits(written);
        if text.len() > Self::LONGEST || !written.chars().all(is_plausible) || !(3..=15).contains(&digits.len()) {
            return Err(InvalidPhoneNumber);
        }
        Ok(Self { dialed: format!("{plus}{digits}") })
    }
}

impl PhoneNumber {
    /// Bytes of the longest notation.
    pub const LONGEST: usize = 40;

    pub fn as_str(&self) -> &str {
        &self.dialed
    }

    /// The form by which two notations of the same number are equal: see [`normalized_phone_number`].
    pub fn normalized(&self) -> String {
        self.international().unwrap_or_else(|| phone_digits(&self.dialed))
    }

    /// The number with its country code (E.164). A number without one is North American if it has an area code; `None`
    /// if the country is unknown.
    pub fn international(&self) -> Option<String> {
        let dialed = self.dialed.as_str();
        let with_country = dialed.strip_prefix('+').or_else(|| dialed.strip_prefix("011"));
        let number = match with_country.or_else(|| dialed.strip_prefix("00")) {
            Some(number) => number.to_owned(),
            None if dialed.len() == 11 && dialed.starts_with('1') => dialed.to_owned(),
            None if dialed.len() == 10 && !dialed.starts_with(['0', '1']) => format!("1{dialed}"),
            None => return None,
        };
        ((8..=15).contains(&number.len()) && !number.starts_with('0')).then(|| format!("+{number}"))
    }
}

/// The normalized form by which two notations of the same number are equal: the international number if it is known,
/// else the digits.
pub fn normalized_phone_number(text: &str) -> String {
    text.parse::<PhoneNumber>().map_or_else(|_| phone_digits(text), |number| number.normalized())
}

/// Whether two texts are the same number. Texts without digits are no number.
pub fn is_same_phone_number(left: &str, right: &str) -> bool {
    let left = normalized_phone_number(left);
    !left.is_empty() && left == normalized_phone_number(right)
}

/// The ASCII digits of a text.
pub fn phone_digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_is_ignored() {
        for (text, dialed) in [
            ("+15550100199", "+15550100199"),
            (" +1 (555) 010-0199", "+15550100199"),
            ("+1 555.010.0199", "+15550100199"),
            ("030/5550100", "0305550100"),
            ("911", "911"),
        ] {
            assert_eq!(text.parse(), Ok(PhoneNumber { dialed: dialed.to_owned() }), "{text}");
        }
        assert_eq!(phone_digits("+1 (555) 010-0199"), "15550100199");
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
    }

    /// The phone line, text messages and faxes used to disagree on these.
    #[test]
    fn notations_of_one_number_are_the_same() {
        for (left, right, is_same) in [
            ("(555) 010-0199", "+15550100199", true),
            ("15550100199", "555.010.0199", true),
            ("011 49 30 5550100", "+49 30 5550100", true),
            ("0049305550100", "+49305550100", true),
            ("555-0100", "5550100", true),
            ("555-0100", "1 555 0100", false),
            ("+49 30 5550100", "9305550100", false),
            ("911", "1911", false),
            ("+1 555 010 0199", "+1 555 010 0198", false),
            ("", "", false),
            ("anonymous", "unknown", false),
        ] {
            assert_eq!(is_same_phone_number(left, right), is_same, "{left} {right}");
            assert_eq!(is_same_phone_number(right, left), is_same, "{right} {left}");
        }
        assert_eq!(normalized_phone_number("555-0100"), "5550100");
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

    proptest::proptest! {
        #[test]
        fn any_text_is_compared(left in ".*", right in "[+0-9 ().-]{0,20}") {
            proptest::prop_assert_eq!(is_same_phone_number(&left, &right), is_same_phone_number(&right, &left));
            proptest::prop_assert_eq!(is_same_phone_number(&right, &right), !phone_digits(&right).is_empty());
        }

        #[test]
        fn punctuation_does_not_matter(digits in "[2-9][0-9]{2}[2-9][0-9]{6}", separator in "[ .-]?") {
            let (area, rest) = digits.split_at(3);
            let (exchange, line) = rest.split_at(3);
            for prefix in ["", "1", "+1", "1-", "+1 "] {
                let written = format!("{prefix}{area}{separator}{exchange}{separator}{line}");
                proptest::prop_assert!(is_same_phone_number(&written, &digits), "{}", written);
            }
        }
    }
}
