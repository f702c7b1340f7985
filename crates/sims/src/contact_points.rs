//! Validation of phone numbers and e-mail addresses in authored values.

use clinical::PhoneNumber;
use model::FieldErrors;

use crate::network::is_host_name;

pub(crate) fn check_phone_number(errors: &mut FieldErrors, field: &str, text: &str) {
    if let Err(error) = text.parse::<PhoneNumber>() {
        errors.add(field, error.to_string());
    }
}

pub(crate) fn check_email_address(errors: &mut FieldErrors, field: &str, text: &str) {
    let is_plausible = text.len() <= 254
        && text.rsplit_once('@').is_some_and(|(local_part, host)| {
            (1..=64).contains(&local_part.len())
                && !local_part.chars().any(|c| c.is_whitespace() || c.is_control() || "@<>,;".contains(c))
                && is_host_name(host)
        });
    if !is_plausible {
        errors.add(field, "must be an e-mail address such as patient@example.org");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(text: &str) -> bool {
        let mut errors = FieldErrors::new();
        check_email_address(&mut errors, "field", text);
        errors.is_empty()
    }

    #[test]
    fn email_addresses() {
        for good in ["a@example.org", "first.last+tag@mail.example.org", "nurse@localhost"] {
            assert!(passes(good), "{good}");
        }
        let long = format!("{}@example.org", "x".repeat(300));
        for bad in ["", "a", "@example.org", "a@", "a b@example.org", "a@b@c.org", "a@exa mple.org", "<a@b.org>", &long]
        {
            assert!(!passes(bad), "{bad}");
        }
    }
}
