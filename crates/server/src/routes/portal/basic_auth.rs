//! HTTP Basic authentication with the portal's login (RFC 7617), for clients without an organization key.

use app::sandboxes::{Access, payer};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::SandboxId;

use super::login_throttle::LoginAttempt;
use crate::State;
use crate::api_error::ApiError;
use crate::extractors::peer;

/// User name and password.
pub(crate) type Login = (String, String);

/// The login of `Authorization: Basic …`, if that header was sent.
pub(crate) fn login(headers: &HeaderMap) -> Option<Login> {
    let (scheme, encoded) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let plain =
        STANDARD.decode(encoded.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let (name, password) = plain.split_once(':').unwrap_or((&plain, ""));
    Some((name.to_owned(), password.to_owned()))
}

/// Checks the login, within the limits on failed attempts.
pub(crate) async fn authenticate(
    state: &State,
    parts: &Parts,
    sandbox: &SandboxId,
    (name, password): Login,
) -> Result<Access, ApiError> {
    let attempt = LoginAttempt::new(sandbox, &name, peer(parts));
    state.login_failures.check(&attempt, state.app.now())?;
    match payer::admit_login(&state.app, sandbox, &name, &password).await {
        Ok(access) => {
            state.rate_limits.check_key(sandbox.to_string().as_str())?;
            Ok(access)
        }
        Err(error) => {
            state.login_failures.record(attempt, state.app.now());
            state.rate_limits.record_auth_failure(peer(parts))?;
            Err(error.into())
        }
    }
}
