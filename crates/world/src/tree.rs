//! The files of a dataset revision as rows by path: what a sandbox's file tree starts from, shared by every playground.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use model::dataset::FileContent;
use serde_json::{Value, json};

use crate::records::{Body, Record};
use crate::{Direction, Records, Seq};

/// The collection that trees bring rows of.
pub const FILES: &str = "files";

/// One revision's files. The bytes are elsewhere, by their hash.
#[derive(Debug, Default)]
pub struct Tree {
    rows: BTreeMap<Arc<str>, Row>,
}

#[derive(Debug)]
struct Row {
    text: Arc<str>,
    /// The text as JSON, once someone asked.
    json: OnceLock<Arc<Value>>,
}

impl Tree {
    /// When a file was changed last is not in it: a revision is the same wherever it is used.
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
    /// Lays file trees under what was written; later ones lie over earlier ones.
    #[must_use]
    pub fn over(mut self, trees: Vec<Arc<Tree>>) -> Self {
        self.trees = trees.into();
        self
    }

    /// The file that the trees have at a path.
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

    /// What the trees have in a collection, by key.
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

    /// At most so many files of the trees beyond a path, without those that something was written to.
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

    /// The first key beyond a bound that ever was in the collection, even if its record is gone.
    pub fn next_key<'a>(&'a self, collection: &str, from: Bound<&str>) -> Option<&'a str> {
        let range = (from, Bound::Unbounded);
        let written = self.overlay.get(collection).and_then(|records| records.range::<str, _>(range).next());
        let trees = self.trees.iter().filter(|_| collection == FILES);
        let in_trees = trees.filter_map(|tree| tree.rows.range::<str, _>(range).next()).map(|(key, _)| &**key);
        in_trees.chain(written.map(|(key, _)| &**key)).min()
    }
}

/// The keys strictly beyond one.
pub(crate) fn beyond(from: Option<&str>, direction: Direction) -> (Bound<&str>, Bound<&str>) {
    match (from, direction) {
        (None, _) => (Bound::Unbounded, Bound::Unbounded),
        (Some(key), Direction::Forward) => (Bound::Excluded(key), Bound::Unbounded),
        (Some(key), Direction::Backward) => (Bound::Unbounded, Bound::Excluded(key)),
    }
}
