//! The author's own text in a message.

use std::fmt;

/// A piece of the author's text, short enough to be shown.
#[derive(Debug)]
pub(crate) struct Excerpt(String);

impl Excerpt {
    const CHARACTERS: usize = 72;

    pub(crate) fn of(text: &str) -> Self {
        let mut characters = text.chars();
        let mut shown: String = characters.by_ref().take(Self::CHARACTERS).collect();
        if characters.next().is_some() {
            shown.push('…');
        }
        Self(shown)
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_shows_control_characters() {
        assert_eq!(Excerpt::of("a\u{7}\"").to_string(), r#""a\u{7}\"""#);
        assert_eq!(Excerpt::of(&"é".repeat(73)).to_string(), format!("\"{}…\"", "é".repeat(72)));
    }
}
