//! A fax as it is sent: JSON, or a form with the document as its file.

use app::Once;
use app::sandboxes::fax::MOST_BYTES;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use futures_util::stream;
use model::FieldErrors;
use model::fax::NewFax;

use crate::State;
use crate::envelope::{ApiError, Code};
use crate::extract::once;
use crate::json_body::{media_type, parse, read_whole, refuse_encoding};

/// Base64 takes four bytes for three; the rest is room for the other members.
const MOST_JSON: u64 = (MOST_BYTES as u64) / 3 * 4 + (64 << 10);
const MOST_FORM: u64 = MOST_BYTES as u64 + (64 << 10);
const MOST_PARTS: usize = 20;

/// A fax with its document, unless it refers to one.
pub(super) struct Sent {
    pub(super) new: NewFax,
    pub(super) document: Option<Bytes>,
    pub(super) once: Option<Once>,
}

impl FromRequest<State> for Sent {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &State) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        refuse_encoding(&parts.headers)?;
        let is_form = media_type(&parts.headers).is_some_and(|media| media == "multipart/form-data");
        let most = if is_form { MOST_FORM } else { MOST_JSON };
        // Either way it carries a file.
        let bytes = read_whole(body, most.min(state.app.limits().upload_bytes)).await?;
        let once = once(&parts, &bytes)?;
        if !is_form {
            return Ok(Self { new: parse(&parts, &bytes)?, document: None, once });
        }
        let (new, document) = read(&parts.headers, bytes).await?;
        Ok(Self { new, document: Some(document), once })
    }
}

/// Reads `multipart/form-data` (RFC 7578): the members of a fax, and one file.
async fn read(headers: &HeaderMap, bytes: Bytes) -> Result<(NewFax, Bytes), ApiError> {
    let malformed = |_| ApiError::new(Code::BadRequest, "the form cannot be read");
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let boundary = multer::parse_boundary(kind).map_err(malformed)?;
    let body = stream::once(async move { Ok::<Bytes, std::convert::Infallible>(bytes) });
    let mut parts = multer::Multipart::new(body, boundary);
    let mut errors = FieldErrors::new();
    let (mut to_number, mut document, mut new) = (None, None, NewFax::default());
    for _ in 0..MOST_PARTS {
        let Some(part) = parts.next_field().await.map_err(malformed)? else {
            if document.is_none() {
                errors.add("document", "must be given: the file of the fax");
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
                errors.add("document", "must be one file");
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
            _ => errors.add(model::reading::shortened(&name, 80), "is not a field of a fax"),
        }
    }
    Err(ApiError::new(Code::PayloadTooLarge, format!("a form has at most {MOST_PARTS} parts")))
}
