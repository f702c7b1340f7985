//! Text of others on a terminal: made harmless, measured in columns, cut and wrapped.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// One line without anything that a terminal would obey, or that turns the direction of what follows.
pub(crate) fn harmless(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => clean.push(' '),
            _ if is_hostile(letter) => clean.push('\u{fffd}'),
            _ => clean.push(letter),
        }
    }
    clean
}

/// Control characters, and marks that change the direction or hide.
pub(crate) fn is_hostile(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// `1 task`, `2 tasks`; of `criterion` the plural is `criteria`.
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

/// At most so many columns; what is left out is told by an ellipsis.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for letter in text.chars() {
        let wide = letter.width().unwrap_or(0);
        if used + wide + 1 > most {
            break;
        }
        used += wide;
        kept.push(letter);
    }
    kept.push('…');
    kept
}

/// Lines of at most so many columns, broken between words where that is possible.
pub(crate) fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        for piece in pieces(word, most) {
            let needed = width(&line) + usize::from(!line.is_empty()) + width(&piece);
            if needed > most && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&piece);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The same, but a word that is wider than a line stays whole: it may be an address or a secret, to be copied. What fits
/// keeps its spaces too: they may be what was wrong.
pub(crate) fn wrap_whole(text: &str, most: usize) -> Vec<String> {
    if width(text) <= most && !text.trim().is_empty() {
        return vec![text.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A word that is wider than a line, in pieces that are not.
fn pieces(word: &str, most: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for letter in word.chars() {
        let wide = letter.width().unwrap_or(0);
        if used + wide > most && used > 0 {
            pieces.push(String::new());
            used = 0;
        }
        used += wide;
        if let Some(last) = pieces.last_mut() {
            last.push(letter);
        }
    }
    pieces
}

/// Spaces after it up to so many columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_count_twice() {
        assert_eq!(cut("患者の名前", 6), "患者…");
        assert_eq!(width(&cut("患者の名前", 6)), 5);
        assert_eq!(pad("患者", 6), "患者  ");
        assert_eq!(cut("short", 5), "short");
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("患者の名前", 4), ["患者", "の名", "前"]);
        assert_eq!(wrap_whole("a b abcdefgh c", 3), ["a b", "abcdefgh", "c"]);
        assert_eq!(wrap_whole("  A  B", 6), ["  A  B"]);
        assert!(wrap_whole(" ", 6).is_empty());
    }

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        let bad = "\u{1b}[2Jgone\u{7}\u{202e}x\u{9b}31m\nnext";
        assert_eq!(harmless(bad), "\u{fffd}[2Jgone\u{fffd}\u{fffd}x\u{fffd}31m next");
    }
}
