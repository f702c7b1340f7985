//! Documents of a request: how they are sent, and what is kept of them. The bytes lie elsewhere, known by their hash.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::FieldErrors;
use model::canonical::sha256_hex;
use model::portal::NewDocument;
use model::reading::{self, Hints, described};
use serde_json::{Value, json};
use world::Change;

use super::call::{Call, Refusal};
use super::rows::DOCUMENTS;

/// A document with its bytes; none when only its name was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    pub name: String,
    pub content_type: String,
    pub bytes: Option<Vec<u8>>,
}

/// What is known of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    pub name: String,
    pub content_type: String,
    pub size: u64,
    /// None when only its name was given.
    pub sha256: Option<String>,
}

pub const MOST_BYTES: usize = 10 * 1024 * 1024;
/// In one message.
pub const MOST_AT_ONCE: usize = 20;
const MOST_OF_A_REQUEST: usize = 100;
const MOST_OF_A_PORTAL: usize = 5000;

impl Attachment {
    /// Of a name and a type as somebody sent them.
    pub fn new(name: &str, content_type: Option<&str>, bytes: Option<Vec<u8>>) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::new();
        // Some browsers send the path on their machine.
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default().trim();
        errors.name("name", name);
        let content_type = content_type.map_or_else(|| type_of(name).to_owned(), str::to_ascii_lowercase);
        if !is_media_type(&content_type) {
            errors.add("content_type", "must be a media type, such as application/pdf");
        }
        if bytes.as_ref().is_some_and(|bytes| bytes.len() > MOST_BYTES) {
            errors.add("content", format!("must have at most {MOST_BYTES} bytes"));
        }
        errors.into_result().map(|()| Self { name: name.to_owned(), content_type, bytes })
    }

    pub fn described(&self) -> Upload {
        let bytes = self.bytes.as_deref();
        Upload {
            name: self.name.clone(),
            content_type: self.content_type.clone(),
            size: bytes.map_or(0, |bytes| bytes.len() as u64),
            sha256: bytes.map(sha256_hex),
        }
    }
}

/// Reads the `documents` of a body; faults are named like `documents.0.name`.
pub fn read(documents: &[Value]) -> Result<Vec<Attachment>, FieldErrors> {
    let mut errors = FieldErrors::new();
    errors.size("documents", documents.len(), MOST_AT_ONCE);
    let mut attachments = Vec::new();
    for (index, document) in documents.iter().enumerate().take(MOST_AT_ONCE) {
        match read_one(document) {
            Ok(attachment) => attachments.push(attachment),
            Err(faults) => errors.nest(&format!("documents.{index}"), faults),
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
        (Some(_), Some(_)) => return Err(FieldErrors::one("base64", "must not stand beside `content`")),
        (Some(text), None) => Some(text.clone().into_bytes()),
        (None, Some(base64)) => {
            let decoded = STANDARD.decode(base64).map_err(|_| FieldErrors::one("base64", "is not valid base64"))?;
            Some(decoded)
        }
        (None, None) => None,
    };
    Attachment::new(&new.name, new.content_type.as_deref(), bytes)
}

/// Adds documents to a request or draft. The changes are the documents' own rows.
pub(super) fn attach(call: &Call<'_>, row: &mut Value, uploads: &[Upload]) -> Result<Vec<Change>, Refusal> {
    if uploads.is_empty() {
        return Ok(Vec::new());
    }
    let known = row.get("documents").and_then(Value::as_array).cloned().unwrap_or_default();
    if known.len() + uploads.len() > MOST_OF_A_REQUEST {
        return Err(Refusal::Conflict(format!("a request has at most {MOST_OF_A_REQUEST} documents")));
    }
    if call.count(DOCUMENTS) + uploads.len() > MOST_OF_A_PORTAL {
        return Err(Refusal::Conflict(format!("the portal keeps at most {MOST_OF_A_PORTAL} documents")));
    }
    let mut documents = known;
    let mut changes = Vec::new();
    for upload in uploads {
        let id = format!("doc_{}", (call.context.new_id)());
        let Upload { name, content_type, size, sha256 } = upload;
        let entry = json!({"document_id": id, "name": name, "content_type": content_type, "size": size,
            "sha256": sha256, "uploaded_at": call.now()});
        let mut own = entry.clone();
        own["request_id"] = row["request_id"].clone();
        own["auth_number"] = row["auth_number"].clone();
        changes.push(call.put(DOCUMENTS, &id, &own));
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
    let bare = text.split(';').next().unwrap_or_default().trim();
    text.len() <= 200
        && text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && bare.split_once('/').is_some_and(|(kind, of)| is_token(kind) && is_token(of))
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
    fn documents_are_read_or_their_faults_named() {
        let read_one = |document: Value| read(&[document]);
        let named = read_one(json!("C:\\scans\\note.pdf")).unwrap();
        assert_eq!(
            named,
            [Attachment { name: "note.pdf".into(), content_type: "application/pdf".into(), bytes: None }]
        );
        let text = read_one(json!({"name": "a.txt", "content": "hello"})).unwrap();
        assert_eq!(text[0].described().sha256.unwrap(), sha256_hex(b"hello"));
        let binary = read_one(json!({"name": "a", "base64": "AAE=", "content_type": "Image/PNG"})).unwrap();
        assert_eq!((binary[0].content_type.as_str(), binary[0].described().size), ("image/png", 2));
        for (document, place) in [
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
            assert_eq!(errors.iter().map(|(place, _)| place).collect::<Vec<_>>(), [place], "{document}");
        }
    }
}
