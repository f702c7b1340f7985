//! Where the caller reaches this server, for addresses in answers.

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;

use crate::State;
use crate::envelope::ApiError;

/// The operator's `--public-url`, else what the caller itself wrote. Without a `/` at its end.
pub(crate) struct Base(pub(crate) String);

impl FromRequestParts<State> for Base {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        Ok(Base(of(parts, state)))
    }
}

pub(crate) fn of(parts: &Parts, state: &State) -> String {
    if let Some(url) = &state.public_url {
        return url.trim_end_matches('/').to_owned();
    }
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| parts.uri.authority().map(|authority| authority.as_str()));
    ["http://", host.filter(|host| is_host(host)).unwrap_or("localhost")].concat()
}

/// It stands in answers, so it must be no more than a host and a port.
fn is_host(text: &str) -> bool {
    (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
}
