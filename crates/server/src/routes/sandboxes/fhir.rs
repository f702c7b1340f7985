//! The FHIR paths of a sandbox: authenticates, passes requests to the simulator, and renders errors as OperationOutcome.

use app::sandboxes::fhir::{self, Access, HEADERS};
use axum::Router;
use axum::body::Body;
use axum::extract::{self, Request};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use model::{Id, SandboxId};
use serde_json::json;
use utoipa_axum::router::OpenApiRouter;

use crate::State;
use crate::api_error::{ApiError, Code};
use crate::base_url;
use crate::extractors::{bearer, organization, path_values, peer};
use crate::json_body::{read_body, reject_content_encoding};
use crate::middleware::COMMON_HEADERS;

/// The second is an alias of the first.
pub(super) const BASES: [&str; 2] = ["/sandboxes/{sandbox_id}/fhir", "/services/{sandbox_id}/fhir"];

async fn exchange(extract::State(state): extract::State<State>, request: Request) -> Response {
    match handle(&state, request).await {
        Ok(response) => response,
        Err(error) => outcome(error),
    }
}

async fn handle(state: &State, request: Request) -> Result<Response, ApiError> {
    let (mut parts, body) = request.into_parts();
    if parts.uri.path().contains('%') {
        // Paths must be valid UTF-8. The common case skips the check.
        path_values(&mut parts, state).await?;
    }
    let not_found = || ApiError::new(Code::NotFound, "no such sandbox");
    let sandbox: SandboxId = segment(&parts, 1).parse().map_err(|_| not_found())?;
    let path = raw_path(&parts).to_owned();
    let access = authenticate(state, &parts, &sandbox, &path).await?;
    let base_url = [base_url::of(&parts, state).as_str(), "/sandboxes/", sandbox.as_str(), "/fhir"].concat();
    forward(state, (&parts, body), access, Address { path, base_url, token_url: None }).await
}

/// The path and URLs of a request to a sandbox.
pub(crate) struct Address {
    /// The path after the base URL, still percent-encoded.
    pub(crate) path: String,
    pub(crate) base_url: String,
    /// The token endpoint, if it is not below the base URL.
    pub(crate) token_url: Option<String>,
}

/// Passes an authenticated request to the sandbox.
pub(crate) async fn forward(
    state: &State,
    (parts, body): (&Parts, Body),
    access: Access,
    address: Address,
) -> Result<Response, ApiError> {
    reject_content_encoding(&parts.headers)?;
    let body = read_body(body, state.app.limits().upload_bytes).await?;
    let response = fhir::exchange(&state.app, access, message(parts, address, body.into())).await?;
    Ok(render(response, parts.method == Method::HEAD))
}

/// Whether the request needs no credential: the metadata that says how to get one.
fn is_public(parts: &Parts, path: &str) -> bool {
    matches!(parts.method, Method::GET | Method::HEAD) && matches!(path, "metadata" | ".well-known/smart-configuration")
}

async fn authenticate(state: &State, parts: &Parts, sandbox: &SandboxId, path: &str) -> Result<Access, ApiError> {
    if !parts.headers.contains_key(header::AUTHORIZATION) && is_public(parts, path) {
        state.rate_limits.check_key(&peer(parts).to_string())?;
        return Ok(fhir::admit_anyone(&state.app, sandbox).await?);
    }
    let presented = bearer(&parts.headers)?;
    if fhir::token::is_token(presented) {
        return match fhir::admit_token(&state.app, presented, sandbox).await {
            Ok(access) => {
                state.rate_limits.check_key(sandbox.to_string().as_str())?;
                Ok(access)
            }
            Err(error) => {
                state.rate_limits.record_auth_failure(peer(parts))?;
                Err(error.into())
            }
        };
    }
    let grant = organization(parts, state).await?;
    Ok(fhir::admit_key(&state.app, &grant, sandbox).await?)
}

/// A path segment, not percent-decoded: ids contain no characters that need encoding.
fn segment(parts: &Parts, index: usize) -> &str {
    parts.uri.path().trim_start_matches('/').split('/').nth(index).unwrap_or_default()
}

/// The path after the FHIR base, still percent-encoded.
fn raw_path(parts: &Parts) -> &str {
    let after_id = parts.uri.path().splitn(4, '/').nth(3).unwrap_or_default();
    after_id.strip_prefix("fhir").unwrap_or_default().trim_start_matches('/')
}

fn message(parts: &Parts, address: Address, body: Vec<u8>) -> fhir::Request {
    let Address { path, base_url, token_url } = address;
    // Iterates over the sent headers, because they are fewer than those that matter.
    let sent = parts.headers.keys().filter(|name| HEADERS.contains(&name.as_str()));
    let header =
        |name: &HeaderName| Some((name.as_str().to_owned(), parts.headers.get(name)?.to_str().ok()?.to_owned()));
    fhir::Request {
        method: parts.method.as_str().to_owned(),
        path,
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: sent.filter_map(header).collect(),
        body,
        base_url,
        other_paths: Vec::new(),
        token_url,
    }
}

const FHIR_JSON: HeaderValue = HeaderValue::from_static("application/fhir+json; charset=utf-8");

fn render(response: fhir::Response, is_head: bool) -> Response {
    let fhir::Response { status, headers, body, raw } = response;
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let has_body = !body.is_empty();
    let body = raw.map_or_else(|| Body::from(body), Body::from);
    let mut response = Response::new(if is_head { Body::empty() } else { body });
    *response.status_mut() = status;
    // Includes the headers that the middleware adds, so that the map grows only once.
    response.headers_mut().reserve(headers.len() + COMMON_HEADERS);
    if has_body {
        response.headers_mut().insert(header::CONTENT_TYPE, FHIR_JSON);
    }
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}

/// An error response with the usual status and headers, and an OperationOutcome as its body.
pub(crate) fn outcome(error: ApiError) -> Response {
    let (code, message) = (error.code(), error.public_message());
    let issue = json!({"severity": "error", "code": issue_code(code), "diagnostics": message});
    let body = json!({"resourceType": "OperationOutcome", "issue": [issue]}).to_string();
    let mut response = error.into_response();
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_LENGTH);
    headers.insert(header::CONTENT_TYPE, FHIR_JSON);
    *response.body_mut() = body.into();
    response
}

/// <https://hl7.org/fhir/R4/valueset-issue-type.html>
fn issue_code(code: Code) -> &'static str {
    match code {
        Code::ValidationError | Code::BadRequest | Code::RangeNotSatisfiable => "invalid",
        Code::Unauthorized => "login",
        Code::TokenExpired => "expired",
        Code::Forbidden => "forbidden",
        Code::NotFound => "not-found",
        Code::MethodNotAllowed | Code::UnsupportedMediaType => "not-supported",
        Code::Conflict | Code::PreconditionFailed => "conflict",
        Code::PayloadTooLarge => "too-long",
        Code::RateLimited => "throttled",
        Code::InternalError => "exception",
        Code::Unavailable => "transient",
    }
}

/// Not in the OpenAPI document: a FHIR server describes itself at `…/fhir/metadata`.
pub(crate) fn router() -> OpenApiRouter<State> {
    let routes = BASES.iter().fold(Router::new(), |router, base| {
        let below = format!("{base}/{{*path}}");
        router.route(base, any(exchange)).route(&format!("{base}/"), any(exchange)).route(&below, any(exchange))
    });
    routes.into()
}
