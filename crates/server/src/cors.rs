//! CORS: pages of any origin may call the API, because it uses no cookies. CORS headers are only sent to browsers (requests
//! with `Origin`).

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

/// The response to a preflight request.
pub(crate) fn preflight() -> Response {
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.append(header::VARY, VARY);
    response
}

/// Allows a page to read the response and its exposed headers.
pub(crate) fn add_headers(headers: &mut HeaderMap, has_origin: bool) {
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if has_origin {
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    }
}
