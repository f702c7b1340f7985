//! The HTTP server. A handler parses the request, authenticates, calls one verb of `app`, and renders the response. There is
//! one file per resource under `routes/`. Also serves HL7 v2 over MLLP.

mod api_error;
mod base_url;
mod compression;
mod cors;
mod cursor;
mod docs;
mod extractors;
mod json_body;
mod metrics;
mod middleware;
mod mllp;
mod net;
mod openapi;
pub mod proxy;
mod rate_limit;
mod responses;
mod routes;

use std::sync::Arc;
use std::time::Duration;

use app::App;
use axum::Router;
use tokio::net::TcpListener;

pub use openapi::document as openapi_document;

/// State that handlers share. It is one reference, because every request clones it several times.
#[derive(Clone)]
struct State(Arc<Shared>);

struct Shared {
    app: App,
    metrics: metrics::Metrics,
    rate_limits: rate_limit::RateLimits,
    login_failures: routes::portal::login_throttle::LoginFailures,
    streams: routes::voice::StreamLimits,
    docs: docs::Docs,
    /// The URL at which clients reach the server, if the operator configured it (`--public-url`).
    public_url: Option<String>,
}

impl std::ops::Deref for State {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// The router with all endpoints. `public_url` is where clients reach it; the OpenAPI document names it.
pub fn router(app: App, public_url: Option<String>) -> Router {
    let (router, mut api) = openapi::build();
    api.servers = public_url.clone().map(|url| vec![utoipa::openapi::Server::new(url)]);
    let state = State(Arc::new(Shared {
        rate_limits: rate_limit::RateLimits::new(app.limits()),
        login_failures: routes::portal::login_throttle::LoginFailures::default(),
        streams: routes::voice::StreamLimits::new(app.limits()),
        metrics: metrics::Metrics::default(),
        docs: docs::Docs::new(&openapi::full_document(&api)),
        public_url,
        app,
    }));
    middleware::wrap(router, &state).with_state(state)
}

/// Serves until `shutdown` resolves, then finishes the requests that are in progress.
pub async fn serve(
    listener: TcpListener,
    app: App,
    public_url: Option<String>,
    shutdown: impl Future<Output = ()> + Send + 'static,
) {
    let (sweeper, closing_app) = (tokio::spawn(sweep(app.clone())), app.clone());
    if let Some(opened) = app.opened_ports() {
        tokio::spawn(mllp::serve(app.clone(), opened));
    }
    let limits = app.limits().clone();
    net::serve(listener, router(app, public_url), &limits, shutdown).await;
    sweeper.abort();
    closing_app.close_ports();
    closing_app.flush_events().await;
}

/// Background cleanup. Every 5 seconds: ends overdue task runs and closes MLLP ports of ended sandboxes. Every minute: frees
/// unused memory. Every hour: deletes expired idempotency keys.
async fn sweep(app: App) {
    let mut ticks = tokio::time::interval(Duration::from_secs(5));
    for tick in 0u64.. {
        ticks.tick().await;
        if let Err(error) = app::runs::sweep(&app).await {
            tracing::warn!(%error, "the sweep of overdue task runs failed");
        }
        if let Err(error) = app.sweep_ports().await {
            tracing::warn!(%error, "the sweep of MLLP ports failed");
        }
        if tick.is_multiple_of(12) {
            app.sweep_memory();
        }
        if tick.is_multiple_of(720)
            && let Err(error) = app.sweep().await
        {
            tracing::warn!(%error, "the hourly sweep failed");
        }
    }
}
