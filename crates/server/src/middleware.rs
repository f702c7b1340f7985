//! Around every request: an id, a log line, metrics, headers, conditional reads, compression, panics as errors.

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

use crate::envelope::{ApiError, Code};
use crate::linger::{self, Rest};
use crate::{State, compress, cors};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    static CURRENT_REQUEST_ID: HeaderValue;
}

/// The id of the request that is being answered.
pub(crate) fn current_request_id() -> String {
    CURRENT_REQUEST_ID.try_with(|id| text(id).to_owned()).unwrap_or_default()
}

pub(crate) fn wrap(router: Router<State>, state: &State) -> Router<State> {
    router
        .fallback(|| async { ApiError::new(Code::NotFound, "no such endpoint") })
        .method_not_allowed_fallback(|| async {
            ApiError::new(Code::MethodNotAllowed, "this endpoint does not take that method")
        })
        .layer(AroundLayer(state.clone()))
}

/// Everything that is around the handlers, as one service: each layer of its own, and each function among them, boxes and
/// copies all that is below it for every request.
#[derive(Clone)]
struct AroundLayer(State);

impl<S> Layer<S> for AroundLayer {
    type Service = Around<S>;

    fn layer(&self, inner: S) -> Around<S> {
        Around { inner, state: self.0.clone() }
    }
}

#[derive(Clone)]
struct Around<S> {
    inner: S,
    state: State,
}

impl<S> Service<Request> for Around<S>
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
        let asked = Asked::of(&request, &self.state);
        let (request, rest) = linger::lend(request, Duration::from_secs(self.state.app.limits().http_idle_seconds));
        let answer = if asked.method == Method::OPTIONS {
            Either::Left(future::ready(Ok(cors::preflight())))
        } else {
            Either::Right(self.inner.call(request))
        };
        Box::pin(observe(self.state.clone(), asked, rest, answer))
    }
}

/// What the answer depends on after the handler has taken the request.
struct Asked {
    /// As it is answered, so that it is copied once.
    id: HeaderValue,
    method: Method,
    route: Option<MatchedPath>,
    begun: Instant,
    /// A page asks, which a browser lets read the answer only if that says so.
    is_of_a_page: bool,
    /// `If-None-Match` of a read.
    known: Option<HeaderValue>,
    /// `Accept-Encoding`.
    encodings: Vec<HeaderValue>,
}

impl Asked {
    fn of(request: &Request, state: &State) -> Self {
        let (method, headers) = (request.method(), request.headers());
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        Self {
            id: request_id(headers, &state.app),
            method: method.clone(),
            route: request.extensions().get().cloned(),
            begun: Instant::now(),
            is_of_a_page: headers.contains_key(header::ORIGIN),
            known: headers.get(header::IF_NONE_MATCH).filter(|_| is_read).cloned(),
            encodings: headers.get_all(header::ACCEPT_ENCODING).iter().cloned().collect(),
        }
    }

    /// A read whose answer the caller already has is 304.
    fn leave_out_what_is_known(&self, response: &mut Response) {
        if let Some(known) = &self.known
            && response.status() == StatusCode::OK
            && let Some(tag) = response.headers().get(header::ETAG)
            && etag::lists(&strong(known), tag.to_str().unwrap_or_default())
        {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            *response.body_mut() = Body::empty();
            response.headers_mut().remove(header::CONTENT_LENGTH);
            response.headers_mut().remove(header::CONTENT_TYPE);
        }
    }
}

/// For reads a weak tag is as good (RFC 9110, 13.1.2): a proxy that compresses makes tags weak.
fn strong(tags: &HeaderValue) -> String {
    tags.to_str().unwrap_or_default().replace("W/\"", "\"")
}

async fn observe(
    state: State,
    asked: Asked,
    rest: Rest,
    answer: impl Future<Output = Result<Response, Infallible>> + Send + 'static,
) -> Result<Response, Infallible> {
    let in_flight = state.metrics.one_more();
    let caught = AssertUnwindSafe(answer).catch_unwind();
    let answered = CURRENT_REQUEST_ID.scope(asked.id.clone(), async move {
        match caught.await {
            Ok(Ok(response)) => response,
            Err(_) => ApiError::internal().into_response(),
        }
    });
    let mut response = if asked.method.is_safe() { answered.await } else { to_the_end(answered).await };
    rest.read_on();
    drop(in_flight);
    asked.leave_out_what_is_known(&mut response);
    if asked.method != Method::OPTIONS {
        cors::share(response.headers_mut(), asked.is_of_a_page);
    }
    let Asked { id, method, route, begun, encodings, .. } = asked;
    let (status, seconds) = (response.status().as_u16(), begun.elapsed().as_secs_f64());
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    tracing::info!(%method, route, status, milliseconds = seconds * 1e3, request_id = text(&id), "request");
    set_common_headers(response.headers_mut(), id);
    state.metrics.answered(method_label(&method), route, status, seconds);
    Ok(compress::fitting(response, encodings).await)
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

/// How many headers an answer gets here, and its type and length.
pub(crate) const COMMON_HEADERS: usize = 9;

fn set_common_headers(headers: &mut HeaderMap, id: HeaderValue) {
    headers.insert(REQUEST_ID, id);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-cache"));
}

/// The caller's own id, when it is a sane one.
fn request_id(headers: &HeaderMap, app: &App) -> HeaderValue {
    let sane = |id: &str| {
        (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    };
    // It is logged, and a secret must not be.
    let harmless = |id: &str| api_key::masked(id) == id;
    let sent = headers.get(REQUEST_ID).filter(|id| sane(text(id)) && harmless(text(id)));
    let made = || HeaderValue::try_from(app::new_request_id(app)).unwrap_or(HeaderValue::from_static(""));
    sent.cloned().unwrap_or_else(made)
}

fn text(id: &HeaderValue) -> &str {
    id.to_str().unwrap_or_default()
}
