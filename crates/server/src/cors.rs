//! The API may be called from any page: it takes no cookies. The headers are the same for all pages, so they are texts;
//! who is no page is spared them.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

const ANY: HeaderValue = HeaderValue::from_static("*");
const VARY: HeaderValue =
    HeaderValue::from_static("origin, access-control-request-method, access-control-request-headers");
const METHODS: HeaderValue = HeaderValue::from_static("GET,POST,PUT,PATCH,DELETE");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization,content-type,if-match,if-none-match,if-modified-since,if-none-exist,prefer,idempotency-key,x-request-id",
);
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "etag,location,content-location,last-modified,x-request-id,retry-after,idempotent-replayed",
);

/// The answer to a browser that asks whether a page may send what it wants to.
pub(crate) fn preflight() -> Response {
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.append(header::VARY, VARY);
    response
}

/// Lets a page read the answer and those of its headers that it needs.
pub(crate) fn share(headers: &mut HeaderMap, is_of_a_page: bool) {
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if is_of_a_page {
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    }
}
