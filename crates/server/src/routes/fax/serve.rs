//! The bytes of a fax on their way to a client.

use app::sandboxes::fax::Served;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

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

/// The fax with the addresses of its pages as pictures; `faxes` is the address of the list that it stands in.
pub(super) fn with_pages(mut fax: Value, faxes: &str) -> Value {
    let (id, count) = (fax["id"].as_str().unwrap_or_default().to_owned(), fax["pages"].as_u64().unwrap_or(0));
    fax["page_urls"] = (1..=count).map(|page| format!("{faxes}/{id}/pages/{page}.png")).collect();
    fax
}
