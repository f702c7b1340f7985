//! Access to the numbered objects of a file.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::lexer::{Lexer, is_space};
use super::object::{Dictionary, Object, Stream};
use super::search::finds;
use crate::error::DocumentError;
use crate::read::budget::Budget;

/// The decoded size of content streams, tables and fonts. Pictures may be larger.
const LARGEST_CONTENT: usize = 12 << 20;
/// Each takes about fifty bytes of memory.
pub(super) const MOST_OBJECTS: usize = 500_000;
/// The total size of the decoded object streams in the cache.
const MOST_KEPT: usize = 32 << 20;

pub(super) struct File<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) budget: &'a Budget,
    pub(super) places: BTreeMap<u32, ObjectLocation>,
    pub(super) trailer: Dictionary,
    /// Decoded object streams, with the offsets of their objects.
    kept: RefCell<BTreeMap<u32, Rc<ObjectStream>>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ObjectLocation {
    At(usize),
    /// In an object stream, by its number.
    Within(u32),
}

pub(super) struct ObjectStream {
    content: Vec<u8>,
    pub(super) offsets: BTreeMap<u32, usize>,
}

impl<'a> File<'a> {
    fn new(bytes: &'a [u8], budget: &'a Budget) -> Self {
        let (places, trailer) = (BTreeMap::new(), Dictionary::default());
        Self { bytes, budget, places, trailer, kept: RefCell::default() }
    }

    /// None if its cross-reference tables are broken.
    pub(super) fn by_tables(bytes: &'a [u8], budget: &'a Budget) -> Result<Option<Self>, DocumentError> {
        let mut file = Self::new(bytes, budget);
        match file.follow_tables() {
            Ok(()) => file.open().map(Some),
            Err(DocumentError::Damaged(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn by_search(bytes: &'a [u8], budget: &'a Budget) -> Result<Self, DocumentError> {
        let mut file = Self::new(bytes, budget);
        file.search()?;
        file.open()
    }

    fn open(self) -> Result<Self, DocumentError> {
        if self.trailer.0.contains_key("Encrypt") { Err(DocumentError::Encrypted) } else { Ok(self) }
    }

    pub(super) fn has_pages(&self) -> Result<bool, DocumentError> {
        Ok(self.catalog()?.is_some_and(|catalog| !matches!(catalog.get("Pages"), Object::Null)))
    }

    pub(super) fn catalog(&self) -> Result<Option<Dictionary>, DocumentError> {
        Ok(self.resolve(self.trailer.get("Root"))?.dictionary().cloned())
    }

    /// Resolves a reference, or a short chain of references.
    pub(super) fn resolve<'o>(&self, object: &'o Object) -> Result<Cow<'o, Object>, DocumentError> {
        let Some(mut number) = object.reference() else { return Ok(Cow::Borrowed(object)) };
        for _ in 0..8 {
            match self.load(number)? {
                Object::Reference(next) => number = next,
                object => return Ok(Cow::Owned(object)),
            }
        }
        Ok(Cow::Owned(Object::Null))
    }

    pub(super) fn load(&self, number: u32) -> Result<Object, DocumentError> {
        self.budget.spend(32)?;
        match self.places.get(&number) {
            None => Ok(Object::Null),
            Some(ObjectLocation::At(at)) => {
                let found = Lexer::new(self.bytes, *at, self.budget).indirect(Some(number))?;
                Ok(found.map_or(Object::Null, |(_, object)| object))
            }
            Some(ObjectLocation::Within(container)) => {
                let stream = self.object_stream(*container)?;
                let Some(at) = stream.as_ref().and_then(|stream| stream.offsets.get(&number)) else {
                    return Ok(Object::Null);
                };
                let content = stream.as_ref().map(|stream| stream.content.as_slice()).unwrap_or_default();
                Ok(Lexer::new(content, *at, self.budget).referring()?.unwrap_or(Object::Null))
            }
        }
    }

    pub(super) fn object_stream(&self, number: u32) -> Result<Option<Rc<ObjectStream>>, DocumentError> {
        if let Some(kept) = self.kept.borrow().get(&number) {
            return Ok(Some(Rc::clone(kept)));
        }
        // An object stream must not be in an object stream, which would cause endless recursion.
        let Some(ObjectLocation::At(at)) = self.places.get(&number) else { return Ok(None) };
        let Some((_, Object::Stream(stream))) = Lexer::new(self.bytes, *at, self.budget).indirect(Some(number))? else {
            return Ok(None);
        };
        let Some(unpacked) = self.unpack_object_stream(&stream)? else { return Ok(None) };
        let unpacked = Rc::new(unpacked);
        let mut kept = self.kept.borrow_mut();
        let size: usize = kept.values().map(|stream| stream.content.len()).sum();
        if size + unpacked.content.len() > MOST_KEPT {
            kept.clear();
        }
        kept.insert(number, Rc::clone(&unpacked));
        Ok(Some(unpacked))
    }

    fn unpack_object_stream(&self, stream: &Stream) -> Result<Option<ObjectStream>, DocumentError> {
        let (Some(count), Some(first)) = (stream.dictionary.get("N").whole(), stream.dictionary.get("First").whole())
        else {
            return Ok(None);
        };
        let content = self.content(stream)?;
        let mut lexer = Lexer::new(&content, 0, self.budget);
        let mut offsets = BTreeMap::new();
        for _ in 0..count.min(MOST_OBJECTS) {
            let number =
                lexer.object()?.and_then(|number| number.whole()).and_then(|number| u32::try_from(number).ok());
            let offset = lexer.object()?.and_then(|offset| offset.whole());
            let (Some(number), Some(offset)) = (number, offset) else { break };
            offsets.insert(number, first.saturating_add(offset));
        }
        Ok(Some(ObjectStream { content, offsets }))
    }

    pub(super) fn note(&mut self, number: usize, place: ObjectLocation) -> Result<(), DocumentError> {
        let Ok(number) = u32::try_from(number) else { return Ok(()) };
        self.places.entry(number).or_insert(place);
        if self.places.len() > MOST_OBJECTS {
            return Err(DocumentError::TooLarge("it has more than 500 000 objects"));
        }
        Ok(())
    }

    /// The encoded bytes in the file. Uses the length of the dictionary if it is right.
    pub(super) fn packed(&self, stream: &Stream) -> Result<&'a [u8], DocumentError> {
        let rest = self.bytes.get(stream.start..).unwrap_or_default();
        let length = self.resolve(stream.dictionary.get("Length"))?.whole();
        if let Some(content) = length.and_then(|length| rest.get(..length)) {
            let after = rest.get(content.len()..).unwrap_or_default();
            let spaces = after.iter().take(4).take_while(|byte| is_space(**byte)).count();
            if after.get(spaces..).unwrap_or_default().starts_with(b"endstream") {
                return Ok(content);
            }
        }
        let end = find(rest, b"endstream").or_else(|| find(rest, b"endobj")).unwrap_or(rest.len());
        self.budget.spend(end)?;
        Ok(rest.get(..end).unwrap_or_default())
    }

    pub(super) fn content(&self, stream: &Stream) -> Result<Vec<u8>, DocumentError> {
        let packed = self.packed(stream)?;
        Ok(super::stream::unpacked(self, &stream.dictionary, packed, LARGEST_CONTENT)?.bytes)
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    finds(bytes, wanted).next()
}
