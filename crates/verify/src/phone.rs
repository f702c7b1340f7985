//! Telephone numbers as people write them; only the digits count.

use crate::authored::Notation;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhoneNumber {
    /// With the leading `+` when there was one.
    pub dialled: String,
}

impl Notation for PhoneNumber {
    const LONGEST: usize = 40;

    fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (plus, digits) = text.strip_prefix('+').map_or(("", text), |digits| ("+", digits));
        let is_written = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '-' | '.' | '(' | ')' | '/');
        let dialled: String = digits.chars().filter(char::is_ascii_digit).collect();
        if !digits.chars().all(is_written) || dialled.len() < 3 || dialled.len() > 20 {
            return Err("must be a telephone number, as in `+1 555 010 0199`".to_owned());
        }
        Ok(Self { dialled: format!("{plus}{dialled}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_digits_count() {
        for (text, dialled) in [("+1 (555) 010-0199", Some("+15550100199")), ("911", Some("911"))] {
            assert_eq!(PhoneNumber::read(text).ok().map(|number| number.dialled).as_deref(), dialled, "{text}");
        }
        for text in ["", "12", "fax", "+", "555-010-01x9", "５５５０１００", "+1+2345"] {
            assert!(PhoneNumber::read(text).is_err(), "{text}");
        }
    }
}
