//! The URL at which the caller reaches this server, for links in responses.

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;

use crate::State;
use crate::api_error::ApiError;

/// Extractor: the operator's `--public-url`, else a URL from the request's `Host` header. It has no trailing `/`.
pub(crate) struct BaseUrl(pub(crate) String);

impl FromRequestParts<State> for BaseUrl {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        Ok(BaseUrl(of(parts, state)))
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

/// Only a host and a port are accepted, because the value is repeated in responses.
fn is_host(text: &str) -> bool {
    (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
}
