//! Around every request: an id, a log line, metrics, headers, conditional reads, compression, panics as errors.

use std::time::Instant;

use app::{App, etag};
use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use model::api_key;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{Any, CorsLayer};

use crate::envelope::{ApiError, Code};
use crate::metrics::Route;
use crate::{State, linger};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    static CURRENT_REQUEST_ID: String;
}

/// The id of the request that is being answered.
pub(crate) fn current_request_id() -> String {
    CURRENT_REQUEST_ID.try_with(Clone::clone).unwrap_or_default()
}

pub(crate) fn wrap(router: Router<State>, state: &State) -> Router<State> {
    router
        .fallback(|| async { ApiError::new(Code::NotFound, "no such endpoint") })
        .method_not_allowed_fallback(|| async {
            ApiError::new(Code::MethodNotAllowed, "this endpoint does not take that method")
        })
        // The first is the outermost. Together, because every call of `layer` and every function of ours among them boxes
        // and copies all that is below it for each request: six of them were a sixth of a FHIR read.
        .layer((
            CompressionLayer::new().no_br().no_deflate(),
            axum::middleware::from_fn_with_state(state.clone(), observe),
            cors(),
            CatchPanicLayer::custom(|_| ApiError::internal().into_response()),
        ))
}

/// The API may be called from any page: it takes no cookies.
fn cors() -> CorsLayer {
    let exposed =
        ["etag", "location", "content-location", "last-modified", "x-request-id", "retry-after", "idempotent-replayed"];
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::IF_MATCH,
            header::IF_NONE_MATCH,
            header::IF_MODIFIED_SINCE,
            HeaderName::from_static("if-none-exist"),
            HeaderName::from_static("prefer"),
            HeaderName::from_static("idempotency-key"),
            REQUEST_ID,
        ])
        .expose_headers(exposed.map(HeaderName::from_static))
}

/// A read whose answer the caller already has is 304.
async fn conditional(request: Request, next: Next) -> Response {
    let wanted = match *request.method() {
        Method::GET | Method::HEAD => request.headers().get(header::IF_NONE_MATCH).cloned(),
        _ => None,
    };
    let mut response = linger::read_on(request, next).await;
    if let Some(wanted) = wanted
        && response.status() == StatusCode::OK
        && let Some(tag) = response.headers().get(header::ETAG)
        && etag::lists(&strong(&wanted), tag.to_str().unwrap_or_default())
    {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::empty();
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response.headers_mut().remove(header::CONTENT_TYPE);
    }
    response
}

/// For reads a weak tag is as good (RFC 9110, 13.1.2): a proxy that compresses makes tags weak.
fn strong(tags: &HeaderValue) -> String {
    tags.to_str().unwrap_or_default().replace("W/\"", "\"")
}

async fn observe(axum::extract::State(state): axum::extract::State<State>, request: Request, next: Next) -> Response {
    let id = request_id(request.headers(), &state.app);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let begun = Instant::now();
    state.metrics.in_flight.inc();
    let answering = CURRENT_REQUEST_ID.scope(id.clone(), conditional(request, next));
    let mut response = if method.is_safe() { answering.await } else { to_the_end(answering).await };
    state.metrics.in_flight.dec();
    let (status, seconds) = (response.status().as_u16(), begun.elapsed().as_secs_f64());
    tracing::info!(%method, route, status, milliseconds = seconds * 1e3, request_id = id, "request");
    state.metrics.seconds.observe(seconds);
    let known = method_label(&method);
    state.metrics.requests.get_or_create(&Route { method: known.to_owned(), route, status }).inc();
    set_common_headers(response.headers_mut(), &id);
    response
}

/// Carries out what may change something even if the client goes away: what was written must also become known in memory.
async fn to_the_end(answering: impl Future<Output = Response> + Send + 'static) -> Response {
    tokio::spawn(answering).await.unwrap_or_else(|_| ApiError::internal().into_response())
}

/// A label is one of few: a client must not be able to make new ones.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

fn set_common_headers(headers: &mut HeaderMap, id: &str) {
    if let Ok(value) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-cache"));
}

/// The caller's own id, when it is a sane one.
fn request_id(headers: &HeaderMap, app: &App) -> String {
    let sent = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok());
    let sane = |id: &&str| {
        (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    };
    // It is logged, and a secret must not be.
    let harmless = |id: &&str| api_key::masked(id) == *id;
    sent.filter(sane).filter(harmless).map_or_else(|| app::new_request_id(app), ToOwned::to_owned)
}
