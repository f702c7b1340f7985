//! The result of an interaction, before it becomes an HTTP response or an entry of a Bundle.

use std::sync::Arc;

use serde_json::Value;
use world::{Change, Record};

use super::moments::http_date;
use super::outcome::Issue;

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) content: ReplyContent,
    pub(crate) changes: Vec<Change>,
}

#[derive(Debug)]
pub(crate) enum ReplyContent {
    None,
    /// A stored version. The event only contains its name.
    Version {
        text: String,
        name: String,
    },
    /// The content of a stored Binary. The event only contains its name.
    Bytes {
        bytes: Vec<u8>,
        name: String,
    },
    /// A version that this request wrote.
    Written {
        json: Value,
        text: Arc<str>,
    },
    /// Generated for this response.
    Generated(Value),
    /// A Bundle of stored versions. The event only contains their names.
    List {
        text: String,
        total: Option<usize>,
        entries: Vec<String>,
    },
    /// A document of the server itself.
    Document {
        text: String,
        name: &'static str,
    },
}

impl Reply {
    pub(crate) fn new(status: u16, content: ReplyContent) -> Self {
        Self { status, headers: Vec::new(), content, changes: Vec::new() }
    }

    /// With the headers that name a version.
    pub(crate) fn versioned(mut self, version: u64, at: model::Timestamp) -> Self {
        self.headers.push(("etag", etag(version)));
        self.headers.push(("last-modified", http_date(at)));
        self
    }

    /// With the header `Warning` for what was ignored, where the answer has no place for it.
    pub(crate) fn warning(mut self, issues: &[Issue]) -> Self {
        if !issues.is_empty() {
            let texts: Vec<&str> = issues.iter().map(|issue| issue.diagnostics.as_str()).collect();
            let text: String = texts.join("; ").chars().take(MAX_WARNING).map(to_header_char).collect();
            self.headers.push(("warning", format!("299 - \"{text}\"")));
        }
        self
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

impl ReplyContent {
    pub(crate) fn into_text(self) -> String {
        match self {
            ReplyContent::None => String::new(),
            ReplyContent::Version { text, .. }
            | ReplyContent::List { text, .. }
            | ReplyContent::Document { text, .. } => text,
            ReplyContent::Written { text, .. } => text.as_ref().to_owned(),
            ReplyContent::Bytes { bytes, .. } => String::from_utf8_lossy(&bytes).into_owned(),
            ReplyContent::Generated(json) => json.to_string(),
        }
    }

    pub(crate) fn into_json(self) -> Option<Value> {
        match self {
            ReplyContent::None => None,
            ReplyContent::Written { json, .. } | ReplyContent::Generated(json) => Some(json),
            // Stored resources are always valid JSON.
            other => serde_json::from_str(&other.into_text()).ok(),
        }
    }
}

/// The maximum length of a Warning header.
const MAX_WARNING: usize = 500;

/// Headers contain only ASCII, and their quoted text no quotes.
fn to_header_char(character: char) -> char {
    match character {
        '"' | '\\' => '\'',
        ' '..='~' => character,
        _ => '?',
    }
}

pub(crate) fn etag(version: u64) -> String {
    format!("W/\"{version}\"")
}

/// `Patient/1/_history/3`
pub(crate) fn version_name(record: &Record<'_>) -> String {
    name_of(record.collection, record.key, record.version)
}

pub(crate) fn name_of(collection: &str, key: &str, version: u64) -> String {
    [collection, "/", key, "/_history/", &version.to_string()].concat()
}

/// The status of a Bundle entry.
pub(crate) fn status_line(status: u16) -> String {
    let reason = match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        409 => "Conflict",
        410 => "Gone",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        _ => "",
    };
    format!("{status} {reason}")
}
