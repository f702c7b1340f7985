//! Documents of a request. Rows contain their metadata; the bytes are stored separately by their hash.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::FieldErrors;
use model::canonical::sha256_hex;
use model::portal::NewDocument;
use model::reading::{self, Hints, described};
use serde_json::{Value, json};
use world::Change;

use super::context::{PortalContext, PortalError};
use super::rows::DOCUMENTS;

/// A document as sent, with its bytes. Clients may also give only a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    pub name: String,
    pub content_type: String,
    pub bytes: Option<Vec<u8>>,
}

/// The metadata of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    pub name: String,
    pub content_type: String,
    pub size: u64,
    /// None if only the name was given.
    pub sha256: Option<String>,
}

pub const MAX_DOCUMENT_BYTES: usize = 10 * 1024 * 1024;
pub const MAX_DOCUMENTS_PER_MESSAGE: usize = 20;
const MAX_DOCUMENTS_PER_REQUEST: usize = 100;
const MAX_DOCUMENTS: usize = 5000;

impl Attachment {
    /// Validates a name and media type as sent by the client.
    pub fn new(name: &str, content_type: Option<&str>, bytes: Option<Vec<u8>>) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::new();
        // Some browsers send the full path of the file.
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default().trim();
        errors.name("name", name);
        let content_type = content_type.map_or_else(|| type_of(name).to_owned(), str::to_ascii_lowercase);
        if !is_media_type(&content_type) {
            errors.add("content_type", "must be a media type, such as application/pdf");
        }
        if bytes.as_ref().is_some_and(|bytes| bytes.len() > MAX_DOCUMENT_BYTES) {
            errors.add("content", format!("must have at most {MAX_DOCUMENT_BYTES} bytes"));
        }
        errors.into_result().map(|()| Self { name: name.to_owned(), content_type, bytes })
    }

    pub fn metadata(&self) -> Upload {
        let bytes = self.bytes.as_deref();
        Upload {
            name: self.name.clone(),
            content_type: self.content_type.clone(),
            size: bytes.map_or(0, |bytes| bytes.len() as u64),
            sha256: bytes.map(sha256_hex),
        }
    }
}

/// Reads the `documents` of a body. Errors have fields such as `documents.0.name`.
pub fn read(documents: &[Value]) -> Result<Vec<Attachment>, FieldErrors> {
    let mut errors = FieldErrors::new();
    errors.size("documents", documents.len(), MAX_DOCUMENTS_PER_MESSAGE);
    let mut attachments = Vec::new();
    for (index, document) in documents.iter().enumerate().take(MAX_DOCUMENTS_PER_MESSAGE) {
        match read_one(document) {
            Ok(attachment) => attachments.push(attachment),
            Err(item_errors) => errors.nest(&format!("documents.{index}"), item_errors),
        }
    }
    errors.into_result().map(|()| attachments)
}

fn read_one(document: &Value) -> Result<Attachment, FieldErrors> {
    match document {
        Value::String(name) => Attachment::new(name, None, None),
        Value::Object(_) => {
            let required = ["name".to_owned()];
            from_new(&reading::read(document, Hints { required: &required, aliases: &[] }).into_result()?)
        }
        other => Err(FieldErrors::one("", format!("must be an object or a name, is {}", described(other)))),
    }
}

pub fn from_new(new: &NewDocument) -> Result<Attachment, FieldErrors> {
    let bytes = match (&new.content, &new.base64) {
        (Some(_), Some(_)) => return Err(FieldErrors::one("base64", "cannot be combined with `content`")),
        (Some(text), None) => Some(text.clone().into_bytes()),
        (None, Some(base64)) => {
            let decoded = STANDARD.decode(base64).map_err(|_| FieldErrors::one("base64", "is not valid base64"))?;
            Some(decoded)
        }
        (None, None) => None,
    };
    Attachment::new(&new.name, new.content_type.as_deref(), bytes)
}

/// Adds documents to a request or draft. Returns the changes for the documents' rows.
pub(super) fn attach(
    portal: &PortalContext<'_>,
    row: &mut Value,
    uploads: &[Upload],
) -> Result<Vec<Change>, PortalError> {
    if uploads.is_empty() {
        return Ok(Vec::new());
    }
    let existing = row.get("documents").and_then(Value::as_array).cloned().unwrap_or_default();
    if existing.len() + uploads.len() > MAX_DOCUMENTS_PER_REQUEST {
        return Err(PortalError::Conflict(format!("a request has at most {MAX_DOCUMENTS_PER_REQUEST} documents")));
    }
    if portal.count(DOCUMENTS) + uploads.len() > MAX_DOCUMENTS {
        return Err(PortalError::Conflict(format!("the portal stores at most {MAX_DOCUMENTS} documents")));
    }
    let mut documents = existing;
    let mut changes = Vec::new();
    for upload in uploads {
        let id = format!("doc_{}", (portal.context.new_id)());
        let Upload { name, content_type, size, sha256 } = upload;
        let entry = json!({"document_id": id, "name": name, "content_type": content_type, "size": size,
            "sha256": sha256, "uploaded_at": portal.now()});
        let mut document = entry.clone();
        document["request_id"] = row["request_id"].clone();
        document["auth_number"] = row["auth_number"].clone();
        changes.push(portal.put(DOCUMENTS, &id, &document));
        documents.push(entry);
    }
    row["documents"] = documents.into();
    Ok(changes)
}

fn is_media_type(text: &str) -> bool {
    let is_token = |part: &str| {
        (1..=100).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    let essence = text.split(';').next().unwrap_or_default().trim();
    text.len() <= 200
        && text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && essence.split_once('/').is_some_and(|(r#type, subtype)| is_token(r#type) && is_token(subtype))
}

fn type_of(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "pdf" => "application/pdf",
        "txt" => "text/plain",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "tif" | "tiff" => "image/tiff",
        "json" => "application/json",
        "xml" => "application/xml",
        "doc" => "application/msword",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_read_and_validated() {
        let read_one = |document: Value| read(&[document]);
        let named = read_one(json!("C:\\scans\\note.pdf")).unwrap();
        assert_eq!(
            named,
            [Attachment { name: "note.pdf".into(), content_type: "application/pdf".into(), bytes: None }]
        );
        let text = read_one(json!({"name": "a.txt", "content": "hello"})).unwrap();
        assert_eq!(text[0].metadata().sha256.unwrap(), sha256_hex(b"hello"));
        let binary = read_one(json!({"name": "a", "base64": "AAE=", "content_type": "Image/PNG"})).unwrap();
        assert_eq!((binary[0].content_type.as_str(), binary[0].metadata().size), ("image/png", 2));
        for (document, field) in [
            (json!(""), "documents.0.name"),
            (json!("a/\n"), "documents.0.name"),
            (json!(7), "documents.0"),
            (json!({}), "documents.0.name"),
            (json!({"name": "a", "base64": "?"}), "documents.0.base64"),
            (json!({"name": "a", "base64": "", "content": ""}), "documents.0.base64"),
            (json!({"name": "a", "content_type": "pdf"}), "documents.0.content_type"),
            (json!({"name": "a", "content_type": "a/b\r\nx: y"}), "documents.0.content_type"),
            (json!({"name": "a", "url": "b"}), "documents.0.url"),
        ] {
            let errors = read_one(document.clone()).unwrap_err();
            assert_eq!(errors.iter().map(|(name, _)| name).collect::<Vec<_>>(), [field], "{document}");
        }
    }
}
