//! Responses with the content of a fax.

use app::sandboxes::fax::Served;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::api_error::{ApiError, Code};

/// An agent's bytes must never be rendered as a page of this server.
pub(super) fn bytes(served: Served) -> Response {
    let content_type = HeaderValue::from_str(&served.content_type);
    let headers = [
        (header::CONTENT_TYPE, content_type.unwrap_or(HeaderValue::from_static("application/octet-stream"))),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, served.bytes).into_response()
}

/// Parses a page number: `3.png`, or just `3`.
pub(super) fn page_number(segment: &str) -> Result<usize, ApiError> {
    let number = segment.strip_suffix(".png").unwrap_or(segment);
    let is_plain = (1..=4).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|_| is_plain);
    number.ok_or_else(|| ApiError::new(Code::NotFound, "no such page"))
}

/// Adds the URLs of the page images. `list_url` is the URL of the list that the fax belongs to.
pub(super) fn with_page_urls(mut fax: Value, list_url: &str) -> Value {
    let (id, count) = (fax["id"].as_str().unwrap_or_default().to_owned(), fax["pages"].as_u64().unwrap_or(0));
    fax["page_urls"] = (1..=count).map(|page| format!("{list_url}/{id}/pages/{page}.png")).collect();
    fax
}
