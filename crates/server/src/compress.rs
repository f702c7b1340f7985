//! Answers are compressed for whoever takes that.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures_util::future;
use tower::{Layer, ServiceExt, service_fn};
use tower_http::compression::CompressionLayer;

/// In one of the encodings that the caller takes, if there are any and it is worth it.
pub(crate) async fn fitting(mut response: Response, encodings: Vec<HeaderValue>) -> Response {
    // What can be asked for in parts is sent as it is: its parts are counted in its own bytes.
    if response.headers().contains_key(header::ACCEPT_RANGES) {
        return response;
    }
    if !encodings.is_empty() {
        return compressed(response, encodings).await;
    }
    // Whether it would be worth it is not asked: saying so of one that is never compressed does no harm.
    if !response.headers().contains_key(header::CONTENT_ENCODING) {
        response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    response
}

/// The layer wants a service around the answer and a request that asks for it.
async fn compressed(response: Response, encodings: Vec<HeaderValue>) -> Response {
    let mut request = Request::new(Body::empty());
    encodings.into_iter().for_each(|encoding| {
        request.headers_mut().append(header::ACCEPT_ENCODING, encoding);
    });
    let mut answer = Some(response);
    let answering =
        service_fn(move |_: Request| future::ready(Ok::<Response, Infallible>(answer.take().unwrap_or_default())));
    let layer = CompressionLayer::new().no_br().no_deflate();
    match layer.layer(answering).oneshot(request).await {
        Ok(response) => response.map(Body::new),
    }
}
