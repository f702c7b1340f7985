//! Separators within a search value (`,` `$` `|`) and their backslash escapes
//! (<https://hl7.org/fhir/R4/search.html#escaping>).

const SPECIAL: [char; 4] = [',', '$', '|', '\\'];

/// Escapes the text, so that search reads it as one literal value.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if SPECIAL.contains(&character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Removes the escapes. A backslash before any other character is literal.
pub(super) fn unescape(text: &str) -> String {
    let mut unescaped = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = characters.next_if(|next| character == '\\' && SPECIAL.contains(next));
        unescaped.push(escaped.unwrap_or(character));
    }
    unescaped
}

/// Splits at the separators that are not escaped. The parts keep their escapes.
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
    let at = text.char_indices().find(|(_, character)| {
        let is_separator = *character == separator && !is_escaped;
        is_escaped = *character == '\\' && !is_escaped;
        is_separator
    });
    at.map(|(at, character)| (&text[..at], &text[at + character.len_utf8()..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escaped_separators_do_not_split() {
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
        fn escaped_text_is_literal(text: String) {
            let escaped = escape(&text);
            prop_assert_eq!(unescape(&escaped), text);
            for separator in [',', '$', '|'] {
                prop_assert_eq!(split(&escaped, separator).count(), 1);
            }
        }

        #[test]
        fn escaped_lists_round_trip(texts in proptest::collection::vec(any::<String>(), 1..5)) {
            let written = texts.iter().map(|text| escape(text)).collect::<Vec<_>>().join(",");
            let read: Vec<_> = split(&written, ',').map(unescape).collect();
            prop_assert_eq!(read, texts);
        }
    }
}
