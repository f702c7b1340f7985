//! Messages that change nothing: what lies at a path, what a directory holds, lists, and a file to read.

use model::dataset::DatasetFile;
use model::event::EventType;
use serde_json::Map;
use world::Direction;

use super::call::{Answered, Call, Carried, Told};
use super::path::TreePath;
use super::refusal::Refusal;
use super::row::{self, Opened};
use super::tree::{Entry, Node, Tree};
use crate::scenario::step::object;

/// A part of a list.
#[derive(Clone, Copy, Debug)]
pub struct Part<'p> {
    pub prefix: &'p str,
    /// Strictly beyond this path.
    pub from: Option<&'p str>,
    pub direction: Direction,
    pub most: usize,
}

/// Files whose paths start so, by path; backward ones come in descending order.
pub fn list(call: &Call<'_>, part: Part<'_>) -> Answered<Vec<DatasetFile>> {
    let told = read("list", part.prefix);
    call.carry_out(told, |tree| {
        let files = tree.files(part);
        let more = object([("files", files.len().into())]);
        Ok(Carried { answer: files, changes: Vec::new(), more })
    })
}

/// What lies at a path.
pub fn stat(call: &Call<'_>, path: &TreePath) -> Answered<Entry> {
    call.carry_out(read("stat", path.as_str()), |tree| entry(tree, path).map(Carried::unchanged))
}

/// What a directory holds, by name.
pub fn directory(call: &Call<'_>, path: &TreePath) -> Answered<Vec<Entry>> {
    call.carry_out(read("list", path.as_str()), |tree| match tree.node(path) {
        Node::Directory => {
            let entries = tree.children(path);
            let more = object([("entries", entries.len().into())]);
            Ok(Carried { answer: entries, changes: Vec::new(), more })
        }
        Node::File(_) => Err(Refusal::NotDirectory(path.as_str().to_owned())),
        Node::Nothing => Err(Refusal::NoDirectory),
    })
}

/// A file to read. Its bytes are where the answer says.
pub fn open(call: &Call<'_>, path: &TreePath) -> Answered<Opened> {
    call.carry_out(read("read", path.as_str()), |tree| {
        let opened = opened(tree, path)?;
        let DatasetFile { size, sha256, content_type, .. } = &opened.file;
        let more = object([
            ("size", (*size).into()),
            ("sha256", sha256.as_str().into()),
            ("content_type", content_type.as_str().into()),
        ]);
        Ok(Carried { answer: opened, changes: Vec::new(), more })
    })
}

/// A file as it is, for a client that is going to write it: no event tells of it before it is written.
pub fn peek(call: &Call<'_>, path: &TreePath) -> Result<Opened, Refusal> {
    let sandbox = call.sandbox().ok_or(Refusal::NotFound)?;
    opened(&Tree::of(sandbox), path)
}

fn opened(tree: &Tree<'_>, path: &TreePath) -> Result<Opened, Refusal> {
    match tree.node(path) {
        Node::File(record) => row::opened(&record).ok_or(Refusal::NotFound),
        Node::Directory => Err(Refusal::IsDirectory),
        Node::Nothing => Err(Refusal::NotFound),
    }
}

fn entry(tree: &Tree<'_>, path: &TreePath) -> Result<Entry, Refusal> {
    match tree.node(path) {
        Node::File(record) => row::listed(&record).map(Entry::File).ok_or(Refusal::NotFound),
        Node::Directory => Ok(Entry::Directory { path: path.as_str().to_owned() }),
        Node::Nothing => Err(Refusal::NotFound),
    }
}

fn read<'t>(operation: &'t str, path: &'t str) -> Told<'t> {
    Told { r#type: EventType::FileRead, operation, path, more: Map::new() }
}
