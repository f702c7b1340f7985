//! Operations that change nothing: list, stat, list a directory, and open a file.

use model::dataset::DatasetFile;
use model::event::EventType;
use serde_json::Map;
use world::Direction;

use super::call::{Call, EventInfo, FilesOutcome, OperationResult};
use super::error::FilesError;
use super::path::TreePath;
use super::row::{self, OpenedFile};
use super::tree::{Tree, TreeEntry, TreeNode};
use crate::scenario::step::object;

/// A range of the list of files.
#[derive(Clone, Copy, Debug)]
pub struct ListRange<'p> {
    pub prefix: &'p str,
    /// Start after this path, in the direction.
    pub after: Option<&'p str>,
    pub direction: Direction,
    pub limit: usize,
}

/// Lists files by path prefix, in the order of their paths.
pub fn list(call: &Call<'_>, range: ListRange<'_>) -> FilesOutcome<Vec<DatasetFile>> {
    let event = read_event("list", range.prefix);
    call.run(event, |tree| {
        let files = tree.files(range);
        let details = object([("files", files.len().into())]);
        Ok(OperationResult { answer: files, changes: Vec::new(), details })
    })
}

/// Returns the file or directory at a path.
pub fn stat(call: &Call<'_>, path: &TreePath) -> FilesOutcome<TreeEntry> {
    call.run(read_event("stat", path.as_str()), |tree| entry(tree, path).map(OperationResult::unchanged))
}

/// Lists a directory by name.
pub fn directory(call: &Call<'_>, path: &TreePath) -> FilesOutcome<Vec<TreeEntry>> {
    call.run(read_event("list", path.as_str()), |tree| match tree.node(path) {
        TreeNode::Directory => {
            let entries = tree.children(path);
            let details = object([("entries", entries.len().into())]);
            Ok(OperationResult { answer: entries, changes: Vec::new(), details })
        }
        TreeNode::File(_) => Err(FilesError::NotDirectory(path.as_str().to_owned())),
        TreeNode::Missing => Err(FilesError::NoDirectory),
    })
}

/// Opens a file for reading. The answer says where its bytes are.
pub fn open(call: &Call<'_>, path: &TreePath) -> FilesOutcome<OpenedFile> {
    call.run(read_event("read", path.as_str()), |tree| {
        let opened = opened(tree, path)?;
        let DatasetFile { size, sha256, content_type, .. } = &opened.file;
        let details = object([
            ("size", (*size).into()),
            ("sha256", sha256.as_str().into()),
            ("content_type", content_type.as_str().into()),
        ]);
        Ok(OperationResult { answer: opened, changes: Vec::new(), details })
    })
}

/// Opens a file without logging, for a client that is going to overwrite it.
pub fn peek(call: &Call<'_>, path: &TreePath) -> Result<OpenedFile, FilesError> {
    let sandbox = call.sandbox().ok_or(FilesError::NotFound)?;
    opened(&Tree::of(sandbox), path)
}

fn opened(tree: &Tree<'_>, path: &TreePath) -> Result<OpenedFile, FilesError> {
    match tree.node(path) {
        TreeNode::File(record) => row::opened(&record).ok_or(FilesError::NotFound),
        TreeNode::Directory => Err(FilesError::IsDirectory),
        TreeNode::Missing => Err(FilesError::NotFound),
    }
}

fn entry(tree: &Tree<'_>, path: &TreePath) -> Result<TreeEntry, FilesError> {
    match tree.node(path) {
        TreeNode::File(record) => row::metadata(&record).map(TreeEntry::File).ok_or(FilesError::NotFound),
        TreeNode::Directory => Ok(TreeEntry::Directory { path: path.as_str().to_owned() }),
        TreeNode::Missing => Err(FilesError::NotFound),
    }
}

fn read_event<'t>(operation: &'t str, path: &'t str) -> EventInfo<'t> {
    EventInfo { r#type: EventType::FileRead, operation, path, details: Map::new() }
}
