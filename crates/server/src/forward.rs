//! A small server that hands every request to a function and sends back what that gives: a proxy, for whoever stands between
//! an agent and this server.

use std::future::Future;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;

/// The largest body that is passed on.
const MOST_BYTES: usize = 64 << 20;
/// What is between two machines alone, and what is made anew. A body has been unpacked on the way.
const NOT_PASSED: [&str; 9] = [
    "connection",
    "content-encoding",
    "content-length",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A request on its way.
pub struct Passed {
    pub method: Method,
    /// Path and query.
    pub place: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

/// What goes back.
pub struct Returned {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

/// Until it is dropped.
pub async fn forward<F, Going>(listener: TcpListener, pass: F) -> std::io::Result<()>
where
    F: Fn(Passed) -> Going + Clone + Send + Sync + 'static,
    Going: Future<Output = Returned> + Send + 'static,
{
    let handle = move |request: Request| {
        let pass = pass.clone();
        async move {
            match taken(request).await {
                Some(passed) => answer(pass(passed).await),
                None => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
            }
        }
    };
    axum::serve(listener, Router::new().fallback(handle)).await
}

async fn taken(request: Request) -> Option<Passed> {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MOST_BYTES).await.ok()?;
    let place = parts.uri.path_and_query().map_or("/", |place| place.as_str()).to_owned();
    let text = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    let passed = parts.headers.iter().filter(|(name, _)| is_passed(name.as_str()));
    Some(Passed { method: parts.method, place, headers: passed.filter_map(text).collect(), body })
}

fn answer(returned: Returned) -> Response {
    let mut response = Response::builder().status(returned.status);
    for (name, value) in returned.headers.iter().filter(|(name, _)| is_passed(name)) {
        response = response.header(name, value);
    }
    response.body(Body::from(returned.body)).unwrap_or_else(|_| StatusCode::BAD_GATEWAY.into_response())
}

fn is_passed(name: &str) -> bool {
    !NOT_PASSED.iter().any(|not| name.eq_ignore_ascii_case(not))
}
