//! Files and directories change their place.

use std::collections::BTreeSet;

use model::event::EventType;
use serde_json::{Map, Value};
use world::{Change, Record};

use super::call::{Answered, Call, Carried, Told};
use super::path::TreePath;
use super::refusal::Refusal;
use super::steps::FILES;
use super::tree::{FOLDERS, Node, Tree};
use super::write::{Parents, check_place};
use crate::scenario::step::object;

/// Rows that one message may move.
const MOST_MOVED: usize = 10_000;

/// From where to where.
#[derive(Clone, Debug)]
pub struct Move {
    pub from: TreePath,
    pub to: TreePath,
    /// Whether a file that is there is replaced.
    pub replaces: bool,
    pub parents: Parents,
}

/// Moves a file, or a directory with all that is in it.
pub fn rename(call: &Call<'_>, wanted: &Move) -> Answered<()> {
    let more = object([("to", wanted.to.as_str().into())]);
    let told = Told { r#type: EventType::FileWrite, operation: "move", path: wanted.from.as_str(), more };
    call.carry_out(told, |tree| {
        check_place(tree, &wanted.to, wanted.parents)?;
        let source = tree.node(&wanted.from);
        check_target(tree, wanted, &source)?;
        let changes = match source {
            Node::File(record) => moved_file(call, tree, &record, wanted),
            Node::Directory if tree.is_standing(wanted.from.as_str()) => return Err(Refusal::Standing),
            Node::Directory if wanted.to.is_below(&wanted.from) => return Err(Refusal::IntoItself),
            Node::Directory if wanted.to == wanted.from => Vec::new(),
            Node::Directory => moved_directory(call, tree, wanted)?,
            Node::Nothing => return Err(Refusal::NotFound),
        };
        Ok(Carried { answer: (), changes, more: Map::new() })
    })
}

fn check_target(tree: &Tree<'_>, wanted: &Move, source: &Node<'_>) -> Result<(), Refusal> {
    if wanted.to.is_root() {
        return Err(Refusal::IsDirectory);
    }
    match (tree.node(&wanted.to), source) {
        _ if wanted.to == wanted.from => Ok(()),
        (Node::Nothing, _) => Ok(()),
        (Node::File(_), Node::File(_)) if wanted.replaces => Ok(()),
        (Node::Directory, Node::Directory) if wanted.replaces && tree.is_empty(&wanted.to) => Ok(()),
        (Node::File(_) | Node::Directory, _) => Err(Refusal::Exists),
    }
}

fn moved_file(call: &Call<'_>, tree: &Tree<'_>, record: &Record<'_>, wanted: &Move) -> Vec<Change> {
    if wanted.from == wanted.to {
        return Vec::new();
    }
    vec![
        call.put(tree.records, FILES, wanted.to.as_str(), row(record)),
        call.remove(tree.records, FILES, wanted.from.as_str()),
    ]
}

/// The row of a dataset's file does not say how old it is: from here on it must.
fn row(record: &Record<'_>) -> Map<String, Value> {
    let mut row = record.json().as_object().cloned().unwrap_or_default();
    row.entry("modified_at").or_insert_with(|| record.at.to_string().into());
    row
}

fn moved_directory(call: &Call<'_>, tree: &Tree<'_>, wanted: &Move) -> Result<Vec<Change>, Refusal> {
    let (old, new) = (wanted.from.prefix(), wanted.to.prefix());
    let mut changes = Vec::new();
    for record in tree.below(FILES, &old) {
        let target = TreePath::exact(&record.key.replacen(&old, &new, 1)).ok_or_else(too_long)?;
        changes.push(call.put(tree.records, FILES, target.as_str(), row(&record)));
        changes.push(call.remove(tree.records, FILES, record.key));
        check_number(changes.len())?;
    }
    for directory in directories(tree, &wanted.from)? {
        let target = format!("{}/", directory.as_str()).replacen(&old, &new, 1);
        let target = TreePath::exact(target.trim_end_matches('/')).ok_or_else(too_long)?;
        changes.push(call.put(tree.records, FOLDERS, target.as_str(), Map::new()));
        changes.push(call.remove(tree.records, FOLDERS, directory.as_str()));
        check_number(changes.len())?;
    }
    Ok(changes)
}

/// A directory and all that are in it.
fn directories(tree: &Tree<'_>, top: &TreePath) -> Result<BTreeSet<TreePath>, Refusal> {
    let mut found = BTreeSet::from([top.clone()]);
    let mut waiting = vec![top.clone()];
    while let Some(directory) = waiting.pop() {
        for entry in tree.children(&directory) {
            if let super::tree::Entry::Directory { path } = entry
                && let Some(path) = TreePath::exact(&path)
                && found.insert(path.clone())
            {
                waiting.push(path);
            }
        }
        check_number(found.len())?;
    }
    Ok(found)
}

fn check_number(rows: usize) -> Result<(), Refusal> {
    if rows > MOST_MOVED { Err(Refusal::Full(format!("at most {MOST_MOVED} changes at once"))) } else { Ok(()) }
}

fn too_long() -> Refusal {
    Refusal::Full("a path would become too long".to_owned())
}
