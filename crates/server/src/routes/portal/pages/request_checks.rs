//! Checks of a browser's request: the session cookie, and that forms come from the portal's own pages.

use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use crate::api_error::{ApiError, Code};
use crate::{State, base_url};

pub(super) const COOKIE: &str = "verial_portal";

/// The portal's cookie, if the browser sent one.
pub(super) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

/// Rejects forms that were sent from another site.
pub(super) fn check_origin(parts: &Parts, state: &State) -> Result<(), ApiError> {
    let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let is_cross_site_fetch = text("sec-fetch-site").is_some_and(|site| matches!(site, "cross-site" | "same-site"));
    let is_cross_origin = match parts.headers.get(header::ORIGIN) {
        None => false,
        Some(origin) => !is_own_origin(origin.to_str().unwrap_or_default(), parts, state),
    };
    if is_cross_site_fetch || is_cross_origin {
        return Err(ApiError::new(Code::Forbidden, "This form was not sent from a page of the portal."));
    }
    Ok(())
}

/// Whether the origin is the host that the request was sent to, or the configured public URL.
fn is_own_origin(origin: &str, parts: &Parts, state: &State) -> bool {
    let host = parts.headers.get(header::HOST).and_then(|value| value.to_str().ok());
    let host = host.or_else(|| parts.uri.authority().map(|authority| authority.as_str()));
    let without_scheme = origin.split_once("://").map(|(_, rest)| rest);
    without_scheme.is_some() && (without_scheme == host || origin == base_url::of(parts, state))
}

pub(super) fn is_secure(parts: &Parts, state: &State) -> bool {
    base_url::of(parts, state).starts_with("https://")
}
