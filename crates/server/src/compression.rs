//! Compresses responses when the client accepts it.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures_util::future;
use tower::{Layer, ServiceExt, service_fn};
use tower_http::compression::CompressionLayer;

/// Compresses the response with one of the encodings that the client accepts, if it is large enough.
pub(crate) async fn compress_if_accepted(mut response: Response, encodings: Vec<HeaderValue>) -> Response {
    // Responses that support `Range` are not compressed, because ranges count uncompressed bytes.
    if response.headers().contains_key(header::ACCEPT_RANGES) {
        return response;
    }
    if !encodings.is_empty() {
        return compress(response, encodings).await;
    }
    // Also set for responses that are never compressed, which does no harm.
    if !response.headers().contains_key(header::CONTENT_ENCODING) {
        response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    response
}

/// `CompressionLayer` needs a request and a service, so this builds both around the finished response.
async fn compress(response: Response, encodings: Vec<HeaderValue>) -> Response {
    let mut request = Request::new(Body::empty());
    encodings.into_iter().for_each(|encoding| {
        request.headers_mut().append(header::ACCEPT_ENCODING, encoding);
    });
    let mut response = Some(response);
    let service =
        service_fn(move |_: Request| future::ready(Ok::<Response, Infallible>(response.take().unwrap_or_default())));
    let layer = CompressionLayer::new().no_br().no_deflate();
    match layer.layer(service).oneshot(request).await {
        Ok(response) => response.map(Body::new),
    }
}
