//! The FHIR paths of a sandbox: who asks, the request as the simulator reads it, and errors as OperationOutcome.

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
use crate::base_url;
use crate::envelope::{ApiError, Code};
use crate::extract::{bearer, organization, path_values, peer};
use crate::json_body::{read_whole, refuse_encoding};
use crate::middleware::COMMON_HEADERS;

/// The second is another name for the first.
pub(super) const BASES: [&str; 2] = ["/sandboxes/{sandbox_id}/fhir", "/services/{sandbox_id}/fhir"];

async fn exchange(extract::State(state): extract::State<State>, request: Request) -> Response {
    match answer(&state, request).await {
        Ok(response) => response,
        Err(error) => outcome(error),
    }
}

async fn answer(state: &State, request: Request) -> Result<Response, ApiError> {
    let (mut parts, body) = request.into_parts();
    if parts.uri.path().contains('%') {
        // What is no text is refused; most paths need no such look.
        path_values(&mut parts, state).await?;
    }
    let no_such = || ApiError::new(Code::NotFound, "no such sandbox");
    let sandbox: SandboxId = segment(&parts, 1).parse().map_err(|_| no_such())?;
    let path = raw_path(&parts).to_owned();
    let access = admit(state, &parts, &sandbox, &path).await?;
    let base_url = [base_url::of(&parts, state).as_str(), "/sandboxes/", sandbox.as_str(), "/fhir"].concat();
    pass_on(state, (&parts, body), access, Address { path, base_url, token_url: None }).await
}

/// Where a request reached the sandbox.
pub(crate) struct Address {
    /// After the base address, as it was written.
    pub(crate) path: String,
    pub(crate) base_url: String,
    /// Where tokens are given, if that is not below the base address.
    pub(crate) token_url: Option<String>,
}

/// Hands a request of an admitted caller to the sandbox.
pub(crate) async fn pass_on(
    state: &State,
    (parts, body): (&Parts, Body),
    access: Access,
    address: Address,
) -> Result<Response, ApiError> {
    refuse_encoding(&parts.headers)?;
    let body = read_whole(body, state.app.limits().upload_bytes).await?;
    let answered = fhir::exchange(&state.app, access, message(parts, address, body.into())).await?;
    Ok(render(answered, parts.method == Method::HEAD))
}

/// What a caller without a credential may ask: how to get one.
fn is_open(parts: &Parts, path: &str) -> bool {
    matches!(parts.method, Method::GET | Method::HEAD) && matches!(path, "metadata" | ".well-known/smart-configuration")
}

async fn admit(state: &State, parts: &Parts, sandbox: &SandboxId, path: &str) -> Result<Access, ApiError> {
    if !parts.headers.contains_key(header::AUTHORIZATION) && is_open(parts, path) {
        state.rates.check_key(&peer(parts).to_string())?;
        return Ok(fhir::admit_anyone(&state.app, sandbox).await?);
    }
    let presented = bearer(&parts.headers)?;
    if fhir::token::is_token(presented) {
        return match fhir::admit_token(&state.app, presented, sandbox).await {
            Ok(access) => {
                state.rates.check_key(sandbox.to_string().as_str())?;
                Ok(access)
            }
            Err(error) => {
                state.rates.note_refusal(peer(parts))?;
                Err(error.into())
            }
        };
    }
    let grant = organization(parts, state).await?;
    Ok(fhir::admit_key(&state.app, &grant, sandbox).await?)
}

/// A part of the address as it was written: no id has a letter that must be written otherwise.
fn segment(parts: &Parts, place: usize) -> &str {
    parts.uri.path().trim_start_matches('/').split('/').nth(place).unwrap_or_default()
}

/// The part of the address after the FHIR base, as it was written.
fn raw_path(parts: &Parts) -> &str {
    let after_id = parts.uri.path().splitn(4, '/').nth(3).unwrap_or_default();
    after_id.strip_prefix("fhir").unwrap_or_default().trim_start_matches('/')
}

fn message(parts: &Parts, address: Address, body: Vec<u8>) -> fhir::Request {
    let Address { path, base_url, token_url } = address;
    // From those that were sent, which are fewer than those that matter.
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

fn render(answered: fhir::Response, is_head: bool) -> Response {
    let fhir::Response { status, headers, body, raw } = answered;
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let has_body = !body.is_empty();
    let body = raw.map_or_else(|| Body::from(body), Body::from);
    let mut response = Response::new(if is_head { Body::empty() } else { body });
    *response.status_mut() = status;
    // Those that every answer gets are counted too, so that the map grows once.
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

/// The same status and headers as elsewhere, told as FHIR tells it.
pub(crate) fn outcome(error: ApiError) -> Response {
    let (code, words) = (error.code(), error.shown_message());
    let issue = json!({"severity": "error", "code": issue_code(code), "diagnostics": words});
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

/// Not in the OpenAPI document: FHIR describes itself, at `…/fhir/metadata`.
pub(crate) fn router() -> OpenApiRouter<State> {
    let routes = BASES.iter().fold(Router::new(), |router, base| {
        let below = format!("{base}/{{*path}}");
        router.route(base, any(exchange)).route(&format!("{base}/"), any(exchange)).route(&below, any(exchange))
    });
    routes.into()
}
