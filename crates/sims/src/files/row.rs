//! The row of a file: its metadata and where its bytes are.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Timestamp;
use model::dataset::DatasetFile;
use serde::Deserialize;
use serde_json::{Map, Value};
use world::Record;

use crate::scenario::step::object;

/// The stored bytes of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredContent {
    pub sha256: String,
    pub size: u64,
    /// The content type from the client. Without it, the file name decides.
    pub content_type: Option<String>,
    /// Whether the bytes are UTF-8 without NUL.
    pub is_text: bool,
    /// The hashes of the chunks of a large file, which have the same size except the last. Empty for a single blob.
    pub chunks: Vec<String>,
}

/// Where the bytes of a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// In the row.
    Inline(Vec<u8>),
    /// In blobs with these names, in order.
    Blobs(Vec<String>),
}

/// A file that was opened for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenedFile {
    pub file: DatasetFile,
    pub content: Content,
}

/// The metadata of a file.
pub(crate) fn metadata(record: &Record<'_>) -> Option<DatasetFile> {
    let row = record.json();
    Some(DatasetFile {
        path: record.key.to_owned(),
        size: row.get("size")?.as_u64()?,
        content_type: row.get("content_type")?.as_str()?.to_owned(),
        sha256: row.get("sha256")?.as_str()?.to_owned(),
        modified_at: modified_at(record, &row),
    })
}

/// Dataset files have the time of the sandbox's creation.
fn modified_at(record: &Record<'_>, row: &Value) -> Timestamp {
    let written = row.get("modified_at").and_then(|at| Timestamp::deserialize(at).ok());
    written.unwrap_or(record.at)
}

pub(crate) fn opened(record: &Record<'_>) -> Option<OpenedFile> {
    let file = metadata(record)?;
    let content = content(&record.json())?;
    Some(OpenedFile { file, content })
}

/// Where the bytes of a file are. None if the row is not a file.
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

/// The row of an uploaded file.
pub(crate) fn uploaded(path: &str, stored: &StoredContent, now: Timestamp) -> Map<String, Value> {
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
