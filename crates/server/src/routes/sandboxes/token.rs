//! The token endpoint of a FHIR sandbox (RFC 6749, 4.4): client credentials, in the `Authorization` header or the body.

use std::collections::HashMap;

use app::sandboxes::fhir::token::{self, AccessToken, TokenError, TokenRequest};
use axum::Json;
use axum::Router;
use axum::extract::{self, Request};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::SandboxId;
use serde_json::json;
use utoipa_axum::router::OpenApiRouter;

use crate::State;
use crate::envelope::{ApiError, Code};
use crate::extract::{PathId, peer};
use crate::json_body::{media_type, read_whole, refuse_encoding};

/// A token request is a few hundred bytes.
const MOST_BYTES: u64 = 16 * 1024;

/// What a client can do about a refusal (RFC 6749, 5.2).
enum Refused {
    Invalid(&'static str, StatusCode, &'static str),
    Other(ApiError),
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Refused::Other(error)
    }
}

async fn issue_token(
    extract::State(state): extract::State<State>,
    PathId(sandbox): PathId<SandboxId>,
    request: Request,
) -> Result<Response, Refused> {
    let (parts, body) = request.into_parts();
    let wanted = read(&parts.headers, body).await?;
    match token::issue(&state.app, &sandbox, wanted).await {
        Ok(token) => {
            state.rates.check_key(sandbox.to_string().as_str())?;
            Ok(granted(&token))
        }
        Err(TokenError::InvalidClient) => {
            state.rates.note_refusal(peer(&parts))?;
            let words = "the client id or secret is not this sandbox's, or the sandbox is torn down";
            Err(Refused::Invalid("invalid_client", StatusCode::UNAUTHORIZED, words))
        }
        Err(TokenError::UnsupportedGrantType) => {
            Err(bad("unsupported_grant_type", "grant_type must be client_credentials"))
        }
        Err(TokenError::InvalidScope) => Err(bad(
            "invalid_scope",
            "no scope is one of a system client: ask for system/*.rs, system/Patient.read or their like",
        )),
        Err(TokenError::Failed(error)) => Err(Refused::Other(error.into())),
    }
}

fn bad(error: &'static str, words: &'static str) -> Refused {
    Refused::Invalid(error, StatusCode::BAD_REQUEST, words)
}

async fn read(headers: &HeaderMap, body: axum::body::Body) -> Result<TokenRequest, Refused> {
    refuse_encoding(headers)?;
    if media_type(headers).as_deref() != Some("application/x-www-form-urlencoded") {
        return Err(bad("invalid_request", "send a form: Content-Type application/x-www-form-urlencoded"));
    }
    let bytes = read_whole(body, MOST_BYTES).await?;
    let pairs: Vec<(String, String)> =
        serde_urlencoded::from_bytes(&bytes).map_err(|_| bad("invalid_request", "the form is malformed"))?;
    let mut form: HashMap<String, String> = HashMap::new();
    for (name, value) in pairs {
        if form.insert(name, value).is_some() {
            return Err(bad("invalid_request", "a parameter stands there twice"));
        }
    }
    let mut take = |name: &str| form.remove(name);
    let grant_type = take("grant_type").ok_or_else(|| bad("invalid_request", "grant_type is missing"))?;
    let (in_form, scope) = ((take("client_id"), take("client_secret")), take("scope"));
    let (client_id, client_secret) = match basic(headers)? {
        Some(_) if in_form.1.is_some() => {
            return Err(bad("invalid_request", "authenticate in the header or in the body, not in both"));
        }
        Some(basic) => basic,
        None => (in_form.0.unwrap_or_default(), in_form.1.unwrap_or_default()),
    };
    Ok(TokenRequest { grant_type, client_id, client_secret, scope })
}

/// Client id and secret of a `Basic` header, each form-encoded (RFC 6749, 2.3.1).
fn basic(headers: &HeaderMap) -> Result<Option<(String, String)>, Refused> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let malformed = || bad("invalid_request", "the Authorization header is not of the form Basic BASE64(id:secret)");
    let text = value.to_str().map_err(|_| malformed())?;
    let (scheme, encoded) = text.split_once(' ').ok_or_else(malformed)?;
    if scheme.eq_ignore_ascii_case("bearer") {
        // The key of an organization is not the client's credential: that is in the body.
        return Ok(None);
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(malformed());
    }
    let decoded = STANDARD.decode(encoded.trim()).map_err(|_| malformed())?;
    let decoded = String::from_utf8(decoded).map_err(|_| malformed())?;
    let (id, secret) = decoded.split_once(':').ok_or_else(malformed)?;
    Ok(Some((form_decoded(id), form_decoded(secret))))
}

fn form_decoded(text: &str) -> String {
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(&format!("v={text}")).unwrap_or_default();
    pairs.into_iter().next().map_or_else(|| text.to_owned(), |(_, value)| value)
}

fn granted(token: &AccessToken) -> Response {
    let body = json!({
        "access_token": token.access_token,
        "token_type": "bearer",
        "expires_in": token.expires_in,
        "scope": token.scope,
    });
    uncached((StatusCode::OK, Json(body)).into_response())
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        match self {
            Refused::Invalid(error, status, words) => {
                let body = Json(json!({"error": error, "error_description": words}));
                let mut response = uncached((status, body).into_response());
                if status == StatusCode::UNAUTHORIZED {
                    let challenge = HeaderValue::from_static("Basic realm=\"verial\"");
                    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
                }
                response
            }
            Refused::Other(error) => error.into_response(),
        }
    }
}

fn uncached(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    response
}

/// Not in the OpenAPI document: OAuth describes it, and the sandbox's own SMART configuration names it.
pub(crate) fn router() -> OpenApiRouter<State> {
    let issue = || post(issue_token).fallback(|| async { ApiError::new(Code::MethodNotAllowed, "send a POST") });
    let routes = super::fhir::BASES.iter().fold(Router::new(), |router, base| {
        // The second address is the one that the product's API reference documents.
        router.route(&format!("{base}/auth/token"), issue()).route(&format!("{base}/token"), issue())
    });
    routes.into()
}
