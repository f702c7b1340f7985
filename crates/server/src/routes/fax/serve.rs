//! The bytes of a fax on their way to a client.

use app::sandboxes::fax::Served;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::envelope::{ApiError, Code};

/// An agent's bytes must never run as a page of this server.
pub(super) fn bytes(served: Served) -> Response {
    let kind = HeaderValue::from_str(&served.content_type);
    let headers = [
        (header::CONTENT_TYPE, kind.unwrap_or(HeaderValue::from_static("application/octet-stream"))),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, served.bytes).into_response()
}

/// `3.png`, or just `3`.
pub(super) fn page_number(segment: &str) -> Result<usize, ApiError> {
    let number = segment.strip_suffix(".png").unwrap_or(segment);
    let is_plain = (1..=4).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|_| is_plain);
    number.ok_or_else(|| ApiError::new(Code::NotFound, "no such page"))
}
