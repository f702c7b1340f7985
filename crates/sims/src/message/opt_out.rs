//! Keywords with which a patient opts out of text messages and back in. Carriers honor the same words.

use clinical::is_same_phone_number;
use model::channel::Channel;
use world::Sandbox;

use super::rows::{all, text};

const STOP: [&str; 7] = ["stop", "stopall", "unsubscribe", "cancel", "end", "quit", "revoke"];
const START: [&str; 3] = ["start", "unstop", "resume"];

/// Whether the last opt-in or opt-out keyword from the address was an opt-out.
pub(super) fn has_opted_out(sandbox: &Sandbox, channel: Channel, address: &str) -> bool {
    if channel != Channel::Sms {
        return false;
    }
    let rows = all(sandbox).map(|record| record.json());
    let from_address = rows.filter(|row| {
        text(row, "direction") == Some("inbound")
            && text(row, "channel") == Some(channel.name())
            && text(row, "from").is_some_and(|from| is_same_phone_number(from, address))
    });
    let keywords = from_address.filter_map(|row| opt_out_keyword(text(&row, "body")?));
    keywords.last().unwrap_or(false)
}

/// `true` for an opt-out keyword and `false` for an opt-in keyword. The keyword must be the whole message.
fn opt_out_keyword(body: &str) -> Option<bool> {
    let word = body.trim().trim_end_matches(['.', '!']).to_ascii_lowercase();
    let is_stop = STOP.contains(&word.as_str());
    (is_stop || START.contains(&word.as_str())).then_some(is_stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyword_must_be_the_whole_message() {
        assert_eq!(opt_out_keyword(" Stop! "), Some(true));
        assert_eq!(opt_out_keyword("UNSTOP"), Some(false));
        assert_eq!(opt_out_keyword("please stop by at nine"), None);
    }
}
