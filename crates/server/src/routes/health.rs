//! `/healthz`, `/readyz` and `/metrics`, for operators and monitoring.

use axum::extract;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorBody};

/// Liveness: whether the process is running.
#[utoipa::path(get, path = "/healthz", tag = "operations", security(()),
    responses((status = 200, description = "The process is running", body = String, content_type = "text/plain")))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// Readiness: whether the database and the blob store respond.
#[utoipa::path(get, path = "/readyz", tag = "operations", security(()),
    responses((status = 200, description = "The storage responds", body = String, content_type = "text/plain"),
        (status = 503, description = "The storage does not respond", body = ErrorBody)))]
async fn readyz(extract::State(state): extract::State<State>) -> Result<&'static str, ApiError> {
    state.app.ready().await?;
    Ok("ready\n")
}

/// Metrics in the Prometheus text format.
#[utoipa::path(get, path = "/metrics", tag = "operations", security(()),
    responses((status = 200, description = "OpenMetrics text", body = String, content_type = "application/openmetrics-text")))]
async fn metrics(extract::State(state): extract::State<State>) -> Response {
    match state.metrics.render() {
        Ok(text) => ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text)
            .into_response(),
        Err(_) => ApiError::internal().into_response(),
    }
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(healthz)).routes(routes!(readyz)).routes(routes!(metrics))
}
