//! Payer portals: REST for programs, pages for people and browsers.

pub(crate) mod basic;
mod form;
mod pages;
mod rest;
mod schemas;
pub(crate) mod throttle;

use utoipa_axum::router::OpenApiRouter;

use crate::State;

pub(crate) fn router() -> OpenApiRouter<State> {
    rest::router().merge(pages::router().into())
}
