//! Finds the objects of a file by its cross-reference tables and streams (ISO 32000-1, 7.5.4 and 7.5.8).

use std::collections::BTreeSet;

use super::file::{File, ObjectLocation};
use super::lexer::Lexer;
use super::object::{Dictionary, Object, Stream};
use crate::error::DocumentError;

impl File<'_> {
    pub(super) fn follow_tables(&mut self) -> Result<(), DocumentError> {
        const BROKEN: DocumentError = DocumentError::Damaged("its table of objects cannot be read");
        let tail = self.bytes.len().saturating_sub(4096);
        let at = rfind(self.bytes.get(tail..).unwrap_or_default(), b"startxref").ok_or(BROKEN)?;
        let start = Lexer::new(self.bytes, tail + at + 9, self.budget).object()?.and_then(|start| start.whole());
        let mut waiting = vec![start.ok_or(BROKEN)?];
        let mut seen = BTreeSet::new();
        while let Some(at) = waiting.pop() {
            if !seen.insert(at) || seen.len() > 1000 {
                continue;
            }
            let trailer = self.table(at)?.ok_or(BROKEN)?;
            // The newest table comes first, so existing entries are kept. The stream of a hybrid file comes first.
            waiting.extend(trailer.get("Prev").whole());
            waiting.extend(trailer.get("XRefStm").whole());
            for (name, value) in trailer.0 {
                self.trailer.0.entry(name).or_insert(value);
            }
        }
        Ok(())
    }

    /// Reads a cross-reference table or stream, and returns its trailer.
    fn table(&mut self, at: usize) -> Result<Option<Dictionary>, DocumentError> {
        let mut lexer = Lexer::new(self.bytes, at, self.budget);
        lexer.skip_space();
        if !self.bytes.get(lexer.at..).unwrap_or_default().starts_with(b"xref") {
            let Some((_, Object::Stream(stream))) = lexer.indirect(None)? else { return Ok(None) };
            return self.offset_stream(&stream).map(Some);
        }
        lexer.at += 4;
        loop {
            let first = match lexer.object()? {
                Some(Object::Word(word)) if word == "trailer" => break,
                Some(first) => first.whole(),
                None => return Ok(None),
            };
            let (Some(first), Some(count)) = (first, lexer.object()?.and_then(|count| count.whole())) else {
                return Ok(None);
            };
            for index in 0..count {
                let offset = lexer.object()?.and_then(|offset| offset.whole());
                let generation = lexer.object()?;
                let (Some(offset), Some(_), Some(Object::Word(word))) = (offset, generation, lexer.object()?) else {
                    return Ok(None);
                };
                if word == "n" {
                    self.note(first.saturating_add(index), ObjectLocation::At(offset))?;
                }
            }
        }
        Ok(lexer.object()?.and_then(|trailer| trailer.dictionary().cloned()))
    }

    fn offset_stream(&mut self, stream: &Stream) -> Result<Dictionary, DocumentError> {
        let content = self.content(stream)?;
        let dictionary = &stream.dictionary;
        let widths: Vec<usize> =
            dictionary.get("W").array().iter().map(|width| width.whole().unwrap_or(0).min(8)).collect();
        let [kind_width, one_width, two_width] = widths.as_slice() else {
            return Err(DocumentError::Damaged("its stream of offsets has no widths"));
        };
        let row = (kind_width + one_width + two_width).max(1);
        let size = dictionary.get("Size").whole().unwrap_or(0);
        let mut sections: Vec<usize> = dictionary.get("Index").array().iter().filter_map(Object::whole).collect();
        if sections.is_empty() {
            sections = vec![0, size];
        }
        let numbers = sections.chunks_exact(2).flat_map(|section| match section {
            [first, count] => *first..first.saturating_add(*count),
            _ => 0..0,
        });
        self.budget.spend(content.len())?;
        for (number, entry) in numbers.zip(content.chunks_exact(row)) {
            let (kind, entry) = entry.split_at(*kind_width);
            let (one, _) = entry.split_at(*one_width);
            let kind = if kind.is_empty() { 1 } else { big_endian(kind) };
            match kind {
                1 => self.note(number, ObjectLocation::At(usize::try_from(big_endian(one)).unwrap_or(usize::MAX)))?,
                2 => self.note(number, ObjectLocation::Within(u32::try_from(big_endian(one)).unwrap_or(u32::MAX)))?,
                _ => {}
            }
        }
        Ok(dictionary.clone())
    }
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

fn rfind(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).rposition(|window| window == wanted)
}
