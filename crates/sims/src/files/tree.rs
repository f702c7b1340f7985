//! The file tree of a sandbox.
//!
//! Files are rows. A directory exists if a path inside of it exists or existed. Directories that were created or removed
//! explicitly have rows.

use std::collections::BTreeSet;
use std::ops::Bound;

use model::dataset::DatasetFile;
use world::{Direction, Lookup, Record, Records, Sandbox, Seq, Window};

use super::config::FilesConfig;
use super::path::TreePath;
use super::read::ListRange;
use super::row;
use super::steps::FILES;

/// The collection of explicitly created directories: `{}` by path.
pub(crate) const FOLDERS: &str = "folders";
/// Directories that always exist.
const PERMANENT_DIRECTORIES: [&str; 2] = ["inbox", "outbox"];
/// How many rows are read at once.
const BATCH_SIZE: usize = 500;

pub(crate) struct Tree<'a> {
    pub(crate) records: &'a Records,
    permanent_directories: Vec<String>,
}

/// What exists at a path.
#[derive(Debug)]
pub(crate) enum TreeNode<'a> {
    Missing,
    File(Record<'a>),
    Directory,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeEntry {
    File(DatasetFile),
    Directory { path: String },
}

impl TreeEntry {
    pub fn path(&self) -> &str {
        match self {
            TreeEntry::File(file) => &file.path,
            TreeEntry::Directory { path } => path,
        }
    }
}

impl<'a> Tree<'a> {
    pub(crate) fn of(sandbox: &'a Sandbox) -> Self {
        let config = FilesConfig::of(&sandbox.config);
        let permanent =
            PERMANENT_DIRECTORIES.iter().map(|name| (*name).to_owned()).chain(config.folders.unwrap_or_default());
        Self { records: &sandbox.records, permanent_directories: permanent.collect() }
    }

    pub(crate) fn node(&self, path: &TreePath) -> TreeNode<'a> {
        match self.file(path.as_str()) {
            Some(record) => TreeNode::File(record),
            None if self.is_directory(path.as_str()) => TreeNode::Directory,
            None => TreeNode::Missing,
        }
    }

    pub(crate) fn file(&self, path: &str) -> Option<Record<'a>> {
        // The record borrows its key, which must live as long as the rows and not only as long as `path`.
        let key = self.records.next_key(FILES, Bound::Included(path)).filter(|key| *key == path)?;
        self.records.get(FILES, key).live()
    }

    /// The file at one of the parent paths, if there is one. The path cannot exist then.
    pub(crate) fn file_above<'p>(&self, path: &'p TreePath) -> Option<&'p str> {
        path.ancestors().find(|ancestor| self.file(ancestor).is_some())
    }

    pub(crate) fn is_permanent(&self, path: &str) -> bool {
        let contains = |directory: &String| directory == path || directory.starts_with(&format!("{path}/"));
        path.is_empty() || self.permanent_directories.iter().any(contains)
    }

    pub(crate) fn is_directory(&self, path: &str) -> bool {
        if self.is_permanent(path) {
            return true;
        }
        let prefix = format!("{path}/");
        match self.records.get(FOLDERS, path) {
            Lookup::Live(_) => true,
            Lookup::Deleted { .. } => self.has_live(FILES, &prefix) || self.has_live(FOLDERS, &prefix),
            Lookup::Unknown => self.ever_had(FILES, &prefix) || self.ever_had(FOLDERS, &prefix),
        }
    }

    fn ever_had(&self, collection: &str, prefix: &str) -> bool {
        let first = self.records.next_key(collection, Bound::Included(prefix));
        first.is_some_and(|key| key.starts_with(prefix))
    }

    fn has_live(&self, collection: &str, prefix: &str) -> bool {
        let window = Window { from: Some((collection, prefix)), direction: Direction::Forward, most: 1 };
        self.records.window(Some(collection), window).iter().any(|record| record.key.starts_with(prefix))
    }

    /// The files of a range, in its direction.
    pub(crate) fn files(&self, range: ListRange<'_>) -> Vec<DatasetFile> {
        let ListRange { prefix, after, direction, limit } = range;
        let mut found: Vec<DatasetFile> = Vec::new();
        // The prefix may be the path of a file, and a window starts after a key.
        if after.is_none() {
            found.extend(self.file(prefix).and_then(|record| row::metadata(&record)));
        }
        let mut from = after.unwrap_or(prefix).to_owned();
        while found.len() < limit {
            let window = Window { from: Some((FILES, &from)), direction, most: BATCH_SIZE };
            let records = self.records.window(Some(FILES), window);
            let before = found.len();
            found.extend(records.iter().filter(|record| record.key.starts_with(prefix)).filter_map(row::metadata));
            match records.last() {
                Some(last) if records.len() == BATCH_SIZE && found.len() > before => from = last.key.to_owned(),
                _ => break,
            }
        }
        found.truncate(limit);
        found
    }

    /// The entries of a directory, by name.
    pub(crate) fn children(&self, directory: &TreePath) -> Vec<TreeEntry> {
        let prefix = directory.prefix();
        let permanent =
            self.permanent_directories.iter().filter_map(|path| name_in(path, &prefix)).map(ToOwned::to_owned);
        let mut names: BTreeSet<String> = permanent.collect();
        for collection in [FILES, FOLDERS] {
            names.extend(self.names(collection, &prefix).map(ToOwned::to_owned));
        }
        names.into_iter().filter_map(|name| self.entry(format!("{prefix}{name}"))).collect()
    }

    pub(crate) fn is_empty(&self, directory: &TreePath) -> bool {
        let prefix = directory.prefix();
        let mut rows = [FILES, FOLDERS].into_iter().flat_map(|collection| self.names(collection, &prefix));
        !self.permanent_directories.iter().any(|path| name_in(path, &prefix).is_some())
            && !rows.any(|name| self.entry(format!("{prefix}{name}")).is_some())
    }

    fn entry(&self, path: String) -> Option<TreeEntry> {
        match self.file(&path) {
            Some(record) => row::metadata(&record).map(TreeEntry::File),
            None => self.is_directory(&path).then_some(TreeEntry::Directory { path }),
        }
    }

    /// The names in a directory according to rows, which may be deleted. A name may occur twice.
    fn names(&self, collection: &'static str, prefix: &str) -> impl Iterator<Item = &'a str> {
        let (records, prefix) = (self.records, prefix.to_owned());
        let mut from = Bound::Included(prefix.clone());
        std::iter::from_fn(move || {
            let key = records.next_key(collection, from.as_ref().map(String::as_str))?;
            let name = name_in(key, &prefix)?;
            // `0` follows `/` in ASCII: continue after all deeper paths.
            let is_deeper = key.len() > prefix.len() + name.len();
            let after_subtree = format!("{prefix}{name}0");
            from = if is_deeper { Bound::Included(after_subtree) } else { Bound::Excluded(key.to_owned()) };
            Some(name)
        })
    }

    /// All live rows of a collection below a directory, by path.
    pub(crate) fn below(&self, collection: &'a str, prefix: &str) -> impl Iterator<Item = Record<'a>> {
        let records = self.records.live(collection, Seq::MAX);
        let prefix = prefix.to_owned();
        records.filter(move |record| record.key.starts_with(&prefix))
    }
}

/// The first segment of the path after the prefix of a directory.
fn name_in<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(prefix)?;
    rest.split('/').next().filter(|name| !name.is_empty())
}
