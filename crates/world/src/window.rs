//! Reads records in the order of collection and key, from any position in either direction.

use std::collections::BTreeSet;

use fhir::layer::DocId;

use crate::{Record, Records, Seq, tree};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Backward,
}

/// At most `most` records, strictly beyond a collection and key.
#[derive(Clone, Copy, Debug)]
pub struct Window<'w> {
    pub from: Option<(&'w str, &'w str)>,
    pub direction: Direction,
    pub most: usize,
}

impl Records {
    /// The live records of one or all collections; in descending order if backward.
    pub fn window(&self, collection: Option<&str>, window: Window<'_>) -> Vec<Record<'_>> {
        let mut found = Vec::new();
        for name in self.collections(collection, window) {
            let from = window.from.filter(|(start, _)| *start == name).map(|(_, key)| key);
            let left = window.most - found.len();
            found.extend(self.window_in(name, from, window.direction, left));
            if found.len() >= window.most {
                break;
            }
        }
        found
    }

    /// The collections of a window, in its direction.
    fn collections(&self, only: Option<&str>, window: Window<'_>) -> Vec<&str> {
        let in_layers = self.layers.iter().flat_map(|layer| layer.counts()).map(|(kind, _)| kind.as_str());
        let files = self.has_trees().then_some(tree::FILES);
        let names: BTreeSet<&str> = in_layers.chain(files).chain(self.written_collections()).collect();
        let reached = |name: &&str| match (window.from, window.direction) {
            (None, _) => true,
            (Some((start, _)), Direction::Forward) => *name >= start,
            (Some((start, _)), Direction::Backward) => *name <= start,
        };
        let names = names.into_iter().filter(|name| only.is_none_or(|only| only == *name)).filter(reached);
        match window.direction {
            Direction::Forward => names.collect(),
            Direction::Backward => names.rev().collect(),
        }
    }

    fn window_in<'a>(
        &'a self,
        name: &'a str,
        from: Option<&str>,
        direction: Direction,
        most: usize,
    ) -> Vec<Record<'a>> {
        let mut found = self.own_window(name, from, direction, most);
        found.extend(self.tree_window(name, from, direction, most));
        for at in 0..self.layers.len() {
            found.extend(self.layer_window(at, name, from, direction, most));
        }
        found.sort_by(|left, right| match direction {
            Direction::Forward => left.key.cmp(right.key),
            Direction::Backward => right.key.cmp(left.key),
        });
        found.truncate(most);
        found
    }

    fn own_window<'a>(
        &'a self,
        name: &'a str,
        from: Option<&str>,
        direction: Direction,
        most: usize,
    ) -> Vec<Record<'a>> {
        let Some(records) = self.overlay.get(name) else { return Vec::new() };
        let range = records.range::<str, _>(tree::beyond(from, direction));
        let live = |key: &'a std::sync::Arc<str>| self.get(name, key).live();
        match direction {
            Direction::Forward => range.filter_map(|(key, _)| live(key)).take(most).collect(),
            Direction::Backward => range.rev().filter_map(|(key, _)| live(key)).take(most).collect(),
        }
    }

    fn layer_window<'a>(
        &'a self,
        at: usize,
        name: &'a str,
        from: Option<&str>,
        direction: Direction,
        most: usize,
    ) -> Vec<Record<'a>> {
        let (layer, Ok(kind)) = (&*self.layers[at], name.parse()) else { return Vec::new() };
        let docs = layer.of_type(kind);
        let beyond = |doc: u32| match (from, direction, layer.key(DocId::new(doc))) {
            (None, ..) | (_, _, None) => true,
            (Some(from), Direction::Forward, Some((_, key))) => key > from,
            (Some(from), Direction::Backward, Some((_, key))) => key < from,
        };
        let shown = |doc| self.visible(at, DocId::new(doc), Seq::MAX);
        match direction {
            Direction::Forward => {
                let first = partition(&docs, |doc| !beyond(doc));
                (first..docs.end).filter_map(shown).take(most).collect()
            }
            Direction::Backward => {
                let end = partition(&docs, beyond);
                (docs.start..end).rev().filter_map(shown).take(most).collect()
            }
        }
    }
}

/// The first document for which the predicate, true at the start and false at the end, is false.
fn partition(docs: &std::ops::Range<u32>, is_before: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (docs.start, docs.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
