//! Encodes cursors as opaque text. A cursor is only valid for the list that issued it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::page::{Cursor, Direction};

pub(crate) fn encode(list: &str, cursor: &Cursor) -> String {
    let direction = if cursor.direction == Direction::Next { "n" } else { "p" };
    URL_SAFE_NO_PAD.encode(format!("{list}\n{direction}\n{}", cursor.key))
}

pub(crate) fn decode(list: &str, text: &str) -> Option<Cursor> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let plain = String::from_utf8(bytes).ok()?;
    let (issued_by, rest) = plain.split_once('\n')?;
    let (direction, key) = rest.split_once('\n')?;
    let direction = match direction {
        "n" => Direction::Next,
        "p" => Direction::Prev,
        _ => return None,
    };
    let is_valid = issued_by == list && !key.is_empty() && key.len() <= 1024 && !key.chars().any(char::is_control);
    is_valid.then(|| Cursor { direction, key: key.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_only_valid_for_its_own_list() {
        let cursor = Cursor { direction: Direction::Prev, key: "env_1".into() };
        let text = encode("environments", &cursor);
        assert_eq!(decode("environments", &text), Some(cursor));
        assert_eq!(decode("tasks", &text), None);
        for bad in ["", "x", "!!!", "AAAA", &URL_SAFE_NO_PAD.encode("environments\nn\n\0"), &"A".repeat(100_000)] {
            assert_eq!(decode("environments", bad), None);
        }
    }
}
