//! Operations that write and delete files and directories.

use model::dataset::DatasetFile;
use model::event::EventType;
use serde_json::{Map, Value};

use super::call::{Call, EventInfo, FilesOutcome, OperationResult};
use super::condition::Condition;
use super::error::FilesError;
use super::path::TreePath;
use super::quota::{Quota, Usage};
use super::row::{self, StoredContent};
use super::steps::FILES;
use super::tree::{Tree, TreeNode};
use super::{faults, tree::FOLDERS};
use crate::scenario::step::object;

/// How to handle missing parent directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parents {
    /// They must exist, as in a file system.
    Required,
    /// They are created with the file.
    Created,
}

/// An upload whose bytes are already stored.
#[derive(Clone, Debug)]
pub struct Upload {
    pub path: TreePath,
    pub stored: StoredContent,
    pub condition: Condition,
    pub parents: Parents,
    pub quota: Quota,
    /// Whether an injected fault cut it short.
    pub is_short: bool,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenFile {
    pub file: DatasetFile,
    pub is_new: bool,
}

/// Writes a file. Readers see either the old file or the complete new one.
pub fn write(call: &Call<'_>, upload: &Upload) -> FilesOutcome<WrittenFile> {
    let event =
        EventInfo { r#type: EventType::FileWrite, operation: "write", path: upload.path.as_str(), details: Map::new() };
    call.run(event, |tree| {
        let existing = existing_file(tree, upload)?;
        upload.condition.check(existing.as_ref().map(|file| file.sha256.as_str()))?;
        let (path, stored) = (upload.path.as_str(), &upload.stored);
        let is_same = existing.as_ref().is_some_and(|file| file.sha256 == stored.sha256);
        let bytes = if is_same { 0 } else { stored.size };
        let usage = Usage::of(tree.records).with(bytes, existing.is_none(), upload.quota)?;
        let row = row::uploaded(path, stored, call.context.now);
        let file = DatasetFile {
            path: path.to_owned(),
            size: stored.size,
            content_type: row.get("content_type").and_then(Value::as_str).unwrap_or_default().to_owned(),
            sha256: stored.sha256.clone(),
            modified_at: call.context.now,
        };
        let mut changes = vec![call.put(tree.records, FILES, path, row)];
        changes.extend(usage.change(call, tree.records));
        let mut details = metadata_members(&file);
        if upload.is_short {
            changes.push(faults::count_short_write(call, tree.records));
            details.insert("fault".to_owned(), "short_write".into());
        }
        Ok(OperationResult { answer: WrittenFile { file, is_new: existing.is_none() }, changes, details })
    })
}

/// Checks whether the upload would succeed now, before its bytes are received.
pub fn check_writable(call: &Call<'_>, upload: &Upload) -> Result<(), FilesError> {
    let tree = Tree::of(call.sandbox().ok_or(FilesError::NotFound)?);
    let existing = existing_file(&tree, upload)?;
    upload.condition.check(existing.as_ref().map(|file| file.sha256.as_str()))?;
    // For an existing file it is not known yet whether the bytes are new.
    let bytes = if existing.is_some() { 0 } else { upload.stored.size };
    Usage::of(tree.records).with(bytes, existing.is_none(), upload.quota).map(drop)
}

/// The file at the path of the upload.
fn existing_file(tree: &Tree<'_>, upload: &Upload) -> Result<Option<DatasetFile>, FilesError> {
    check_parents(tree, &upload.path, upload.parents)?;
    match tree.node(&upload.path) {
        TreeNode::Directory => Err(FilesError::IsDirectory),
        TreeNode::File(record) => Ok(row::metadata(&record)),
        TreeNode::Missing => Ok(None),
    }
}

/// Checks that the parent directories exist, or can be created.
pub(super) fn check_parents(tree: &Tree<'_>, path: &TreePath, parents: Parents) -> Result<(), FilesError> {
    if let Some(file) = tree.file_above(path) {
        return Err(FilesError::NotDirectory(file.to_owned()));
    }
    if parents == Parents::Required && !tree.is_directory(path.parent().as_str()) {
        return Err(FilesError::NoDirectory);
    }
    Ok(())
}

/// Deletes a file.
pub fn delete(call: &Call<'_>, path: &TreePath, condition: &Condition) -> FilesOutcome<()> {
    let event =
        EventInfo { r#type: EventType::FileDelete, operation: "delete", path: path.as_str(), details: Map::new() };
    call.run(event, |tree| {
        let record = match tree.node(path) {
            TreeNode::File(record) => record,
            TreeNode::Directory => return Err(FilesError::IsDirectory),
            TreeNode::Missing => return Err(FilesError::NotFound),
        };
        let file = row::metadata(&record);
        condition.check(file.as_ref().map(|file| file.sha256.as_str()))?;
        let mut changes = vec![call.remove(tree.records, FILES, path.as_str())];
        changes.extend(Usage::of(tree.records).without_file().change(call, tree.records));
        let details = file.as_ref().map(metadata_members).unwrap_or_default();
        Ok(OperationResult { answer: (), changes, details })
    })
}

/// Creates an empty directory.
pub fn make_directory(call: &Call<'_>, path: &TreePath, parents: Parents, quota: Quota) -> FilesOutcome<()> {
    let event =
        EventInfo { r#type: EventType::FileWrite, operation: "mkdir", path: path.as_str(), details: Map::new() };
    call.run(event, |tree| {
        check_parents(tree, path, parents)?;
        if !matches!(tree.node(path), TreeNode::Missing) {
            return Err(FilesError::Exists);
        }
        let usage = Usage::of(tree.records).with(0, true, quota)?;
        let mut changes = vec![call.put(tree.records, FOLDERS, path.as_str(), Map::new())];
        changes.extend(usage.change(call, tree.records));
        Ok(OperationResult { answer: (), changes, details: Map::new() })
    })
}

/// Removes an empty directory.
pub fn remove_directory(call: &Call<'_>, path: &TreePath) -> FilesOutcome<()> {
    let event =
        EventInfo { r#type: EventType::FileDelete, operation: "rmdir", path: path.as_str(), details: Map::new() };
    call.run(event, |tree| {
        match tree.node(path) {
            TreeNode::Directory => {}
            TreeNode::File(_) => return Err(FilesError::NotDirectory(path.as_str().to_owned())),
            TreeNode::Missing => return Err(FilesError::NoDirectory),
        }
        if tree.is_permanent(path.as_str()) {
            return Err(FilesError::Permanent);
        }
        if !tree.is_empty(path) {
            return Err(FilesError::NotEmpty);
        }
        let changes = vec![call.remove(tree.records, FOLDERS, path.as_str())];
        Ok(OperationResult { answer: (), changes, details: Map::new() })
    })
}

fn metadata_members(file: &DatasetFile) -> Map<String, Value> {
    object([
        ("size", file.size.into()),
        ("sha256", file.sha256.as_str().into()),
        ("content_type", file.content_type.as_str().into()),
    ])
}
