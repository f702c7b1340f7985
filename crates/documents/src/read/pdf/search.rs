//! Finds the objects of a file with broken cross-reference tables by searching for them.

use super::file::{File, MOST_OBJECTS, ObjectLocation};
use super::lexer::{Lexer, is_space};
use super::object::Object;
use crate::error::DocumentError;

impl File<'_> {
    /// Searches the whole file for `12 0 obj`, where later objects replace earlier ones, and then the object streams.
    pub(super) fn search(&mut self) -> Result<(), DocumentError> {
        self.budget.spend(self.bytes.len())?;
        let mut containers = Vec::new();
        for at in finds(self.bytes, b" obj") {
            let Some(start) = start_of_object(self.bytes, at) else { continue };
            let number = Lexer::new(self.bytes, start, self.budget).object()?.and_then(|number| number.whole());
            let Some(number) = number.and_then(|number| u32::try_from(number).ok()) else { continue };
            self.places.insert(number, ObjectLocation::At(start));
            if self.places.len() > MOST_OBJECTS {
                return Err(DocumentError::TooLarge("it has more than 500 000 objects"));
            }
            self.look_into(start, number, &mut containers)?;
        }
        for container in containers {
            let stream = self.object_stream(container)?;
            for (number, _) in stream.iter().flat_map(|stream| stream.offsets.iter()) {
                self.note(*number as usize, ObjectLocation::Within(container))?;
            }
        }
        for at in finds(self.bytes, b"trailer") {
            let trailer = Lexer::new(self.bytes, at + 7, self.budget).object()?;
            if let Some(trailer) = trailer.as_ref().and_then(Object::dictionary) {
                self.trailer.0.extend(trailer.0.clone());
            }
        }
        if !self.has_pages()? {
            self.search_catalog()?;
        }
        Ok(())
    }

    fn look_into(&mut self, start: usize, number: u32, containers: &mut Vec<u32>) -> Result<(), DocumentError> {
        let after = self.bytes.get(start..).unwrap_or_default();
        let head = after.get(..400.min(after.len())).unwrap_or_default();
        let mentions = |name: &[u8]| head.windows(name.len()).any(|window| window == name);
        if !mentions(b"/ObjStm") && !mentions(b"/XRef") {
            return Ok(());
        }
        let found = Lexer::new(self.bytes, start, self.budget).indirect(None)?;
        let Some((_, Object::Stream(stream))) = found else { return Ok(()) };
        if stream.dictionary.has_type("ObjStm") {
            containers.push(number);
        } else if stream.dictionary.has_type("XRef") {
            self.trailer.0.extend(stream.dictionary.0);
        }
        Ok(())
    }

    fn search_catalog(&mut self) -> Result<(), DocumentError> {
        let numbers: Vec<u32> = self.places.keys().copied().collect();
        for number in numbers {
            let object = self.load(number)?;
            if object.dictionary().is_some_and(|dictionary| dictionary.has_type("Catalog")) {
                self.trailer.0.insert("Root".to_owned(), Object::Reference(number));
            }
        }
        Ok(())
    }
}

/// The offsets of all occurrences of the bytes.
pub(super) fn finds<'b>(bytes: &'b [u8], wanted: &'b [u8]) -> impl Iterator<Item = usize> + use<'b> {
    bytes.windows(wanted.len()).enumerate().filter(move |(_, window)| *window == wanted).map(|(at, _)| at)
}

/// Parses the number, a space and the generation before ` obj`.
fn start_of_object(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = |end: usize| {
        let before = bytes.get(end.saturating_sub(12)..end).unwrap_or_default();
        let count = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        (count > 0).then(|| end - count)
    };
    let generation = digits(at)?;
    let space = generation.checked_sub(1).filter(|space| bytes.get(*space).is_some_and(|byte| is_space(*byte)))?;
    digits(space)
}
