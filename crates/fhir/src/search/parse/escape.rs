//! The signs that part a value, and the backslash before those that do not
//! (<https://hl7.org/fhir/R4/search.html#escaping>).

const SIGNS: [char; 4] = [',', '$', '|', '\\'];

/// The text as it must stand in a value of a search to mean itself.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if SIGNS.contains(&letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// What the text means. A backslash before any other letter means itself.
pub(super) fn unescape(text: &str) -> String {
    let mut meant = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = letters.next_if(|next| letter == '\\' && SIGNS.contains(next));
        meant.push(escaped.unwrap_or(letter));
    }
    meant
}

/// The parts between the separators that are not escaped, still with their escapes.
pub(super) fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (part, after) = split_once(text, separator).map_or((text, None), |(part, after)| (part, Some(after)));
        rest = after;
        Some(part)
    })
}

pub(super) fn split_once(text: &str, separator: char) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let at = text.char_indices().find(|(_, letter)| {
        let is_separator = *letter == separator && !is_escaped;
        is_escaped = *letter == '\\' && !is_escaped;
        is_separator
    });
    at.map(|(at, letter)| (&text[..at], &text[at + letter.len_utf8()..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escaped_signs_part_nothing() {
        for (text, parts) in [
            ("a,b", &["a", "b"][..]),
            (r"a\,b,c", &[r"a\,b", "c"]),
            (r"a\\,b", &[r"a\\", "b"]),
            (r"a\", &[r"a\"]),
            (",,", &["", "", ""]),
            ("", &[""]),
        ] {
            assert_eq!(split(text, ',').collect::<Vec<_>>(), parts, "{text}");
        }
        assert_eq!(split_once(r"a\|b|c|d", '|'), Some((r"a\|b", "c|d")));
        assert_eq!(unescape(r"a\,\$\|\\\x\"), r"a,$|\\x\");
    }

    proptest! {
        #[test]
        fn what_is_escaped_means_itself(text: String) {
            let escaped = escape(&text);
            prop_assert_eq!(unescape(&escaped), text);
            for separator in [',', '$', '|'] {
                prop_assert_eq!(split(&escaped, separator).count(), 1);
            }
        }

        #[test]
        fn lists_are_read_as_they_were_written(texts in proptest::collection::vec(any::<String>(), 1..5)) {
            let written = texts.iter().map(|text| escape(text)).collect::<Vec<_>>().join(",");
            let read: Vec<_> = split(&written, ',').map(unescape).collect();
            prop_assert_eq!(read, texts);
        }
    }
}
