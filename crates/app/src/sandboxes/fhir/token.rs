//! SMART client credentials (RFC 6749, 4.4). Access tokens are signed with a key of the sandbox, so that every node can
//! verify them, and end with the sandbox.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::api_key::ACCESS_TOKEN_PREFIX;
use model::event::EventType;
use model::simulator::SimulatorType;
use model::{SandboxId, Timestamp};
use ring::hmac;
use serde_json::json;
use sims::fhir::scopes::Scopes;
use store::sandboxes::StoredSandbox;
use subtle::ConstantTimeEq;
use world::{NewEvent, Outcome};

use super::super::credentials;
use crate::{App, AppError};
use runtime::Cost;

pub const LIFETIME_SECONDS: i64 = 300;
const ALL: &str = "system/*.cruds";

/// A request to the token endpoint.
#[derive(Clone, Debug, Default)]
pub struct TokenRequest {
    pub grant_type: String,
    pub client_id: String,
    pub client_secret: String,
    /// None requests all scopes.
    pub scope: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessToken {
    pub access_token: String,
    pub expires_in: i64,
    pub scope: String,
}

/// The error of a token request (RFC 6749, 5.2).
#[derive(Debug)]
pub enum TokenError {
    InvalidClient,
    UnsupportedGrantType,
    InvalidScope,
    Failed(AppError),
}

pub async fn issue(app: &App, id: &SandboxId, request: TokenRequest) -> Result<AccessToken, TokenError> {
    let known = app.runtime().sandbox(id).await.map_err(|error| TokenError::Failed(error.into()))?;
    let sandbox = known.filter(|sandbox| sandbox.kind == SimulatorType::Fhir).ok_or(TokenError::InvalidClient)?;
    let expected = credentials::own(&sandbox, "client_secret");
    let same: bool = expected.as_bytes().ct_eq(request.client_secret.as_bytes()).into();
    if !same || request.client_id != sandbox.id.to_string() {
        return Err(TokenError::InvalidClient);
    }
    let result = grant(app, &sandbox, &request);
    note(app, &sandbox, &request, &result).await?;
    result
}

fn grant(app: &App, sandbox: &StoredSandbox, request: &TokenRequest) -> Result<AccessToken, TokenError> {
    if request.grant_type != "client_credentials" {
        return Err(TokenError::UnsupportedGrantType);
    }
    let scopes = Scopes::parse(request.scope.as_deref().filter(|scope| !scope.trim().is_empty()).unwrap_or(ALL));
    if scopes.is_empty() {
        return Err(TokenError::InvalidScope);
    }
    let scope = scopes.text();
    let expires_at = app.now().plus_milliseconds(LIFETIME_SECONDS * 1000);
    let access_token = sign(sandbox, &scope, expires_at, &app.new_id::<model::EventId>().to_string());
    Ok(AccessToken { access_token, expires_in: LIFETIME_SECONDS, scope })
}

/// A token that the EHR sends to a CDS service.
pub(crate) fn for_service(app: &App, sandbox: &StoredSandbox, scope: &str) -> Option<AccessToken> {
    let request = TokenRequest {
        grant_type: "client_credentials".to_owned(),
        scope: Some(scope.to_owned()),
        ..TokenRequest::default()
    };
    grant(app, sandbox, &request).ok()
}

/// A sandbox that was torn down issues no tokens: the event cannot be logged, and the client gets `invalid_client`.
async fn note(
    app: &App,
    sandbox: &StoredSandbox,
    request: &TokenRequest,
    result: &Result<AccessToken, TokenError>,
) -> Result<(), TokenError> {
    let status = if result.is_ok() { 200 } else { 400 };
    let payload = json!({
        "request": {
            "grant_type": model::api_key::masked(&request.grant_type),
            "client_id": request.client_id,
            "scope": request.scope.as_deref().map(model::api_key::masked),
        },
        "response": {"status": status, "scope": result.as_ref().ok().map(|token| &token.scope)},
    });
    let event = NewEvent {
        sandbox: sandbox.id.clone(),
        r#type: EventType::AuthToken,
        actor: sandbox.id.to_string(),
        summary: format!("POST auth/token → {status}"),
        payload: payload.into(),
    };
    let outcome = Outcome { answer: (), changes: Vec::new(), events: vec![event] };
    match app.runtime().query(sandbox, Cost::Light, move |_, _| outcome).await.map_err(AppError::from) {
        Ok(()) => Ok(()),
        Err(AppError::Conflict { .. } | AppError::NotFound(_)) => Err(TokenError::InvalidClient),
        Err(error) => Err(TokenError::Failed(error)),
    }
}

/// `vrl_smart_CLAIMS.SIGNATURE`; the claims are `expiry in milliseconds, nonce, scopes`.
fn sign(sandbox: &StoredSandbox, scope: &str, expires_at: Timestamp, nonce: &str) -> String {
    let claims = URL_SAFE_NO_PAD.encode(format!("{},{nonce},{scope}", expires_at.milliseconds()));
    let signature = hmac::sign(&credentials::token_key(sandbox), claims.as_bytes());
    format!("{ACCESS_TOKEN_PREFIX}{claims}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
}

/// The scopes of a valid token of this sandbox.
pub(crate) fn verify(sandbox: &StoredSandbox, presented: &str, now: Timestamp) -> Option<Scopes> {
    let (claims, signature) = presented.strip_prefix(ACCESS_TOKEN_PREFIX)?.split_once('.')?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    hmac::verify(&credentials::token_key(sandbox), claims.as_bytes(), &signature).ok()?;
    let claims = String::from_utf8(URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    let mut parts = claims.splitn(3, ',');
    let expires_at: i64 = parts.next()?.parse().ok()?;
    let scope = parts.nth(1)?;
    (now.milliseconds() < expires_at).then(|| Scopes::parse(scope))
}

/// Whether the text has the form of an access token. It may be invalid.
pub fn is_token(text: &str) -> bool {
    text.starts_with(ACCESS_TOKEN_PREFIX)
}
