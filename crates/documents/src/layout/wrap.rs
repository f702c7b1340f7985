//! Breaks text into lines that fit a width.

use crate::font::{Face, settable};

/// Breaks text at line breaks and between words. A word that is wider than the line is broken anywhere. Returns at least one
/// line, possibly empty, for each line of the text.
pub(crate) fn wrap(face: &Face, text: &str, size: f32, width: f32) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.replace("\r\n", "\n").split(['\n', '\r', '\u{2028}', '\u{2029}', '\u{b}', '\u{c}']) {
        let mut line = OpenLine { face, size, width, text: String::new(), used: 0.0 };
        for word in settable(paragraph).split(' ').filter(|word| !word.is_empty()) {
            line.add(word, &mut lines);
        }
        lines.push(line.text);
    }
    lines
}

struct OpenLine<'a> {
    face: &'a Face,
    size: f32,
    width: f32,
    text: String,
    used: f32,
}

impl OpenLine<'_> {
    fn add(&mut self, word: &str, lines: &mut Vec<String>) {
        let needed = self.face.width(word, self.size);
        let space = if self.text.is_empty() { 0.0 } else { self.face.advance(' ') * self.size };
        if self.used + space + needed <= self.width {
            if !self.text.is_empty() {
                self.text.push(' ');
            }
            self.text.push_str(word);
            self.used += space + needed;
            return;
        }
        if !self.text.is_empty() {
            self.end(lines);
        }
        if needed <= self.width {
            self.text.push_str(word);
            self.used = needed;
            return;
        }
        for character in word.chars() {
            let advance = self.face.advance(character) * self.size;
            if self.used + advance > self.width && !self.text.is_empty() {
                self.end(lines);
            }
            self.text.push(character);
            self.used += advance;
        }
    }

    fn end(&mut self, lines: &mut Vec<String>) {
        lines.push(std::mem::take(&mut self.text));
        self.used = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::font::Fonts;

    #[test]
    fn lines_fit_and_nothing_is_lost() {
        let fonts = Fonts::load().unwrap();
        let long = "x".repeat(100);
        for text in
            ["", "one", "one two three four five six seven", "a\n\nb\r\nc", &long, &format!("a {long} b"), "  a   b  "]
        {
            for width in [1.0, 30.0, 100.0, 1000.0] {
                let lines = wrap(&fonts.regular, text, 10.0, width);
                let letters = |text: &str| text.split_whitespace().collect::<String>();
                assert_eq!(letters(&lines.concat()), letters(text));
                let fits = |line: &String| fonts.regular.width(line, 10.0) <= width || line.chars().count() == 1;
                assert!(lines.iter().all(fits), "{lines:?}");
            }
        }
        assert_eq!(wrap(&fonts.regular, "a\n\nb", 10.0, 100.0), ["a", "", "b"]);
        assert_eq!(wrap(&fonts.regular, "  a   b  ", 10.0, 100.0), ["a b"]);
    }
}
