//! Phone numbers and e-mail addresses in authored values.

use model::FieldErrors;

use crate::network::is_host_name;

/// Written as people write them: `+1 (555) 010-0199`; three to fifteen digits (E.164, and short codes).
pub(crate) fn check_phone_number(errors: &mut FieldErrors, field: &str, text: &str) {
    let written = text.strip_prefix('+').unwrap_or(text);
    let plausible = written.chars().all(|c| c.is_ascii_digit() || " ()-.".contains(c));
    if text.len() > 32 || !plausible || !(3..=15).contains(&digits(text).len()) {
        errors.add(field, "must be a phone number of 3 to 15 digits, such as +15550100199");
    }
}

/// What makes two spellings the same number.
pub(crate) fn digits(number: &str) -> String {
    number.chars().filter(char::is_ascii_digit).collect()
}

pub(crate) fn check_email_address(errors: &mut FieldErrors, field: &str, text: &str) {
    let plausible = text.len() <= 254
        && text.rsplit_once('@').is_some_and(|(person, host)| {
            (1..=64).contains(&person.len())
                && !person.chars().any(|c| c.is_whitespace() || c.is_control() || "@<>,;".contains(c))
                && is_host_name(host)
        });
    if !plausible {
        errors.add(field, "must be an e-mail address such as patient@example.org");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(check: fn(&mut FieldErrors, &str, &str), text: &str) -> bool {
        let mut errors = FieldErrors::new();
        check(&mut errors, "field", text);
        errors.is_empty()
    }

    #[test]
    fn phone_numbers() {
        for good in ["+15550100199", "555-0100", "(555) 010-0199", "911", "+1 555.010.0199"] {
            assert!(passes(check_phone_number, good), "{good}");
        }
        for bad in [
            "",
            "+",
            "12",
            "1+5550100",
            "555010x",
            "1234567890123456",
            "５５５０１００",
            "555\n0100",
            "{{entity.phone}}",
        ] {
            assert!(!passes(check_phone_number, bad), "{bad}");
        }
        assert_eq!(digits("+1 (555) 010-0199"), "15550100199");
    }

    #[test]
    fn email_addresses() {
        for good in ["a@example.org", "first.last+tag@mail.example.org", "nurse@localhost"] {
            assert!(passes(check_email_address, good), "{good}");
        }
        let long = format!("{}@example.org", "x".repeat(300));
        for bad in ["", "a", "@example.org", "a@", "a b@example.org", "a@b@c.org", "a@exa mple.org", "<a@b.org>", &long]
        {
            assert!(!passes(check_email_address, bad), "{bad}");
        }
    }
}
