//! Messages that change one file: it is written, or deleted.

use model::dataset::DatasetFile;
use model::event::EventType;
use serde_json::{Map, Value};

use super::call::{Answered, Call, Carried, Told};
use super::condition::Condition;
use super::path::TreePath;
use super::quota::{Quota, Usage};
use super::refusal::Refusal;
use super::row::{self, Stored};
use super::steps::FILES;
use super::tree::{Node, Tree};
use super::{faults, tree::FOLDERS};
use crate::scenario::step::object;

/// What becomes of directories that are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parents {
    /// They must be there, as in a file system.
    Needed,
    /// They come with the file.
    Made,
}

/// A file whose bytes are stored, to be put at a path.
#[derive(Clone, Debug)]
pub struct Upload {
    pub path: TreePath,
    pub stored: Stored,
    pub condition: Condition,
    pub parents: Parents,
    pub quota: Quota,
    /// Whether an authored fault cut it short.
    pub is_short: bool,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    pub file: DatasetFile,
    pub is_new: bool,
}

/// Puts a file at a path. Readers see the old one or the whole new one.
pub fn write(call: &Call<'_>, upload: &Upload) -> Answered<Written> {
    let told = Told { r#type: EventType::FileWrite, operation: "write", path: upload.path.as_str(), more: Map::new() };
    call.carry_out(told, |tree| {
        let before = current(tree, upload)?;
        upload.condition.check(before.as_ref().map(|file| file.sha256.as_str()))?;
        let (path, stored) = (upload.path.as_str(), &upload.stored);
        let is_same = before.as_ref().is_some_and(|file| file.sha256 == stored.sha256);
        let bytes = if is_same { 0 } else { stored.size };
        let usage = Usage::of(tree.records).with(bytes, before.is_none(), upload.quota)?;
        let row = row::written(path, stored, call.context.now);
        let file = DatasetFile {
            path: path.to_owned(),
            size: stored.size,
            content_type: row.get("content_type").and_then(Value::as_str).unwrap_or_default().to_owned(),
            sha256: stored.sha256.clone(),
            modified_at: call.context.now,
        };
        let mut changes = vec![call.put(tree.records, FILES, path, row)];
        changes.extend(usage.change(call, tree.records));
        let mut more = described(&file);
        if upload.is_short {
            changes.push(faults::note_short_write(call, tree.records));
            more.insert("fault".to_owned(), "short_write".into());
        }
        Ok(Carried { answer: Written { file, is_new: before.is_none() }, changes, more })
    })
}

/// Whether a file could be written there now, before its bytes are taken.
pub fn may_write(call: &Call<'_>, upload: &Upload) -> Result<(), Refusal> {
    let tree = Tree::of(call.sandbox().ok_or(Refusal::NotFound)?);
    let before = current(&tree, upload)?;
    upload.condition.check(before.as_ref().map(|file| file.sha256.as_str()))?;
    // Whether the bytes of a file that is there are new can only be told when they have come.
    let bytes = if before.is_some() { 0 } else { upload.stored.size };
    Usage::of(tree.records).with(bytes, before.is_none(), upload.quota).map(drop)
}

/// The file that is there.
fn current(tree: &Tree<'_>, upload: &Upload) -> Result<Option<DatasetFile>, Refusal> {
    check_place(tree, &upload.path, upload.parents)?;
    match tree.node(&upload.path) {
        Node::Directory => Err(Refusal::IsDirectory),
        Node::File(record) => Ok(row::listed(&record)),
        Node::Nothing => Ok(None),
    }
}

/// Whether something can lie at a path: its directories are there, or can be.
pub(super) fn check_place(tree: &Tree<'_>, path: &TreePath, parents: Parents) -> Result<(), Refusal> {
    if let Some(above) = tree.file_above(path) {
        return Err(Refusal::NotDirectory(above.to_owned()));
    }
    if parents == Parents::Needed && !tree.is_directory(path.parent().as_str()) {
        return Err(Refusal::NoDirectory);
    }
    Ok(())
}

/// Deletes a file.
pub fn delete(call: &Call<'_>, path: &TreePath, condition: &Condition) -> Answered<()> {
    let told = Told { r#type: EventType::FileDelete, operation: "delete", path: path.as_str(), more: Map::new() };
    call.carry_out(told, |tree| {
        let record = match tree.node(path) {
            Node::File(record) => record,
            Node::Directory => return Err(Refusal::IsDirectory),
            Node::Nothing => return Err(Refusal::NotFound),
        };
        let file = row::listed(&record);
        condition.check(file.as_ref().map(|file| file.sha256.as_str()))?;
        let mut changes = vec![call.remove(tree.records, FILES, path.as_str())];
        changes.extend(Usage::of(tree.records).without_file().change(call, tree.records));
        let more = file.as_ref().map(described).unwrap_or_default();
        Ok(Carried { answer: (), changes, more })
    })
}

/// Makes an empty directory.
pub fn make_directory(call: &Call<'_>, path: &TreePath, parents: Parents, quota: Quota) -> Answered<()> {
    let told = Told { r#type: EventType::FileWrite, operation: "mkdir", path: path.as_str(), more: Map::new() };
    call.carry_out(told, |tree| {
        check_place(tree, path, parents)?;
        if !matches!(tree.node(path), Node::Nothing) {
            return Err(Refusal::Exists);
        }
        let usage = Usage::of(tree.records).with(0, true, quota)?;
        let mut changes = vec![call.put(tree.records, FOLDERS, path.as_str(), Map::new())];
        changes.extend(usage.change(call, tree.records));
        Ok(Carried { answer: (), changes, more: Map::new() })
    })
}

/// Takes an empty directory away.
pub fn remove_directory(call: &Call<'_>, path: &TreePath) -> Answered<()> {
    let told = Told { r#type: EventType::FileDelete, operation: "rmdir", path: path.as_str(), more: Map::new() };
    call.carry_out(told, |tree| {
        match tree.node(path) {
            Node::Directory => {}
            Node::File(_) => return Err(Refusal::NotDirectory(path.as_str().to_owned())),
            Node::Nothing => return Err(Refusal::NoDirectory),
        }
        if tree.is_standing(path.as_str()) {
            return Err(Refusal::Standing);
        }
        if !tree.is_empty(path) {
            return Err(Refusal::NotEmpty);
        }
        let changes = vec![call.remove(tree.records, FOLDERS, path.as_str())];
        Ok(Carried { answer: (), changes, more: Map::new() })
    })
}

fn described(file: &DatasetFile) -> Map<String, Value> {
    object([
        ("size", file.size.into()),
        ("sha256", file.sha256.as_str().into()),
        ("content_type", file.content_type.as_str().into()),
    ])
}
