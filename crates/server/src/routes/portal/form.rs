//! Parses HTML forms, with and without files, within limits.

use app::sandboxes::payer::{self, Attachment};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use futures_util::stream;
use model::FieldErrors;

use crate::api_error::{ApiError, Code};
use crate::json_body::media_type;

/// Maximum size of a form with files.
pub(super) const MAX_MULTIPART_BYTES: u64 = 48 * 1024 * 1024;
/// Maximum size of a form without files.
pub(super) const MAX_URLENCODED_BYTES: u64 = 1024 * 1024;
const MAX_FIELDS: usize = 200;
const MAX_FIELD_BYTES: usize = 100_000;

/// A submitted form.
#[derive(Debug, Default)]
pub(super) struct Form {
    fields: Vec<(String, String)>,
    pub(super) attachments: Vec<Attachment>,
    /// Errors of the files; the fields can be used anyway.
    pub(super) file_errors: FieldErrors,
}

impl Form {
    /// The last field of that name; empty if there is none.
    pub(super) fn get(&self, name: &str) -> &str {
        self.fields.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(key, _)| key == name)
    }

    pub(super) fn from_urlencoded(bytes: &[u8]) -> Result<Self, ApiError> {
        let malformed = |_| ApiError::new(Code::BadRequest, "the form is malformed");
        let fields: Vec<(String, String)> = serde_urlencoded::from_bytes(bytes).map_err(malformed)?;
        Self { fields, ..Self::default() }.check_limits()
    }

    fn check_limits(self) -> Result<Self, ApiError> {
        let is_long = self.fields.iter().any(|(name, value)| name.len() > 200 || value.len() > MAX_FIELD_BYTES);
        if is_long || self.fields.len() > MAX_FIELDS {
            return Err(ApiError::new(Code::PayloadTooLarge, "the form is too large"));
        }
        if self.fields.iter().any(|(_, value)| value.contains('\0')) {
            return Err(ApiError::new(Code::BadRequest, "the form has a field with the character U+0000"));
        }
        // Browsers end lines with CR LF.
        let fields = self.fields.into_iter().map(|(name, value)| (name, value.replace("\r\n", "\n"))).collect();
        Ok(Self { fields, ..self })
    }
}

pub(super) fn is_multipart(headers: &HeaderMap) -> bool {
    media_type(headers).is_some_and(|media| media == "multipart/form-data")
}

/// Reads `multipart/form-data` (RFC 7578).
pub(super) async fn read_multipart(headers: &HeaderMap, bytes: Bytes) -> Result<Form, ApiError> {
    let malformed = |_| ApiError::new(Code::BadRequest, "the form is malformed");
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let boundary = multer::parse_boundary(content_type).map_err(malformed)?;
    let body = stream::once(async move { Ok::<Bytes, std::convert::Infallible>(bytes) });
    let mut parts = multer::Multipart::new(body, boundary);
    let mut form = Form::default();
    for _ in 0..MAX_FIELDS {
        let Some(part) = parts.next_field().await.map_err(malformed)? else { return form.check_limits() };
        let name = part.name().unwrap_or_default().to_owned();
        let Some(file) = part.file_name().map(ToOwned::to_owned) else {
            let value = part.text().await.map_err(malformed)?;
            form.fields.push((name, value));
            continue;
        };
        let media_type = part.content_type().map(|media_type| media_type.essence_str().to_owned());
        let bytes = part.bytes().await.map_err(malformed)?;
        // A browser sends an empty part where no file was chosen.
        if file.is_empty() && bytes.is_empty() {
            continue;
        }
        if form.attachments.len() >= payer::MAX_DOCUMENTS_PER_MESSAGE {
            form.file_errors.add("documents", format!("must be at most {} at once", payer::MAX_DOCUMENTS_PER_MESSAGE));
            continue;
        }
        match Attachment::new(&file, media_type.as_deref(), Some(bytes.into())) {
            Ok(attachment) => form.attachments.push(attachment),
            Err(errors) => form.file_errors.add("documents", errors.to_string()),
        }
    }
    Err(ApiError::new(Code::PayloadTooLarge, format!("a form can have at most {MAX_FIELDS} fields")))
}
