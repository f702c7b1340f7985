//! Passes over the terms that end too early: terms are sorted by their beginning, and may reach far.

use std::ops::Range;

use super::terms::Terms;

const BLOCK: usize = 64;

/// The greatest end among the terms of each block; empty for terms that have no ends.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Blocks {
    peaks: Vec<[u8; 8]>,
    /// Whether some term ends before it begins.
    pub(super) has_reversed: bool,
}

impl Blocks {
    /// Of terms whose keys begin with eight bytes for the beginning and eight for the end.
    pub(super) fn new(terms: &Terms) -> Self {
        let mut blocks = Self::default();
        for start in (0..terms.len()).step_by(BLOCK) {
            let mut peak = [0; 8];
            for term in start..terms.len().min(start + BLOCK) {
                let (first, last) = ends(terms.key(term));
                blocks.has_reversed |= last < first;
                peak = peak.max(last);
            }
            blocks.peaks.push(peak);
        }
        blocks
    }

    /// The runs among the terms that may hold such as end no earlier.
    pub(super) fn reaching(&self, terms: Range<usize>, least: [u8; 8]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut next = terms.start;
        while next < terms.end {
            let end = terms.end.min((next / BLOCK + 1) * BLOCK);
            if self.peaks.get(next / BLOCK).is_some_and(|peak| *peak >= least) {
                match runs.last_mut() {
                    Some(last) if last.end == next => last.end = end,
                    _ => runs.push(next..end),
                }
            }
            next = end;
        }
        runs
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.peaks.len() * 8
    }
}

fn ends(key: &[u8]) -> ([u8; 8], [u8; 8]) {
    let (first, rest) = key.split_first_chunk().unwrap_or((&[0; 8], &[]));
    (*first, rest.first_chunk().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::DocId;
    use crate::layer::terms::Gathered;

    fn terms(spans: impl Iterator<Item = (u64, u64)>) -> Terms {
        let mut gathered = Gathered::default();
        for (first, last) in spans {
            gathered.add([first.to_be_bytes(), last.to_be_bytes()].as_flattened(), &[], DocId::new(0));
        }
        gathered.finish().unwrap()
    }

    #[test]
    fn only_blocks_that_reach_far_enough_are_left() {
        let blocks = Blocks::new(&terms((0..300).map(|first| (first, if first == 70 { 1000 } else { first + 1 }))));
        assert_eq!(blocks.reaching(0..300, 290_u64.to_be_bytes()), [64..128, 256..300]);
        assert_eq!(blocks.reaching(0..100, 0_u64.to_be_bytes()).first(), Some(&(0..100)));
        assert_eq!(blocks.reaching(65..66, 900_u64.to_be_bytes()).first(), Some(&(65..66)));
        assert!(blocks.reaching(0..300, 2000_u64.to_be_bytes()).is_empty());
        assert!(!blocks.has_reversed && Blocks::new(&terms([(5, 4)].into_iter())).has_reversed);
    }
}
