//! The checks of JSON text (RFC 8259) that serde_json leaves out when it ignores a value.

use super::fault::Problem;

/// What JSON allows between its tokens.
pub(super) const WHITE_SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

pub(super) fn utf8(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|_| Problem::NotUtf8)
}

/// No string may hold U+0000, which PostgreSQL cannot store, or half of a surrogate pair, which is no character.
///
/// Means something only for valid JSON, where every backslash stands in a string.
pub(super) fn check_escapes(text: &str) -> Result<(), Problem> {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at..];
        rest = match (code_unit(escape), escape.get(6..).and_then(code_unit)) {
            (Some(0), _) => return Err(Problem::NulCharacter),
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => escape.get(12..),
            (Some(0xD800..=0xDFFF), _) => return Err(Problem::LoneSurrogate),
            (Some(_), _) => escape.get(6..),
            (None, _) => escape.get(2..),
        }
        .unwrap_or_default();
    }
    Ok(())
}

/// The code unit of a `\uXXXX` that the text begins with.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_that_are_characters_pass() {
        for text in
            [r#""plain""#, r#""\\u0000""#, r#""\\\\u0000 \"""#, r#""\u0001\u00e9""#, r#""\ud83d\ude00 \uD83D\uDE00""#]
        {
            assert!(check_escapes(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn escapes_that_are_not_are_refused() {
        for text in [r#""\u0000""#, r#""\\\u0000""#, r#""a\n\u0000b""#] {
            assert!(matches!(check_escapes(text), Err(Problem::NulCharacter)), "{text}");
        }
        for text in [r#""\ud83d""#, r#""\ude00""#, r#""\ud83d\ud83d\ude00""#, r#""\ud83d \ude00""#, r#""\ud83d\n""#] {
            assert!(matches!(check_escapes(text), Err(Problem::LoneSurrogate)), "{text}");
        }
    }

    #[test]
    fn text_that_is_no_json_does_no_harm() {
        for text in ["\\", "\\u", "\\u12", "\\é", "\\ué", "\\u00é0", "\\u12\u{1F600}", "\\ud800\\u"] {
            let _ = check_escapes(text);
        }
    }
}
