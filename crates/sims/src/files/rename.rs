//! Moves files and directories.

use std::collections::BTreeSet;

use model::event::EventType;
use serde_json::{Map, Value};
use world::{Change, Record};

use super::call::{Call, EventInfo, FilesOutcome, OperationResult};
use super::error::FilesError;
use super::path::TreePath;
use super::steps::FILES;
use super::tree::{FOLDERS, Tree, TreeNode};
use super::write::{Parents, check_parents};
use crate::scenario::step::object;

/// The maximum number of changed rows.
const MAX_MOVED: usize = 10_000;

/// What to move where.
#[derive(Clone, Debug)]
pub struct MoveRequest {
    pub from: TreePath,
    pub to: TreePath,
    /// Whether an existing target is replaced.
    pub replaces: bool,
    pub parents: Parents,
}

/// Moves a file, or a directory with its content.
pub fn rename(call: &Call<'_>, request: &MoveRequest) -> FilesOutcome<()> {
    let details = object([("to", request.to.as_str().into())]);
    let event = EventInfo { r#type: EventType::FileWrite, operation: "move", path: request.from.as_str(), details };
    call.run(event, |tree| {
        check_parents(tree, &request.to, request.parents)?;
        let source = tree.node(&request.from);
        check_target(tree, request, &source)?;
        let changes = match source {
            TreeNode::File(record) => moved_file(call, tree, &record, request),
            TreeNode::Directory if tree.is_permanent(request.from.as_str()) => return Err(FilesError::Permanent),
            TreeNode::Directory if request.to.is_below(&request.from) => return Err(FilesError::IntoItself),
            TreeNode::Directory if request.to == request.from => Vec::new(),
            TreeNode::Directory => moved_directory(call, tree, request)?,
            TreeNode::Missing => return Err(FilesError::NotFound),
        };
        Ok(OperationResult { answer: (), changes, details: Map::new() })
    })
}

fn check_target(tree: &Tree<'_>, request: &MoveRequest, source: &TreeNode<'_>) -> Result<(), FilesError> {
    if request.to.is_root() {
        return Err(FilesError::IsDirectory);
    }
    match (tree.node(&request.to), source) {
        _ if request.to == request.from => Ok(()),
        (TreeNode::Missing, _) => Ok(()),
        (TreeNode::File(_), TreeNode::File(_)) if request.replaces => Ok(()),
        (TreeNode::Directory, TreeNode::Directory) if request.replaces && tree.is_empty(&request.to) => Ok(()),
        (TreeNode::File(_) | TreeNode::Directory, _) => Err(FilesError::Exists),
    }
}

fn moved_file(call: &Call<'_>, tree: &Tree<'_>, record: &Record<'_>, request: &MoveRequest) -> Vec<Change> {
    if request.from == request.to {
        return Vec::new();
    }
    vec![
        call.put(tree.records, FILES, request.to.as_str(), row(record)),
        call.remove(tree.records, FILES, request.from.as_str()),
    ]
}

/// The row with its modification time. The row of a dataset file has none, but its copy needs it.
fn row(record: &Record<'_>) -> Map<String, Value> {
    let mut row = record.json().as_object().cloned().unwrap_or_default();
    row.entry("modified_at").or_insert_with(|| record.at.to_string().into());
    row
}

fn moved_directory(call: &Call<'_>, tree: &Tree<'_>, request: &MoveRequest) -> Result<Vec<Change>, FilesError> {
    let (old, new) = (request.from.prefix(), request.to.prefix());
    let mut changes = Vec::new();
    for record in tree.below(FILES, &old) {
        let target = TreePath::exact(&record.key.replacen(&old, &new, 1)).ok_or_else(too_long)?;
        changes.push(call.put(tree.records, FILES, target.as_str(), row(&record)));
        changes.push(call.remove(tree.records, FILES, record.key));
        check_number(changes.len())?;
    }
    for directory in directories(tree, &request.from)? {
        let target = format!("{}/", directory.as_str()).replacen(&old, &new, 1);
        let target = TreePath::exact(target.trim_end_matches('/')).ok_or_else(too_long)?;
        changes.push(call.put(tree.records, FOLDERS, target.as_str(), Map::new()));
        changes.push(call.remove(tree.records, FOLDERS, directory.as_str()));
        check_number(changes.len())?;
    }
    Ok(changes)
}

/// A directory and all directories inside of it.
fn directories(tree: &Tree<'_>, top: &TreePath) -> Result<BTreeSet<TreePath>, FilesError> {
    let mut found = BTreeSet::from([top.clone()]);
    let mut pending = vec![top.clone()];
    while let Some(directory) = pending.pop() {
        for entry in tree.children(&directory) {
            if let super::tree::TreeEntry::Directory { path } = entry
                && let Some(path) = TreePath::exact(&path)
                && found.insert(path.clone())
            {
                pending.push(path);
            }
        }
        check_number(found.len())?;
    }
    Ok(found)
}

fn check_number(rows: usize) -> Result<(), FilesError> {
    if rows > MAX_MOVED { Err(FilesError::Full(format!("at most {MAX_MOVED} changes at once"))) } else { Ok(()) }
}

fn too_long() -> FilesError {
    FilesError::Full("a path would become too long".to_owned())
}
