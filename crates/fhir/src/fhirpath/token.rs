//! The words of an expression (<https://hl7.org/fhirpath/N1/#lexical-elements>).

use super::PathFault;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The byte where it starts.
    pub(super) place: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word(String),
    /// A name between backticks.
    Name(String),
    Text(String),
    Number(String),
    /// `@2024-02-29T10:00`, without the `@`.
    Temporal(String),
    /// `$this`.
    Variable(String),
    Sign(&'static str),
}

const SIGNS: [&str; 23] = [
    "<=", ">=", "!=", "!~", "<", ">", "=", "~", "|", ".", "(", ")", "[", "]", "{", "}", ",", "%", "+", "-", "*", "/",
    "&",
];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, PathFault> {
    let mut lexer = Lexer { text, at: 0 };
    let mut found = Vec::new();
    while let Some(token) = lexer.next()? {
        found.push(token);
    }
    Ok(found)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn next(&mut self) -> Result<Option<Token>, PathFault> {
        self.skip()?;
        let place = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let kind = match first {
            '\'' => TokenKind::Text(self.delimited('\'')?),
            '`' => TokenKind::Name(self.delimited('`')?),
            '"' => return Err(self.fault("strings are written between single quotes")),
            '@' => {
                let length = temporal_length(&rest[1..]);
                self.at += 1;
                TokenKind::Temporal(self.take(length).to_owned())
            }
            '$' => {
                self.at += 1;
                TokenKind::Variable(self.take(word_length(&rest[1..])).to_owned())
            }
            first if first.is_ascii_digit() => TokenKind::Number(self.take(number_length(rest)).to_owned()),
            first if first.is_ascii_alphabetic() || first == '_' => {
                TokenKind::Word(self.take(word_length(rest)).to_owned())
            }
            _ => {
                let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
                let sign = sign.ok_or_else(|| self.fault(&format!("unexpected character {first:?}")))?;
                self.at += sign.len();
                TokenKind::Sign(sign)
            }
        };
        Ok(Some(Token { kind, place }))
    }

    /// White space and comments.
    fn skip(&mut self) -> Result<(), PathFault> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                let end = trimmed.find("*/").ok_or_else(|| self.fault("the comment does not end"))?;
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    /// What stands between two quotes, with its escapes read.
    fn delimited(&mut self, quote: char) -> Result<String, PathFault> {
        let mut found = String::new();
        let mut letters = self.rest().char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                letter if letter == quote => {
                    self.at += at + 1;
                    return Ok(found);
                }
                '\\' => {
                    let escaped = letters.next().map(|(_, letter)| letter);
                    let read = match escaped {
                        Some('u') => {
                            let digits: String = letters.by_ref().take(4).map(|(_, digit)| digit).collect();
                            unicode(&digits)
                        }
                        escaped => escaped.and_then(unescaped),
                    };
                    found.push(read.ok_or_else(|| self.fault_at(self.at + at, "unknown escape"))?);
                }
                letter => found.push(letter),
            }
        }
        Err(self.fault("the quote is not closed"))
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn take(&mut self, length: usize) -> &'t str {
        let taken = &self.rest()[..length];
        self.at += length;
        taken
    }

    fn fault(&self, reason: &str) -> PathFault {
        self.fault_at(self.at, reason)
    }

    fn fault_at(&self, place: usize, reason: &str) -> PathFault {
        PathFault { place, reason: reason.to_owned() }
    }
}

fn unescaped(letter: char) -> Option<char> {
    Some(match letter {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'f' => '\u{c}',
        '\'' | '"' | '`' | '\\' | '/' => letter,
        _ => return None,
    })
}

fn unicode(digits: &str) -> Option<char> {
    let is_hex = digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?)
}

fn word_length(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// A full stop belongs to a number only if a digit follows.
fn number_length(text: &str) -> usize {
    let whole = digits(text);
    match text[whole..].strip_prefix('.').map(digits) {
        Some(decimals) if decimals > 0 => whole + 1 + decimals,
        _ => whole,
    }
}

/// How much of the text is a date, a time, or both.
fn temporal_length(text: &str) -> usize {
    if let Some(time) = text.strip_prefix('T') {
        return 1 + time_length(time);
    }
    let mut date = digits(text);
    for _ in 0..2 {
        match text[date..].strip_prefix('-').map(digits) {
            Some(2) => date += 3,
            _ => break,
        }
    }
    let Some(time) = text[date..].strip_prefix('T') else { return date };
    let length = time_length(time);
    date + 1 + length + zone_length(&time[length..])
}

fn time_length(text: &str) -> usize {
    let mut length = digits(text);
    for _ in 0..2 {
        match text[length..].strip_prefix(':').map(digits) {
            Some(2) => length += 3,
            _ => return length,
        }
    }
    match text[length..].strip_prefix('.').map(digits) {
        Some(fraction) if fraction > 0 => length + 1 + fraction,
        _ => length,
    }
}

fn zone_length(text: &str) -> usize {
    if text.starts_with('Z') {
        return 1;
    }
    let is_offset = matches!(text.as_bytes(), [b'+' | b'-', a, b, b':', c, d, ..] if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()));
    if is_offset { 6 } else { 0 }
}
