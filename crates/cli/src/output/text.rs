//! Sanitizes, measures, truncates and wraps text for a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Converts text to one line without control characters and direction marks, which could manipulate a terminal.
pub(crate) fn sanitize(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => clean.push(' '),
            _ if is_unsafe_char(character) => clean.push('\u{fffd}'),
            _ => clean.push(character),
        }
    }
    clean
}

/// Whether a character is a control character, a direction mark or invisible.
pub(crate) fn is_unsafe_char(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// `1 task`, `2 tasks`. The plural of `criterion` is `criteria`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    match (count, noun) {
        (1, noun) => format!("1 {noun}"),
        (count, "criterion") => format!("{count} criteria"),
        (count, noun) => format!("{count} {noun}s"),
    }
}

pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Truncates to at most `max_width` columns, with an ellipsis.
pub(crate) fn truncate(text: &str, max_width: usize) -> String {
    if width(text) <= max_width {
        return text.to_owned();
    }
    let mut truncated = String::new();
    let mut used = 0;
    for character in text.chars() {
        let char_width = character.width().unwrap_or(0);
        if used + char_width + 1 > max_width {
            break;
        }
        used += char_width;
        truncated.push(character);
    }
    truncated.push('…');
    truncated
}

/// Wraps to lines of at most `max_width` columns, between words where possible.
pub(crate) fn wrap(text: &str, max_width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        for part in split_word(word, max_width) {
            let needed = width(&line) + usize::from(!line.is_empty()) + width(&part);
            if needed > max_width && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&part);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Wraps like [`wrap`], but never splits a word: it may be an address or a secret that is copied. Text that fits on one
/// line keeps its spaces.
pub(crate) fn wrap_keeping_words(text: &str, max_width: usize) -> Vec<String> {
    if width(text) <= max_width && !text.trim().is_empty() {
        return vec![text.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= max_width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Splits a word that is wider than a line.
fn split_word(word: &str, max_width: usize) -> Vec<String> {
    let mut split_word = vec![String::new()];
    let mut used = 0;
    for character in word.chars() {
        let char_width = character.width().unwrap_or(0);
        if used + char_width > max_width && used > 0 {
            split_word.push(String::new());
            used = 0;
        }
        used += char_width;
        if let Some(last) = split_word.last_mut() {
            last.push(character);
        }
    }
    split_word
}

/// Pads with spaces to a number of columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(truncate("患者の名前", 6), "患者…");
        assert_eq!(width(&truncate("患者の名前", 6)), 5);
        assert_eq!(pad("患者", 6), "患者  ");
        assert_eq!(truncate("short", 5), "short");
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("患者の名前", 4), ["患者", "の名", "前"]);
        assert_eq!(wrap_keeping_words("a b abcdefgh c", 3), ["a b", "abcdefgh", "c"]);
        assert_eq!(wrap_keeping_words("  A  B", 6), ["  A  B"]);
        assert!(wrap_keeping_words(" ", 6).is_empty());
    }

    #[test]
    fn control_characters_are_removed() {
        let bad = "\u{1b}[2Jgone\u{7}\u{202e}x\u{9b}31m\nnext";
        assert_eq!(sanitize(bad), "\u{fffd}[2Jgone\u{fffd}\u{fffd}x\u{fffd}31m next");
    }
}
