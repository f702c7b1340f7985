//! Parses objects (ISO 32000-1, 7.2 and 7.3). Tolerates malformed objects as other readers
//! do. Only depth and size are limited.

use super::object::{Dictionary, Object, Stream};
use crate::error::DocumentError;
use crate::read::budget::Budget;

const DEEPEST: usize = 64;
/// Items in one object. Each takes some tens of bytes of memory.
const MOST_ELEMENTS: usize = 500_000;
/// The length of names and words. Longer ones are never known.
const LONGEST_WORD: usize = 512;

pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    budget: &'a Budget,
    elements: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize, budget: &'a Budget) -> Self {
        Self { bytes, at: at.min(bytes.len()), budget, elements: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// White space and comments.
    pub(super) fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'%' => self.at += self.rest().iter().take_while(|byte| !matches!(byte, b'\r' | b'\n')).count(),
                _ if is_space(byte) => self.at += 1,
                _ => break,
            }
        }
    }

    /// The next object, or None at the end. Does not parse references, because content streams have none.
    pub(super) fn object(&mut self) -> Result<Option<Object>, DocumentError> {
        self.elements = 0;
        self.nested(0)
    }

    fn nested(&mut self, depth: usize) -> Result<Option<Object>, DocumentError> {
        if depth > DEEPEST {
            return Err(DocumentError::Damaged("its objects are nested too deeply"));
        }
        self.elements += 1;
        if self.elements > MOST_ELEMENTS {
            return Err(DocumentError::TooLarge("one of its objects has too many parts"));
        }
        let from = self.at;
        self.skip_space();
        let Some(byte) = self.peek() else { return Ok(None) };
        let object = match byte {
            b'/' => self.name(),
            b'(' => self.text(),
            b'[' => self.array(depth)?,
            b'<' if self.rest().starts_with(b"<<") => Object::Dictionary(self.dictionary(depth)?),
            b'<' => self.hexadecimal(),
            b'+' | b'-' | b'.' | b'0'..=b'9' => self.number(),
            // Closing delimiters without opening ones.
            b')' | b']' | b'}' | b'>' | b'{' => {
                self.at += 1;
                Object::Word(char::from(byte).to_string())
            }
            _ => self.word(),
        };
        // An object costs more than its bytes.
        self.budget.spend(self.at - from + 20)?;
        Ok(Some(object))
    }

    fn name(&mut self) -> Object {
        self.at += 1;
        let raw = self.rest();
        let length = raw.iter().take_while(|byte| !is_space(**byte) && !is_delimiter(**byte)).count();
        self.at += length;
        let raw = raw.get(..length.min(LONGEST_WORD)).unwrap_or_default();
        let mut name = String::with_capacity(raw.len());
        let mut index = 0;
        while let Some(byte) = raw.get(index) {
            let digit = |at: usize| raw.get(at).and_then(|byte| char::from(*byte).to_digit(16));
            match (byte, digit(index + 1), digit(index + 2)) {
                (b'#', Some(high), Some(low)) => {
                    name.push(char::from((high * 16 + low) as u8));
                    index += 3;
                }
                _ => {
                    name.push(char::from(*byte));
                    index += 1;
                }
            }
        }
        Object::Name(name)
    }

    fn text(&mut self) -> Object {
        self.at += 1;
        let mut text = Vec::new();
        let mut open = 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\\' => self.escaped(&mut text),
                b'(' => {
                    open += 1;
                    text.push(byte);
                }
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                    text.push(byte);
                }
                _ => text.push(byte),
            }
        }
        Object::Text(text)
    }

    fn escaped(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            // A line continuation.
            b'\r' => self.at += usize::from(self.peek() == Some(b'\n')),
            b'\n' => {}
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = self.peek() else { break };
                    code = code * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                text.push((code & 0xff) as u8);
            }
            _ => text.push(byte),
        }
    }

    fn hexadecimal(&mut self) -> Object {
        self.at += 1;
        let raw = self.rest();
        let length = raw.iter().take_while(|byte| **byte != b'>').count();
        self.at = (self.at + length + 1).min(self.bytes.len());
        Object::Text(crate::read::filter::ascii_hex(raw.get(..length).unwrap_or_default()))
    }

    fn array(&mut self, depth: usize) -> Result<Object, DocumentError> {
        self.at += 1;
        let mut items: Vec<Object> = Vec::new();
        while let Some(item) = self.nested(depth + 1)? {
            match item {
                Object::Word(word) if word == "]" => break,
                Object::Word(word) if word == "R" => referred(&mut items),
                // The array was never closed.
                Object::Word(word) if word == "endobj" => break,
                item => items.push(item),
            }
        }
        Ok(Object::Array(items))
    }

    fn dictionary(&mut self, depth: usize) -> Result<Dictionary, DocumentError> {
        self.at += 2;
        let mut items: Vec<Object> = Vec::new();
        loop {
            self.skip_space();
            if self.rest().starts_with(b">>") {
                self.at += 2;
                break;
            }
            match self.nested(depth + 1)? {
                None => break,
                Some(Object::Word(word)) if word == "R" => referred(&mut items),
                Some(Object::Word(word)) if word == "endobj" || word == "stream" => break,
                Some(item) => items.push(item),
            }
        }
        let mut dictionary = Dictionary::default();
        let mut items = items.into_iter();
        while let Some(name) = items.next() {
            if let (Object::Name(name), Some(value)) = (name, items.next()) {
                dictionary.0.insert(name, value);
            }
        }
        Ok(dictionary)
    }

    fn number(&mut self) -> Object {
        let raw = self.rest();
        let length = raw.iter().take_while(|byte| matches!(byte, b'+' | b'-' | b'.' | b'0'..=b'9')).count();
        self.at += length;
        let digits = raw.get(..length.min(64)).unwrap_or_default();
        let text = str::from_utf8(digits).unwrap_or_default();
        let number = text.parse::<f64>().ok().or_else(|| {
            // `--5`, `1.2.3`, `12-34`: the number ends before the unexpected character.
            let sound = text.trim_start_matches(['+', '-']);
            let end = sound.find(['+', '-']).unwrap_or(sound.len());
            let mut parts = sound.get(..end)?.split('.');
            let joined = format!("{}.{}", parts.next().unwrap_or("0"), parts.next().unwrap_or("0"));
            joined.parse::<f64>().ok().map(|number| if text.starts_with('-') { -number } else { number })
        });
        Object::Number(number.unwrap_or(0.0))
    }

    fn word(&mut self) -> Object {
        let raw = self.rest();
        let length = raw.iter().take_while(|byte| !is_space(**byte) && !is_delimiter(**byte)).count().max(1);
        self.at += length;
        let raw = raw.get(..length.min(LONGEST_WORD)).unwrap_or_default();
        match raw {
            b"null" => Object::Null,
            b"true" => Object::Boolean(true),
            b"false" => Object::Boolean(false),
            _ => Object::Word(raw.iter().map(|byte| char::from(*byte)).collect()),
        }
    }

    /// Parses `12 0 obj` and the object after it. The number must be the given one, if any.
    pub(super) fn indirect(&mut self, wanted: Option<u32>) -> Result<Option<(u32, Object)>, DocumentError> {
        let number = self.object()?.and_then(|number| number.whole());
        let generation = self.object()?.and_then(|generation| generation.whole());
        let word = self.object()?;
        let (Some(number), Some(_), Some(Object::Word(word))) = (number, generation, word) else { return Ok(None) };
        let number = u32::try_from(number).ok();
        if word != "obj" || number.is_none() || (wanted.is_some() && number != wanted) {
            return Ok(None);
        }
        let object = self.referring()?.unwrap_or(Object::Null);
        let object = match object {
            Object::Dictionary(dictionary) => self.stream(dictionary),
            other => other,
        };
        Ok(number.map(|number| (number, object)))
    }

    /// An object that may be a reference to another.
    pub(super) fn referring(&mut self) -> Result<Option<Object>, DocumentError> {
        let object = self.object()?;
        if let Some(number) = object.as_ref().and_then(Object::whole) {
            let here = self.at;
            let generation = self.object()?;
            let word = self.object()?;
            if let (Some(Object::Number(_)), Some(Object::Word(word))) = (generation, word)
                && word == "R"
            {
                return Ok(Some(u32::try_from(number).map_or(Object::Null, Object::Reference)));
            }
            self.at = here;
        }
        Ok(object)
    }

    /// The dictionary's stream, if one follows.
    fn stream(&mut self, dictionary: Dictionary) -> Object {
        let here = self.at;
        self.skip_space();
        if !self.rest().starts_with(b"stream") {
            self.at = here;
            return Object::Dictionary(dictionary);
        }
        self.at += 6;
        if self.peek() == Some(b'\r') {
            self.at += 1;
        }
        if self.peek() == Some(b'\n') {
            self.at += 1;
        }
        Object::Stream(Stream { dictionary, start: self.at })
    }
}

/// Whether the last two items are the number and generation of a reference.
fn referred(items: &mut Vec<Object>) {
    let generation = items.pop();
    let number = items.pop();
    let number = number.filter(|_| matches!(generation, Some(Object::Number(_)))).and_then(|number| number.whole());
    items.push(number.and_then(|number| u32::try_from(number).ok()).map_or(Object::Null, Object::Reference));
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | 9 | 10 | 12 | 13 | 32)
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Object> {
        Lexer::new(text.as_bytes(), 0, &Budget::new()).referring().unwrap()
    }

    #[test]
    fn objects_are_read() {
        let text = |text: &str| Some(Object::Text(text.as_bytes().to_vec()));
        assert_eq!(read("(a\\(b\\)(c)\\101\\n\\\r\nd)"), text("a(b)(c)A\nd"));
        assert_eq!(read("<48 65 6C6>"), text("Hel`"));
        assert_eq!(read("/A#20B(x)"), Some(Object::Name("A B".into())));
        assert_eq!(read("% c\n -1.50"), Some(Object::Number(-1.5)));
        assert_eq!(read("--5"), Some(Object::Number(-5.0)));
        assert_eq!(read("12 0 R"), Some(Object::Reference(12)));
        assert_eq!(read("12 0 obj"), Some(Object::Number(12.0)));
        assert_eq!(
            read("[1 2 0 R null]"),
            Some(Object::Array(vec![Object::Number(1.0), Object::Reference(2), Object::Null]))
        );
        let dictionary = read("<</A 1 /B <</C 7 0 R>> /D>>").unwrap();
        let inner = dictionary.dictionary().unwrap().get("B").dictionary().unwrap();
        assert_eq!(inner.get("C"), &Object::Reference(7));
        assert_eq!(read(""), None);
    }

    #[test]
    fn depth_and_size_have_an_end() {
        let budget = Budget::new();
        let deep = "[".repeat(100_000);
        assert!(Lexer::new(deep.as_bytes(), 0, &budget).object().is_err());
        let deep = "<</A".repeat(100_000);
        assert!(Lexer::new(deep.as_bytes(), 0, &budget).object().is_err());
        let wide = format!("[{}]", "0 ".repeat(600_000));
        assert!(Lexer::new(wide.as_bytes(), 0, &budget).object().is_err());
    }
}
