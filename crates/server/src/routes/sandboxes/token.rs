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
use crate::api_error::{ApiError, Code};
use crate::extractors::{PathId, peer};
use crate::json_body::{media_type, read_body, reject_content_encoding};

/// A token request is a few hundred bytes.
const MAX_BODY_BYTES: u64 = 16 * 1024;

/// Error response of the token endpoint (RFC 6749, 5.2).
enum TokenEndpointError {
    Invalid(&'static str, StatusCode, &'static str),
    Other(ApiError),
}

impl From<ApiError> for TokenEndpointError {
    fn from(error: ApiError) -> Self {
        TokenEndpointError::Other(error)
    }
}

async fn issue_token(
    extract::State(state): extract::State<State>,
    PathId(sandbox): PathId<SandboxId>,
    request: Request,
) -> Result<Response, TokenEndpointError> {
    let (parts, body) = request.into_parts();
    let request = read(&parts.headers, body).await?;
    match token::issue(&state.app, &sandbox, request).await {
        Ok(token) => {
            state.rate_limits.check_key(sandbox.to_string().as_str())?;
            Ok(token_response(&token))
        }
        Err(TokenError::InvalidClient) => {
            state.rate_limits.record_auth_failure(peer(&parts))?;
            let message = "unknown client id or secret for this sandbox, or the sandbox was torn down";
            Err(TokenEndpointError::Invalid("invalid_client", StatusCode::UNAUTHORIZED, message))
        }
        Err(TokenError::UnsupportedGrantType) => {
            Err(invalid("unsupported_grant_type", "grant_type must be client_credentials"))
        }
        Err(TokenError::InvalidScope) => Err(invalid(
            "invalid_scope",
            "no valid system scope; request for example system/*.rs or system/Patient.read",
        )),
        Err(TokenError::Failed(error)) => Err(TokenEndpointError::Other(error.into())),
    }
}

fn invalid(error: &'static str, message: &'static str) -> TokenEndpointError {
    TokenEndpointError::Invalid(error, StatusCode::BAD_REQUEST, message)
}

async fn read(headers: &HeaderMap, body: axum::body::Body) -> Result<TokenRequest, TokenEndpointError> {
    reject_content_encoding(headers)?;
    if media_type(headers).as_deref() != Some("application/x-www-form-urlencoded") {
        return Err(invalid("invalid_request", "send a form: Content-Type application/x-www-form-urlencoded"));
    }
    let bytes = read_body(body, MAX_BODY_BYTES).await?;
    let pairs: Vec<(String, String)> =
        serde_urlencoded::from_bytes(&bytes).map_err(|_| invalid("invalid_request", "the form is malformed"))?;
    let mut form: HashMap<String, String> = HashMap::new();
    for (name, value) in pairs {
        if form.insert(name, value).is_some() {
            return Err(invalid("invalid_request", "a parameter is repeated"));
        }
    }
    let mut take = |name: &str| form.remove(name);
    let grant_type = take("grant_type").ok_or_else(|| invalid("invalid_request", "grant_type is missing"))?;
    let (in_form, scope) = ((take("client_id"), take("client_secret")), take("scope"));
    let (client_id, client_secret) = match basic(headers)? {
        Some(_) if in_form.1.is_some() => {
            return Err(invalid("invalid_request", "authenticate in the header or in the body, not in both"));
        }
        Some(basic) => basic,
        None => (in_form.0.unwrap_or_default(), in_form.1.unwrap_or_default()),
    };
    Ok(TokenRequest { grant_type, client_id, client_secret, scope })
}

/// Client id and secret of a `Basic` header, each form-encoded (RFC 6749, 2.3.1).
fn basic(headers: &HeaderMap) -> Result<Option<(String, String)>, TokenEndpointError> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let malformed =
        || invalid("invalid_request", "the Authorization header is not of the form Basic BASE64(id:secret)");
    let text = value.to_str().map_err(|_| malformed())?;
    let (scheme, encoded) = text.split_once(' ').ok_or_else(malformed)?;
    if scheme.eq_ignore_ascii_case("bearer") {
        // An organization key is not the client's credential, which must be in the body.
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

fn token_response(token: &AccessToken) -> Response {
    let body = json!({
        "access_token": token.access_token,
        "token_type": "bearer",
        "expires_in": token.expires_in,
        "scope": token.scope,
    });
    without_caching((StatusCode::OK, Json(body)).into_response())
}

impl IntoResponse for TokenEndpointError {
    fn into_response(self) -> Response {
        match self {
            TokenEndpointError::Invalid(error, status, message) => {
                let body = Json(json!({"error": error, "error_description": message}));
                let mut response = without_caching((status, body).into_response());
                if status == StatusCode::UNAUTHORIZED {
                    let challenge = HeaderValue::from_static("Basic realm=\"verial\"");
                    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
                }
                response
            }
            TokenEndpointError::Other(error) => error.into_response(),
        }
    }
}

fn without_caching(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    response
}

/// Not in the OpenAPI document: OAuth specifies it, and the sandbox's SMART configuration names its URL.
pub(crate) fn router() -> OpenApiRouter<State> {
    let issue = || post(issue_token).fallback(|| async { ApiError::new(Code::MethodNotAllowed, "send a POST") });
    let routes = super::fhir::BASES.iter().fold(Router::new(), |router, base| {
        // `/token` is an alias that the API reference of the product documents.
        router.route(&format!("{base}/auth/token"), issue()).route(&format!("{base}/token"), issue())
    });
    routes.into()
}
