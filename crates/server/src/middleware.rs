//! Middleware of every request: request id, log line, metrics, common headers, conditional reads, CORS, compression, and
//! panics as errors.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use app::{App, etag};
use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture, Either};
use model::api_key;
use tower::{Layer, Service};

use crate::api_error::{ApiError, Code};
use crate::net::body_drain::{self, BodyRest};
use crate::{State, compression, cors};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    static CURRENT_REQUEST_ID: HeaderValue;
}

/// The id of the current request.
pub(crate) fn current_request_id() -> String {
    CURRENT_REQUEST_ID.try_with(|id| text(id).to_owned()).unwrap_or_default()
}

pub(crate) fn wrap(router: Router<State>, state: &State) -> Router<State> {
    router
        .fallback(|| async { ApiError::new(Code::NotFound, "no such endpoint") })
        .method_not_allowed_fallback(|| async {
            ApiError::new(Code::MethodNotAllowed, "this endpoint does not support that method")
        })
        .layer(MiddlewareLayer(state.clone()))
}

/// All middleware as one service. Every separate `tower` layer or function would box and clone the layers below it for each
/// request.
#[derive(Clone)]
struct MiddlewareLayer(State);

impl<S> Layer<S> for MiddlewareLayer {
    type Service = Middleware<S>;

    fn layer(&self, inner: S) -> Middleware<S> {
        Middleware { inner, state: self.0.clone() }
    }
}

#[derive(Clone)]
struct Middleware<S> {
    inner: S,
    state: State,
}

impl<S> Service<Request> for Middleware<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let info = RequestInfo::of(&request, &self.state);
        let (request, rest) =
            body_drain::share(request, Duration::from_secs(self.state.app.limits().http_idle_seconds));
        let response = if info.method == Method::OPTIONS {
            Either::Left(future::ready(Ok(cors::preflight())))
        } else {
            Either::Right(self.inner.call(request))
        };
        Box::pin(observe(self.state.clone(), info, rest, response))
    }
}

/// The parts of a request that are needed after the handler has consumed it.
struct RequestInfo {
    /// The request id, as a header value because the response repeats it.
    id: HeaderValue,
    method: Method,
    route: Option<MatchedPath>,
    started: Instant,
    /// The request has an `Origin` header, so it needs CORS headers.
    has_origin: bool,
    /// `If-None-Match` of a read.
    if_none_match: Option<HeaderValue>,
    /// `Accept-Encoding`.
    encodings: Vec<HeaderValue>,
}

impl RequestInfo {
    fn of(request: &Request, state: &State) -> Self {
        let (method, headers) = (request.method(), request.headers());
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        Self {
            id: request_id(headers, &state.app),
            method: method.clone(),
            route: request.extensions().get().cloned(),
            started: Instant::now(),
            has_origin: headers.contains_key(header::ORIGIN),
            if_none_match: headers.get(header::IF_NONE_MATCH).filter(|_| is_read).cloned(),
            encodings: headers.get_all(header::ACCEPT_ENCODING).iter().cloned().collect(),
        }
    }

    /// Turns the response into a 304 if the client already has it.
    fn apply_if_none_match(&self, response: &mut Response) {
        if let Some(tags) = &self.if_none_match
            && response.status() == StatusCode::OK
            && let Some(tag) = response.headers().get(header::ETAG)
            && etag::lists(&strong(tags), tag.to_str().unwrap_or_default())
        {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            *response.body_mut() = Body::empty();
            response.headers_mut().remove(header::CONTENT_LENGTH);
            response.headers_mut().remove(header::CONTENT_TYPE);
        }
    }
}

/// Treats weak tags as strong, as RFC 9110, 13.1.2 allows for reads: compressing proxies make tags weak.
fn strong(tags: &HeaderValue) -> String {
    tags.to_str().unwrap_or_default().replace("W/\"", "\"")
}

async fn observe(
    state: State,
    info: RequestInfo,
    rest: BodyRest,
    response: impl Future<Output = Result<Response, Infallible>> + Send + 'static,
) -> Result<Response, Infallible> {
    let in_flight = state.metrics.track_in_flight();
    let caught = AssertUnwindSafe(response).catch_unwind();
    let handled = CURRENT_REQUEST_ID.scope(info.id.clone(), async move {
        match caught.await {
            Ok(Ok(response)) => response,
            Err(_) => ApiError::internal().into_response(),
        }
    });
    let mut response = if info.method.is_safe() { handled.await } else { run_to_completion(handled).await };
    rest.drain();
    drop(in_flight);
    info.apply_if_none_match(&mut response);
    if info.method != Method::OPTIONS {
        cors::add_headers(response.headers_mut(), info.has_origin);
    }
    let RequestInfo { id, method, route, started, encodings, .. } = info;
    let (status, seconds) = (response.status().as_u16(), started.elapsed().as_secs_f64());
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    tracing::info!(%method, route, status, milliseconds = seconds * 1e3, request_id = text(&id), "request");
    set_common_headers(response.headers_mut(), id);
    state.metrics.record_response(method_label(&method), route, status, seconds);
    Ok(compression::compress_if_accepted(response, encodings).await)
}

/// Runs a request that may change something to its end even if the client disconnects: the state in memory must follow what
/// was written to the database.
async fn run_to_completion(handled: impl Future<Output = Response> + Send + 'static) -> Response {
    tokio::spawn(handled).await.unwrap_or_else(|_| ApiError::internal().into_response())
}

/// The method as a metric label. Unknown methods share one, so that clients cannot create labels.
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

/// How many headers the middleware adds to a response, plus its content type and length.
pub(crate) const COMMON_HEADERS: usize = 9;

fn set_common_headers(headers: &mut HeaderMap, id: HeaderValue) {
    headers.insert(REQUEST_ID, id);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-cache"));
}

/// The caller's own request id if it is valid, else a new one.
fn request_id(headers: &HeaderMap, app: &App) -> HeaderValue {
    let is_valid = |id: &str| {
        (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    };
    // The id is logged, so it must not be a secret.
    let is_harmless = |id: &str| api_key::masked(id) == id;
    let sent = headers.get(REQUEST_ID).filter(|id| is_valid(text(id)) && is_harmless(text(id)));
    let generated = || HeaderValue::try_from(app::new_request_id(app)).unwrap_or(HeaderValue::from_static(""));
    sent.cloned().unwrap_or_else(generated)
}

fn text(id: &HeaderValue) -> &str {
    id.to_str().unwrap_or_default()
}
