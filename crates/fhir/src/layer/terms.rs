//! The distinct values that one parameter finds, sorted, each with the documents in which it is found.

use std::collections::HashMap;
use std::ops::Range;

use super::arena::Arena;
use super::codec::{Reader, Writer};
use super::{DocId, LayerError};

/// A value is a key, by which the terms are sorted and looked up, and a context: the rest of the value, usually one of
/// few. Two terms may have one key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Terms {
    keys: Arena,
    /// The number of each term's context; empty if there is only one.
    tags: Vec<u32>,
    contexts: Arena,
    /// Where the documents of each term end; empty if each has one.
    ends: Vec<u32>,
    /// Of one term after the other, sorted for each.
    docs: Vec<DocId>,
}

impl Terms {
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn key(&self, term: usize) -> &[u8] {
        self.keys.get(term)
    }

    pub(super) fn context(&self, term: usize) -> &[u8] {
        self.contexts.get(self.tag(term))
    }

    pub(super) fn tag(&self, term: usize) -> usize {
        self.tags.get(term).copied().unwrap_or_default() as usize
    }

    pub(super) fn contexts(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.contexts.len()).map(|number| self.contexts.get(number))
    }

    /// The documents of consecutive terms, sorted for each of them.
    pub(super) fn docs(&self, terms: Range<usize>) -> &[DocId] {
        let place = if self.ends.is_empty() { terms } else { self.before(terms.start)..self.before(terms.end) };
        self.docs.get(place).unwrap_or_default()
    }

    fn before(&self, term: usize) -> usize {
        term.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or_default() as usize
    }

    pub(super) fn with_key(&self, key: &[u8]) -> Range<usize> {
        let start = self.keys.partition_point(|other| other < key);
        let more = (start..self.len()).take_while(|term| self.key(*term) == key).count();
        start..start + more
    }

    pub(super) fn starting_with(&self, prefix: &[u8]) -> Range<usize> {
        let start = self.keys.partition_point(|key| key < prefix);
        start..self.keys.partition_point(|key| key < prefix || key.starts_with(prefix))
    }

    /// From the first key that is not below to the first that is above.
    pub(super) fn between(&self, least: &[u8], greatest: &[u8]) -> Range<usize> {
        let start = self.keys.partition_point(|key| key < least);
        start..self.keys.partition_point(|key| key < greatest || key.starts_with(greatest)).max(start)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let numbers = self.tags.len() + self.ends.len() + self.docs.len();
        self.keys.memory_bytes() + self.contexts.memory_bytes() + numbers * size_of::<u32>()
    }

    /// Takes parts whose documents follow each other.
    pub(super) fn merge(parts: &[Self]) -> Result<Self, LayerError> {
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(parts.iter().map(Self::len).sum());
        for (part, number) in parts.iter().zip(0..) {
            order.extend((0..part.len()).map(|term| (number, term as u32)));
        }
        let at = |(part, term): (u32, u32)| (&parts[part as usize], term as usize);
        let value = |place| {
            let (part, term) = at(place);
            (part.key(term), part.context(term))
        };
        // Stable, so that equal values keep the order of their documents; quick, because each part is sorted.
        order.sort_by(|left, right| value(*left).cmp(&value(*right)));
        let mut builder = Builder::default();
        for equal in order.chunk_by(|left, right| value(*left) == value(*right)) {
            let (key, context) = value(equal[0]);
            let docs = equal.iter().flat_map(|place| {
                let (part, term) = at(*place);
                part.docs(term..term + 1)
            });
            builder.push(key, context, docs.copied())?;
        }
        builder.finish()
    }

    pub(super) fn encode(&self, writer: &mut Writer) {
        self.keys.encode(writer);
        writer.u32s(&self.tags);
        self.contexts.encode(writer);
        writer.u32s(&self.ends);
        writer.docs(&self.docs);
    }

    /// All documents must lie in the range.
    pub(super) fn decode(reader: &mut Reader<'_>, range: &Range<u32>) -> Result<Self, LayerError> {
        let terms = Self {
            keys: Arena::decode(reader)?,
            tags: reader.u32s()?,
            contexts: Arena::decode(reader)?,
            ends: reader.u32s()?,
            docs: reader.docs()?,
        };
        let count = terms.len();
        let are_ends_sound = match terms.ends.last() {
            Some(last) => terms.ends.len() == count && terms.ends.is_sorted() && *last as usize == terms.docs.len(),
            None => terms.docs.len() == count,
        };
        let is_sound = are_ends_sound
            && (terms.tags.is_empty() || terms.tags.len() == count)
            && terms.tags.iter().all(|tag| (*tag as usize) < terms.contexts.len())
            && terms.docs.iter().all(|doc| range.contains(&doc.number()));
        is_sound.then_some(terms).ok_or(LayerError::Damaged("the values of a parameter"))
    }
}

/// Takes terms in their order.
#[derive(Debug, Default)]
struct Builder {
    keys: Arena,
    tags: Vec<u32>,
    contexts: HashMap<Box<[u8]>, u32>,
    ends: Vec<u32>,
    docs: Vec<DocId>,
}

impl Builder {
    fn push(&mut self, key: &[u8], context: &[u8], docs: impl Iterator<Item = DocId>) -> Result<(), LayerError> {
        self.keys.push(key)?;
        let tag = match self.contexts.get(context) {
            Some(tag) => *tag,
            None => {
                let tag = self.contexts.len() as u32;
                self.contexts.insert(context.into(), tag);
                tag
            }
        };
        self.tags.push(tag);
        self.docs.extend(docs);
        self.ends.push(u32::try_from(self.docs.len()).map_err(|_| LayerError::TooLarge)?);
        Ok(())
    }

    fn finish(mut self) -> Result<Terms, LayerError> {
        let mut sorted: Vec<(Box<[u8]>, u32)> = self.contexts.into_iter().collect();
        sorted.sort_unstable();
        let mut contexts = Arena::default();
        let mut numbers = vec![0; sorted.len()];
        for ((context, tag), number) in sorted.iter().zip(0..) {
            contexts.push(context)?;
            numbers[*tag as usize] = number;
        }
        self.tags.iter_mut().for_each(|tag| *tag = numbers[*tag as usize]);
        if sorted.len() <= 1 {
            self.tags = Vec::new();
        }
        if self.ends.len() == self.docs.len() {
            self.ends = Vec::new();
        }
        self.tags.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.docs.shrink_to_fit();
        let Self { tags, ends, docs, .. } = self;
        Ok(Terms { keys: self.keys.seal(), tags, contexts: contexts.seal(), ends, docs })
    }
}

/// Gathers values in any order, document after document.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// By key, context and the length of the key.
    docs: HashMap<Box<[u8]>, Vec<DocId>>,
    scratch: Vec<u8>,
}

impl Gathered {
    pub(super) fn add(&mut self, key: &[u8], context: &[u8], doc: DocId) {
        self.scratch.clear();
        self.scratch.extend_from_slice(key);
        self.scratch.extend_from_slice(context);
        self.scratch.extend_from_slice(&key.len().to_le_bytes());
        match self.docs.get_mut(self.scratch.as_slice()) {
            Some(docs) if docs.last() == Some(&doc) => {}
            Some(docs) => docs.push(doc),
            None => {
                self.docs.insert(self.scratch.as_slice().into(), vec![doc]);
            }
        }
    }

    pub(super) fn finish(&self) -> Result<Terms, LayerError> {
        let mut sorted: Vec<_> = self.docs.iter().map(|(value, docs)| (split(value), docs)).collect();
        sorted.sort_unstable_by_key(|(value, _)| *value);
        let mut builder = Builder::default();
        for ((key, context), docs) in sorted {
            builder.push(key, context, docs.iter().copied())?;
        }
        builder.finish()
    }
}

fn split(value: &[u8]) -> (&[u8], &[u8]) {
    let (both, length) = value.split_last_chunk().unwrap_or((value, &[0; size_of::<usize>()]));
    both.split_at_checked(usize::from_le_bytes(*length)).unwrap_or((both, &[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(values: &[(&str, &str, u32)]) -> Terms {
        let mut gathered = Gathered::default();
        for (key, context, doc) in values {
            gathered.add(key.as_bytes(), context.as_bytes(), DocId::new(*doc));
        }
        gathered.finish().unwrap()
    }

    #[test]
    fn parts_merge_to_what_one_would_have_been() {
        let values =
            [("b", "x", 0), ("a", "y", 0), ("ab", "", 1), ("b", "x", 1), ("b", "y", 2), ("b", "x", 2), ("c", "x", 3)];
        let whole = terms(&values);
        for cut in 0..=values.len() {
            let cut = values.partition_point(|(.., doc)| *doc < values.get(cut).map_or(9, |value| value.2));
            let parts = [terms(&values[..cut]), terms(&values[cut..])];
            assert_eq!(Terms::merge(&parts).unwrap(), whole);
        }
        assert_eq!(Terms::merge(&[]).unwrap(), Terms::default());
    }

    #[test]
    fn terms_are_found_by_key_prefix_and_bounds() {
        let terms = terms(&[("b", "x", 0), ("a", "y", 0), ("ab", "", 1), ("b", "x", 1), ("b", "y", 2), ("c", "", 3)]);
        assert_eq!(terms.with_key(b"b"), 2..4);
        assert_eq!(terms.with_key(b"aa"), 1..1);
        assert_eq!(terms.starting_with(b"a"), 0..2);
        assert_eq!(terms.starting_with(b""), 0..5);
        assert_eq!(terms.between(b"ab", b"b"), 1..4);
        assert_eq!(terms.between(b"d", b"a"), 5..5);
        assert_eq!(terms.docs(2..4), [0, 1, 2].map(DocId::new));
        assert_eq!((terms.key(3), terms.context(3)), (&b"b"[..], &b"y"[..]));
    }
}
