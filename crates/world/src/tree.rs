//! The files of a dataset revision as rows by path: the base of a sandbox's file tree, shared by all playgrounds.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use model::dataset::FileContent;
use serde_json::{Value, json};

use crate::records::{Body, Record};
use crate::{Direction, Records, Seq};

/// The collection of files.
pub const FILES: &str = "files";

/// The files of one revision. The contents are stored separately, by their hash.
#[derive(Debug, Default)]
pub struct Tree {
    rows: BTreeMap<Arc<str>, Row>,
}

#[derive(Debug)]
struct Row {
    text: Arc<str>,
    /// The parsed text, once it was needed.
    json: OnceLock<Arc<Value>>,
}

impl Tree {
    /// The rows have no modification time, because a revision is the same wherever it is used.
    pub fn new<'f>(files: impl IntoIterator<Item = (&'f String, &'f FileContent)>) -> Self {
        let row = |(path, file): (&String, &FileContent)| {
            let FileContent { sha256, size, content_type } = file;
            let text = json!({"sha256": sha256, "size": size, "content_type": content_type}).to_string();
            (Arc::from(path.as_str()), Row { text: text.into(), json: OnceLock::new() })
        };
        Self { rows: files.into_iter().map(row).collect() }
    }
}

impl Records {
    /// Adds file trees below the overlay. Later trees take precedence.
    #[must_use]
    pub fn over(mut self, trees: Vec<Arc<Tree>>) -> Self {
        self.trees = trees.into();
        self
    }

    /// The file at a path of the trees.
    pub(crate) fn in_trees<'a>(&'a self, collection: &str, key: &str) -> Option<Record<'a>> {
        if collection != FILES {
            return None;
        }
        let found = self.trees.iter().rev().find_map(|tree| tree.rows.get_key_value(key));
        found.map(|(key, row)| self.of_tree(key, row))
    }

    fn of_tree<'a>(&'a self, key: &'a str, row: &'a Row) -> Record<'a> {
        let body = Body::Own { text: &row.text, json: &row.json };
        Record { collection: FILES, key, version: 1, at: self.baseline, body }
    }

    /// The files of the trees, by key.
    pub(crate) fn in_trees_by_key(&self, collection: &str) -> Box<dyn Iterator<Item = Record<'_>> + '_> {
        match &*self.trees {
            _ if collection != FILES => Box::new(std::iter::empty()),
            [tree] => Box::new(tree.rows.iter().map(|(key, row)| self.of_tree(key, row))),
            trees => {
                let keys: BTreeSet<&str> = trees.iter().flat_map(|tree| tree.rows.keys()).map(|key| &**key).collect();
                Box::new(keys.into_iter().filter_map(|key| self.in_trees(FILES, key)))
            }
        }
    }

    pub(crate) fn has_trees(&self) -> bool {
        self.trees.iter().any(|tree| !tree.rows.is_empty())
    }

    /// At most `most` files of the trees beyond a path, without those that the overlay replaces.
    pub(crate) fn tree_window<'a>(
        &'a self,
        collection: &str,
        from: Option<&str>,
        direction: Direction,
        most: usize,
    ) -> Vec<Record<'a>> {
        if collection != FILES {
            return Vec::new();
        }
        let (below, above) = beyond(from, direction);
        let mut found = BTreeMap::new();
        for tree in self.trees.iter() {
            let range = tree.rows.range::<str, _>((below, above));
            let untouched = |(key, _): &(&Arc<str>, &Row)| !self.is_written(FILES, key, Seq::MAX);
            let rows: Vec<(&'a Arc<str>, &'a Row)> = match direction {
                Direction::Forward => range.filter(untouched).take(most).collect(),
                Direction::Backward => range.rev().filter(untouched).take(most).collect(),
            };
            found.extend(rows);
        }
        found.into_iter().map(|(key, row)| self.of_tree(key, row)).collect()
    }

    /// The first key beyond a bound that was ever in the collection, even if its record is deleted.
    pub fn next_key<'a>(&'a self, collection: &str, from: Bound<&str>) -> Option<&'a str> {
        let range = (from, Bound::Unbounded);
        let written = self.overlay.get(collection).and_then(|records| records.range::<str, _>(range).next());
        let trees = self.trees.iter().filter(|_| collection == FILES);
        let in_trees = trees.filter_map(|tree| tree.rows.range::<str, _>(range).next()).map(|(key, _)| &**key);
        in_trees.chain(written.map(|(key, _)| &**key)).min()
    }
}

/// The range of keys strictly after or before a key.
pub(crate) fn beyond(from: Option<&str>, direction: Direction) -> (Bound<&str>, Bound<&str>) {
    match (from, direction) {
        (None, _) => (Bound::Unbounded, Bound::Unbounded),
        (Some(key), Direction::Forward) => (Bound::Excluded(key), Bound::Unbounded),
        (Some(key), Direction::Backward) => (Bound::Unbounded, Bound::Excluded(key)),
    }
}
