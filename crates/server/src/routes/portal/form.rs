//! Forms as browsers send them: fields, and files where there are some. Everything is bounded.

use app::sandboxes::payer::{self, Attachment};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use futures_util::stream;
use model::FieldErrors;

use crate::envelope::{ApiError, Code};
use crate::json_body::media_type;

/// A form with files, as a whole.
pub(super) const MOST_BYTES: u64 = 48 * 1024 * 1024;
/// A form without files.
pub(super) const MOST_PLAIN_BYTES: u64 = 1024 * 1024;
const MOST_FIELDS: usize = 200;
const LONGEST_FIELD: usize = 100_000;

/// What was filled in.
#[derive(Debug, Default)]
pub(super) struct Form {
    fields: Vec<(String, String)>,
    pub(super) attachments: Vec<Attachment>,
    /// What is wrong with the files; the fields can be used all the same.
    pub(super) faults: FieldErrors,
}

impl Form {
    /// The last of the name; nothing is the empty text.
    pub(super) fn get(&self, name: &str) -> &str {
        self.fields.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(known, _)| known == name)
    }

    pub(super) fn plain(bytes: &[u8]) -> Result<Self, ApiError> {
        let malformed = |_| ApiError::new(Code::BadRequest, "the form cannot be read");
        let fields: Vec<(String, String)> = serde_urlencoded::from_bytes(bytes).map_err(malformed)?;
        Self { fields, ..Self::default() }.bounded()
    }

    fn bounded(self) -> Result<Self, ApiError> {
        let is_long = self.fields.iter().any(|(name, value)| name.len() > 200 || value.len() > LONGEST_FIELD);
        if is_long || self.fields.len() > MOST_FIELDS {
            return Err(ApiError::new(Code::PayloadTooLarge, "the form has too much in it"));
        }
        if self.fields.iter().any(|(_, value)| value.contains('\0')) {
            return Err(ApiError::new(Code::BadRequest, "the form has a field with the character U+0000"));
        }
        // A browser ends lines of a text with both signs.
        let fields = self.fields.into_iter().map(|(name, value)| (name, value.replace("\r\n", "\n"))).collect();
        Ok(Self { fields, ..self })
    }
}

pub(super) fn is_multipart(headers: &HeaderMap) -> bool {
    media_type(headers).is_some_and(|media| media == "multipart/form-data")
}

/// Reads `multipart/form-data` (RFC 7578).
pub(super) async fn read(headers: &HeaderMap, bytes: Bytes) -> Result<Form, ApiError> {
    let malformed = |_| ApiError::new(Code::BadRequest, "the form cannot be read");
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let boundary = multer::parse_boundary(kind).map_err(malformed)?;
    let body = stream::once(async move { Ok::<Bytes, std::convert::Infallible>(bytes) });
    let mut parts = multer::Multipart::new(body, boundary);
    let mut form = Form::default();
    for _ in 0..MOST_FIELDS {
        let Some(part) = parts.next_field().await.map_err(malformed)? else { return form.bounded() };
        let name = part.name().unwrap_or_default().to_owned();
        let Some(file) = part.file_name().map(ToOwned::to_owned) else {
            let value = part.text().await.map_err(malformed)?;
            form.fields.push((name, value));
            continue;
        };
        let kind = part.content_type().map(|kind| kind.essence_str().to_owned());
        let bytes = part.bytes().await.map_err(malformed)?;
        // A browser sends an empty part where no file was chosen.
        if file.is_empty() && bytes.is_empty() {
            continue;
        }
        if form.attachments.len() >= payer::MOST_AT_ONCE {
            form.faults.add("documents", format!("must be at most {} at once", payer::MOST_AT_ONCE));
            continue;
        }
        match Attachment::new(&file, kind.as_deref(), Some(bytes.into())) {
            Ok(attachment) => form.attachments.push(attachment),
            Err(faults) => form.faults.add("documents", faults.to_string()),
        }
    }
    Err(ApiError::new(Code::PayloadTooLarge, format!("a form has at most {MOST_FIELDS} fields")))
}
