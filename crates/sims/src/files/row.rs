//! The row of a file: what is known of it, and where its bytes are.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Timestamp;
use model::dataset::DatasetFile;
use serde::Deserialize;
use serde_json::{Map, Value};
use world::Record;

use crate::scenario::step::object;

/// The bytes of an upload as the store has them, by hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub sha256: String,
    pub size: u64,
    /// What the client says it is; else it is told by the name.
    pub content_type: Option<String>,
    /// Whether the bytes are UTF-8 without NUL.
    pub is_text: bool,
    /// The pieces of a large file, all of the same size but the last; none when one blob has the whole of it.
    pub chunks: Vec<String>,
}

/// Where the bytes of a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// In the row.
    Inline(Vec<u8>),
    /// In blobs, one after the other.
    Blobs(Vec<String>),
}

/// A file that was opened for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    pub file: DatasetFile,
    pub content: Content,
}

/// As lists show it.
pub(crate) fn listed(record: &Record<'_>) -> Option<DatasetFile> {
    let row = record.json();
    Some(DatasetFile {
        path: record.key.to_owned(),
        size: row.get("size")?.as_u64()?,
        content_type: row.get("content_type")?.as_str()?.to_owned(),
        sha256: row.get("sha256")?.as_str()?.to_owned(),
        modified_at: modified_at(record, &row),
    })
}

/// A dataset's file is as old as the sandbox.
fn modified_at(record: &Record<'_>, row: &Value) -> Timestamp {
    let written = row.get("modified_at").and_then(|at| Timestamp::deserialize(at).ok());
    written.unwrap_or(record.at)
}

pub(crate) fn opened(record: &Record<'_>) -> Option<Opened> {
    let file = listed(record)?;
    let content = content(&record.json())?;
    Some(Opened { file, content })
}

/// Where the bytes of a row's file are; none when the row is none of a file.
pub fn content(row: &Value) -> Option<Content> {
    let text = |member: &str| row.get(member).and_then(Value::as_str);
    if let Some(base64) = text("base64") {
        return STANDARD.decode(base64).ok().map(Content::Inline);
    }
    if let Some(text) = text("text") {
        return Some(Content::Inline(text.as_bytes().to_vec()));
    }
    let chunks = row.get("chunks").and_then(Value::as_array);
    let name = |chunk: &Value| chunk.as_str().map(ToOwned::to_owned);
    match chunks {
        Some(chunks) => chunks.iter().map(name).collect::<Option<Vec<_>>>().map(Content::Blobs),
        None => text("sha256").map(|sha256| Content::Blobs(vec![sha256.to_owned()])),
    }
}

/// The row of what a client wrote.
pub(crate) fn written(path: &str, stored: &Stored, now: Timestamp) -> Map<String, Value> {
    let by_name = || super::content::content_type(path, stored.is_text).to_owned();
    let mut row = object([
        ("sha256", stored.sha256.as_str().into()),
        ("size", stored.size.into()),
        ("content_type", stored.content_type.clone().unwrap_or_else(by_name).into()),
        ("modified_at", now.to_string().into()),
    ]);
    if !stored.chunks.is_empty() {
        row.insert("chunks".to_owned(), stored.chunks.clone().into());
    }
    row
}
