//! Words by which a patient ends text messages, and begins them again, as carriers honour them.

use model::channel::Channel;
use world::Sandbox;

use super::rows::{all, text};

const STOP: [&str; 7] = ["stop", "stopall", "unsubscribe", "cancel", "end", "quit", "revoke"];
const START: [&str; 3] = ["start", "unstop", "resume"];

/// Whether the last such word from there was one to stop.
pub(super) fn has_opted_out(sandbox: &Sandbox, channel: Channel, address: &str) -> bool {
    if channel != Channel::Sms {
        return false;
    }
    let number = digits(address);
    let rows = all(sandbox).map(|record| record.json());
    let from_there = rows.filter(|row| {
        text(row, "direction") == Some("inbound")
            && text(row, "channel") == Some(channel.name())
            && text(row, "from").is_some_and(|from| digits(from) == number)
    });
    let words = from_there.filter_map(|row| wish(text(&row, "body")?));
    words.last().unwrap_or(false)
}

/// Whether a message asks to stop (`true`) or to start again; the word must be the whole message.
fn wish(body: &str) -> Option<bool> {
    let word = body.trim().trim_end_matches(['.', '!']).to_ascii_lowercase();
    let is_stop = STOP.contains(&word.as_str());
    (is_stop || START.contains(&word.as_str())).then_some(is_stop)
}

/// A number is the same number however it is written.
pub(super) fn digits(address: &str) -> String {
    let digits: String = address.chars().filter(char::is_ascii_digit).collect();
    match digits.strip_prefix('1') {
        Some(national) if digits.len() == 11 => national.to_owned(),
        _ => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_the_whole_message() {
        assert_eq!(wish(" Stop! "), Some(true));
        assert_eq!(wish("UNSTOP"), Some(false));
        assert_eq!(wish("please stop by at nine"), None);
    }

    #[test]
    fn a_number_is_one_number() {
        let written = ["+1 555 010 0123", "(555) 010-0123", "5550100123", "15550100123"];
        assert!(written.iter().all(|number| digits(number) == "5550100123"));
    }
}
