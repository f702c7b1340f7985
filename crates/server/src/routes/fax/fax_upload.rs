//! Reads the fax to send: JSON, or a multipart form with the document as a file.

use app::Once;
use app::sandboxes::fax::MAX_BYTES;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use futures_util::stream;
use model::FieldErrors;
use model::fax::NewFax;

use crate::State;
use crate::api_error::{ApiError, Code};
use crate::extractors::once;
use crate::json_body::{media_type, parse, read_body, reject_content_encoding};

/// Base64 takes four bytes for three; the rest is for the other fields.
const MAX_JSON_BYTES: u64 = (MAX_BYTES as u64) / 3 * 4 + (64 << 10);
const MAX_FORM_BYTES: u64 = MAX_BYTES as u64 + (64 << 10);
const MAX_PARTS: usize = 20;

/// Extractor: a fax to send, with its document unless it refers to one.
pub(super) struct FaxUpload {
    pub(super) new: NewFax,
    pub(super) document: Option<Bytes>,
    pub(super) once: Option<Once>,
}

impl FromRequest<State> for FaxUpload {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &State) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        reject_content_encoding(&parts.headers)?;
        let is_form = media_type(&parts.headers).is_some_and(|media| media == "multipart/form-data");
        let max_bytes = if is_form { MAX_FORM_BYTES } else { MAX_JSON_BYTES };
        // Both forms carry a file, so the upload limit applies.
        let bytes = read_body(body, max_bytes.min(state.app.limits().upload_bytes)).await?;
        let once = once(&parts, &bytes)?;
        if !is_form {
            return Ok(Self { new: parse(&parts, &bytes)?, document: None, once });
        }
        let (new, document) = read_form(&parts.headers, bytes).await?;
        Ok(Self { new, document: Some(document), once })
    }
}

/// Reads `multipart/form-data` (RFC 7578): the fields of a fax, and one file.
async fn read_form(headers: &HeaderMap, bytes: Bytes) -> Result<(NewFax, Bytes), ApiError> {
    let malformed = |_| ApiError::new(Code::BadRequest, "the form is malformed");
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let boundary = multer::parse_boundary(content_type).map_err(malformed)?;
    let body = stream::once(async move { Ok::<Bytes, std::convert::Infallible>(bytes) });
    let mut parts = multer::Multipart::new(body, boundary);
    let mut errors = FieldErrors::new();
    let (mut to_number, mut document, mut new) = (None, None, NewFax::default());
    for _ in 0..MAX_PARTS {
        let Some(part) = parts.next_field().await.map_err(malformed)? else {
            if document.is_none() {
                errors.add("document", "is required: the file of the fax");
            }
            if to_number.is_none() {
                errors.add("to_number", "is required");
            }
            errors.into_result().map_err(ApiError::invalid)?;
            new.to_number = to_number.unwrap_or_default();
            return Ok((new, document.unwrap_or_default()));
        };
        let name = part.name().unwrap_or_default().to_owned();
        if part.file_name().is_some() || name == "document" {
            if document.replace(part.bytes().await.map_err(malformed)?).is_some() {
                errors.add("document", "must be a single file");
            }
            continue;
        }
        let value = part.text().await.map_err(malformed)?;
        if value.contains('\0') {
            return Err(ApiError::new(Code::BadRequest, "the form has a field with the character U+0000"));
        }
        match name.as_str() {
            "to_number" => to_number = Some(value),
            "subject" => new.subject = Some(value),
            "patient_id" => new.patient_id = Some(value),
            "document_type" => new.document_type = Some(value),
            _ => errors.add(model::reading::shortened(&name, 80), "is not a known field"),
        }
    }
    Err(ApiError::new(Code::PayloadTooLarge, format!("a form can have at most {MAX_PARTS} parts")))
}
