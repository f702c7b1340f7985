//! A set of documents out of a range: a bit for each.

use std::ops::Range;

use super::codec::{Reader, Writer};
use super::{DocId, LayerError};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct DocSet {
    range: Range<u32>,
    words: Vec<u64>,
}

impl DocSet {
    pub(super) fn new(range: Range<u32>) -> Self {
        let words = vec![0; range.len().div_ceil(64)];
        Self { range, words }
    }

    /// Ignores documents outside the range.
    pub(super) fn insert(&mut self, doc: DocId) {
        let at = doc.number().wrapping_sub(self.range.start) as usize;
        if let Some(word) = self.words.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    pub(super) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn docs(&self) -> Vec<DocId> {
        self.list(|word| word)
    }

    /// The documents of the range that are not in it.
    pub(super) fn others(&self) -> Vec<DocId> {
        let mut docs = self.list(|word| !word);
        docs.truncate(docs.partition_point(|doc| doc.number() < self.range.end));
        docs
    }

    fn list(&self, of: impl Fn(u64) -> u64) -> Vec<DocId> {
        let mut docs = Vec::new();
        for (word, start) in self.words.iter().zip((self.range.start..).step_by(64)) {
            let mut bits = of(*word);
            while bits != 0 {
                docs.push(DocId::new(start + bits.trailing_zeros()));
                bits &= bits - 1;
            }
        }
        docs
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    pub(super) fn encode(&self, writer: &mut Writer) {
        writer.u64s(&self.words);
    }

    pub(super) fn decode(reader: &mut Reader<'_>, range: Range<u32>) -> Result<Self, LayerError> {
        let set = Self { words: reader.u64s()?, range };
        let bits = set.range.len();
        let is_sound = set.words.len() == bits.div_ceil(64)
            && (bits.is_multiple_of(64) || set.words.last().is_none_or(|last| last >> (bits % 64) == 0));
        is_sound.then_some(set).ok_or(LayerError::Damaged("a set of its documents"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_in_it_or_among_the_others() {
        for range in [0..0, 5..6, 3..67, 3..68, 100..300] {
            let mut set = DocSet::new(range.clone());
            let (inside, outside): (Vec<_>, Vec<_>) = range.map(DocId::new).partition(|doc| doc.number() % 3 == 0);
            inside.iter().for_each(|doc| set.insert(*doc));
            assert_eq!((set.docs(), set.others(), set.count()), (inside, outside, set.docs().len()));
        }
    }
}
