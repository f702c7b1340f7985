//! The file tree of a sandbox: what lies at a path, and what a directory holds.
//!
//! Files are rows. Directories are where files lie or have lain; one that was made or taken away by itself has a row.

use std::collections::BTreeSet;
use std::ops::Bound;

use model::dataset::DatasetFile;
use world::{Direction, Lookup, Record, Records, Sandbox, Seq, Window};

use super::config::FilesConfig;
use super::path::TreePath;
use super::read::Part;
use super::row;
use super::steps::FILES;

/// Directories that were made by themselves, by path: `{}`.
pub(crate) const FOLDERS: &str = "folders";
/// Directories that are always there.
const STANDING: [&str; 2] = ["inbox", "outbox"];
/// Rows that are looked at together.
const AT_ONCE: usize = 500;

pub(crate) struct Tree<'a> {
    pub(crate) records: &'a Records,
    standing: Vec<String>,
}

/// What lies at a path.
#[derive(Debug)]
pub(crate) enum Node<'a> {
    Nothing,
    File(Record<'a>),
    Directory,
}

/// What a directory holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    File(DatasetFile),
    Directory { path: String },
}

impl Entry {
    pub fn path(&self) -> &str {
        match self {
            Entry::File(file) => &file.path,
            Entry::Directory { path } => path,
        }
    }
}

impl<'a> Tree<'a> {
    pub(crate) fn of(sandbox: &'a Sandbox) -> Self {
        let config = FilesConfig::of(&sandbox.config);
        let standing = STANDING.iter().map(|name| (*name).to_owned()).chain(config.folders.unwrap_or_default());
        Self { records: &sandbox.records, standing: standing.collect() }
    }

    pub(crate) fn node(&self, path: &TreePath) -> Node<'a> {
        match self.file(path.as_str()) {
            Some(record) => Node::File(record),
            None if self.is_directory(path.as_str()) => Node::Directory,
            None => Node::Nothing,
        }
    }

    pub(crate) fn file(&self, path: &str) -> Option<Record<'a>> {
        // The key of the record must live as long as the rows: not as long as the question.
        let key = self.records.next_key(FILES, Bound::Included(path)).filter(|key| *key == path)?;
        self.records.get(FILES, key).live()
    }

    /// A file that stands where a directory of this path would have to be.
    pub(crate) fn file_above<'p>(&self, path: &'p TreePath) -> Option<&'p str> {
        path.above().find(|above| self.file(above).is_some())
    }

    pub(crate) fn is_standing(&self, path: &str) -> bool {
        let is_it = |standing: &String| standing == path || standing.starts_with(&format!("{path}/"));
        path.is_empty() || self.standing.iter().any(is_it)
    }

    pub(crate) fn is_directory(&self, path: &str) -> bool {
        if self.is_standing(path) {
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

    /// At most so many files whose paths start so, strictly beyond a path in the direction.
    pub(crate) fn files(&self, part: Part<'_>) -> Vec<DatasetFile> {
        let Part { prefix, from, direction, most } = part;
        let mut found: Vec<DatasetFile> = Vec::new();
        // A prefix may itself be a file's path, and windows begin beyond a key.
        if from.is_none() {
            found.extend(self.file(prefix).and_then(|record| row::listed(&record)));
        }
        let mut from = from.unwrap_or(prefix).to_owned();
        while found.len() < most {
            let window = Window { from: Some((FILES, &from)), direction, most: AT_ONCE };
            let records = self.records.window(Some(FILES), window);
            let before = found.len();
            found.extend(records.iter().filter(|record| record.key.starts_with(prefix)).filter_map(row::listed));
            match records.last() {
                Some(last) if records.len() == AT_ONCE && found.len() > before => from = last.key.to_owned(),
                _ => break,
            }
        }
        found.truncate(most);
        found
    }

    /// What a directory holds, by name.
    pub(crate) fn children(&self, directory: &TreePath) -> Vec<Entry> {
        let prefix = directory.prefix();
        let standing = self.standing.iter().filter_map(|path| name_in(path, &prefix)).map(ToOwned::to_owned);
        let mut names: BTreeSet<String> = standing.collect();
        for collection in [FILES, FOLDERS] {
            names.extend(self.names(collection, &prefix).map(ToOwned::to_owned));
        }
        names.into_iter().filter_map(|name| self.entry(format!("{prefix}{name}"))).collect()
    }

    pub(crate) fn is_empty(&self, directory: &TreePath) -> bool {
        let prefix = directory.prefix();
        let mut rows = [FILES, FOLDERS].into_iter().flat_map(|collection| self.names(collection, &prefix));
        !self.standing.iter().any(|path| name_in(path, &prefix).is_some())
            && !rows.any(|name| self.entry(format!("{prefix}{name}")).is_some())
    }

    fn entry(&self, path: String) -> Option<Entry> {
        match self.file(&path) {
            Some(record) => row::listed(&record).map(Entry::File),
            None => self.is_directory(&path).then_some(Entry::Directory { path }),
        }
    }

    /// The names in a directory that rows tell of, whether anything is there or not. One may come twice.
    fn names(&self, collection: &'static str, prefix: &str) -> impl Iterator<Item = &'a str> {
        let (records, prefix) = (self.records, prefix.to_owned());
        let mut from = Bound::Included(prefix.clone());
        std::iter::from_fn(move || {
            let key = records.next_key(collection, from.as_ref().map(String::as_str))?;
            let name = name_in(key, &prefix)?;
            // `0` comes after `/`: what lies deeper needs not be looked at one by one.
            let is_deeper = key.len() > prefix.len() + name.len();
            let inside = format!("{prefix}{name}0");
            from = if is_deeper { Bound::Included(inside) } else { Bound::Excluded(key.to_owned()) };
            Some(name)
        })
    }

    /// Every live row of a collection that lies below a directory, by path.
    pub(crate) fn below(&self, collection: &'a str, prefix: &str) -> impl Iterator<Item = Record<'a>> {
        let records = self.records.live(collection, Seq::MAX);
        let prefix = prefix.to_owned();
        records.filter(move |record| record.key.starts_with(&prefix))
    }
}

/// The name of what a path is or lies in, seen from a directory.
fn name_in<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(prefix)?;
    rest.split('/').next().filter(|name| !name.is_empty())
}
