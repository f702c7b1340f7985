//! An HTTP proxy: passes every request to a function and returns its response. The audit uses it between an agent and the
//! server.

use std::future::Future;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;

/// The largest body that is forwarded.
const MAX_BODY_BYTES: usize = 64 << 20;
/// Hop-by-hop headers, and headers that the proxy sets itself. Bodies are decompressed on the way.
const NOT_FORWARDED: [&str; 9] = [
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

pub struct ProxyRequest {
    pub method: Method,
    pub path_and_query: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

pub struct ProxyResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

/// Serves until the future is dropped.
pub async fn serve<F, Responding>(listener: TcpListener, handler: F) -> std::io::Result<()>
where
    F: Fn(ProxyRequest) -> Responding + Clone + Send + Sync + 'static,
    Responding: Future<Output = ProxyResponse> + Send + 'static,
{
    let handle = move |request: Request| {
        let handler = handler.clone();
        async move {
            match read(request).await {
                Some(request) => response(handler(request).await),
                None => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
            }
        }
    };
    axum::serve(listener, Router::new().fallback(handle)).await
}

async fn read(request: Request) -> Option<ProxyRequest> {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_BODY_BYTES).await.ok()?;
    let path_and_query = parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let text = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    let forwarded = parts.headers.iter().filter(|(name, _)| is_forwarded(name.as_str()));
    Some(ProxyRequest { method: parts.method, path_and_query, headers: forwarded.filter_map(text).collect(), body })
}

fn response(proxied: ProxyResponse) -> Response {
    let mut response = Response::builder().status(proxied.status);
    for (name, value) in proxied.headers.iter().filter(|(name, _)| is_forwarded(name)) {
        response = response.header(name, value);
    }
    response.body(Body::from(proxied.body)).unwrap_or_else(|_| StatusCode::BAD_GATEWAY.into_response())
}

fn is_forwarded(name: &str) -> bool {
    !NOT_FORWARDED.iter().any(|not| name.eq_ignore_ascii_case(not))
}
