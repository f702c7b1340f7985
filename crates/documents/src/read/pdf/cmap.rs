//! Maps codes to characters, and determines the length of codes (ISO 32000-1, 9.7.5 and 9.10.3).

use std::collections::BTreeMap;

use super::lexer::Lexer;
use super::object::Object;
use crate::error::DocumentError;
use crate::read::budget::Budget;

const MOST_ENTRIES: usize = 100_000;
const LONGEST_TEXT: usize = 64;

#[derive(Debug, Default)]
pub(super) struct CodeMap {
    texts: BTreeMap<u32, String>,
    /// The number of inserted entries, including replaced ones.
    entry_count: usize,
    /// The bytes of a code, for codes whose first byte lies between the two: `<00> <7F>` is one byte.
    spaces: Vec<(usize, u8, u8)>,
}

impl CodeMap {
    pub(super) fn read(bytes: &[u8], budget: &Budget) -> Result<Self, DocumentError> {
        let mut map = Self::default();
        let mut lexer = Lexer::new(bytes, 0, budget);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(object) = lexer.object()? {
            match object {
                Object::Word(word) => {
                    map.take(&word, &operands);
                    operands.clear();
                }
                operand if operands.len() < 1000 => operands.push(operand),
                _ => {}
            }
        }
        Ok(map)
    }

    fn take(&mut self, word: &str, operands: &[Object]) {
        match word {
            "endcodespacerange" => {
                for pair in operands.chunks_exact(2) {
                    if let [Object::Text(from), Object::Text(to)] = pair
                        && let (Some(first), Some(last)) = (from.first(), to.first())
                        && self.spaces.len() < 100
                    {
                        self.spaces.push((from.len().clamp(1, 4), *first, *last));
                    }
                }
            }
            "endbfchar" => {
                for pair in operands.chunks_exact(2) {
                    if let [Object::Text(code), target] = pair {
                        self.put(number(code), target, 0);
                    }
                }
            }
            "endbfrange" => {
                for range in operands.chunks_exact(3) {
                    if let [Object::Text(from), Object::Text(to), target] = range {
                        self.put_range(number(from), number(to), target);
                    }
                }
            }
            _ => {}
        }
    }

    fn put_range(&mut self, from: u32, to: u32, target: &Object) {
        for (offset, code) in (from..=to).take(0x1_0000).enumerate() {
            if self.entry_count >= MOST_ENTRIES {
                return;
            }
            match target {
                Object::Array(targets) => match targets.get(offset) {
                    Some(target) => self.put(code, target, 0),
                    None => return,
                },
                target => self.put(code, target, offset as u32),
            }
        }
    }

    /// Adds the offset to the last character of the text.
    fn put(&mut self, code: u32, target: &Object, offset: u32) {
        let text = match target {
            Object::Text(bytes) => {
                let units: Vec<u16> = bytes.chunks(2).take(LONGEST_TEXT).map(|pair| number(pair) as u16).collect();
                let mut text = String::from_utf16_lossy(&units);
                if offset > 0
                    && let Some(last) = text.pop()
                {
                    text.extend(char::from_u32(last as u32 + offset));
                }
                text
            }
            Object::Name(name) => super::encoding::of_glyph(name).unwrap_or_default(),
            _ => return,
        };
        if self.entry_count < MOST_ENTRIES {
            self.entry_count += 1;
            self.texts.insert(code, text);
        }
    }

    pub(super) fn text(&self, code: u32) -> Option<&str> {
        self.texts.get(&code).map(String::as_str)
    }

    /// The number of bytes of the next code. None if the map does not define it.
    pub(super) fn code_length(&self, first: u8) -> Option<usize> {
        self.spaces.iter().find(|(_, from, to)| (*from..=*to).contains(&first)).map(|(length, _, _)| *length)
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |number, byte| (number << 8) | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_texts() {
        let text = "/CMapName /X def 1 begincodespacerange <0000> <FFFF> endcodespacerange
            2 beginbfchar <0003> <0020> <0004> <D83DDE00> endbfchar
            2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<00660069> <0078>] endbfrange";
        let map = CodeMap::read(text.as_bytes(), &Budget::new()).unwrap();
        let found: Vec<Option<&str>> =
            [3, 4, 0x10, 0x12, 0x20, 0x21, 0x22].into_iter().map(|code| map.text(code)).collect();
        assert_eq!(found, [Some(" "), Some("😀"), Some("A"), Some("C"), Some("fi"), Some("x"), None]);
        assert_eq!(map.code_length(7), Some(2));
    }

    #[test]
    fn ranges_do_not_go_on_for_ever() {
        let text = "<00000000> <FFFFFFFF> <0041> endbfrange ".repeat(1000);
        let map = CodeMap::read(text.as_bytes(), &Budget::new()).unwrap();
        assert!(map.texts.len() <= MOST_ENTRIES);
    }
}
