//! Payer portals: a REST API, and HTML pages for browsers.

pub(crate) mod basic_auth;
mod form;
pub(crate) mod login_throttle;
mod pages;
mod rest;
mod schemas;

use utoipa_axum::router::OpenApiRouter;

use crate::State;

pub(crate) fn router() -> OpenApiRouter<State> {
    rest::router().merge(pages::router().into())
}
