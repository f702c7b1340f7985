//! The portal's login sent with each request (RFC 7617), for programs that have no key of the organization.

use app::sandboxes::{Access, payer};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::SandboxId;

use super::throttle::Attempt;
use crate::State;
use crate::envelope::ApiError;
use crate::extract::peer;

/// A name and a password.
pub(crate) type Login = (String, String);

/// What `Authorization: Basic …` says, if that is what was sent.
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

pub(crate) async fn admit(
    state: &State,
    parts: &Parts,
    sandbox: &SandboxId,
    (name, password): Login,
) -> Result<Access, ApiError> {
    let attempt = Attempt::new(sandbox, &name, peer(parts));
    state.login_failures.check(&attempt, state.app.now())?;
    match payer::admit_login(&state.app, sandbox, &name, &password).await {
        Ok(access) => {
            state.rates.check_key(sandbox.to_string().as_str())?;
            Ok(access)
        }
        Err(error) => {
            state.login_failures.note(attempt, state.app.now());
            state.rates.note_refusal(peer(parts))?;
            Err(error.into())
        }
    }
}
