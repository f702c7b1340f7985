//! The HTTP face: parses, authenticates, calls one verb of `app`, renders. One file per resource under `routes/`.

mod base_url;
mod bell;
mod compress;
mod cors;
mod cursor;
mod docs;
mod envelope;
mod extract;
pub mod forward;
mod json_body;
mod linger;
mod listen;
mod metrics;
mod middleware;
mod mllp;
mod openapi;
mod patient;
mod rate_limit;
mod respond;
mod routes;

use std::sync::Arc;
use std::time::Duration;

use app::App;
use axum::Router;
use tokio::net::TcpListener;

pub use openapi::document as openapi_document;

/// What handlers share. Every request copies it more than once, so that it is one reference.
#[derive(Clone)]
struct State(Arc<Shared>);

struct Shared {
    app: App,
    metrics: metrics::Metrics,
    rates: rate_limit::Rates,
    login_failures: routes::portal::throttle::Failures,
    streams: routes::voice::Streams,
    docs: docs::Docs,
    /// Where clients reach the server, if the operator said so.
    public_url: Option<String>,
}

impl std::ops::Deref for State {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// The whole HTTP surface. `public_url` is where clients reach it, for the API's own description.
pub fn router(app: App, public_url: Option<String>) -> Router {
    let (router, mut api) = openapi::build();
    api.servers = public_url.clone().map(|url| vec![utoipa::openapi::Server::new(url)]);
    let state = State(Arc::new(Shared {
        rates: rate_limit::Rates::new(app.limits()),
        login_failures: routes::portal::throttle::Failures::default(),
        streams: routes::voice::Streams::new(app.limits()),
        metrics: metrics::Metrics::default(),
        docs: docs::Docs::new(&api),
        public_url,
        app,
    }));
    middleware::wrap(router, &state).with_state(state)
}

/// Serves until `shutdown` resolves, then finishes what was accepted.
pub async fn serve(
    listener: TcpListener,
    app: App,
    public_url: Option<String>,
    shutdown: impl Future<Output = ()> + Send + 'static,
) {
    let (sweeper, ending) = (tokio::spawn(sweep(app.clone())), app.clone());
    if let Some(opened) = app.opened_ports() {
        tokio::spawn(mllp::serve(app.clone(), opened));
    }
    let limits = app.limits().clone();
    listen::serve(listener, router(app, public_url), &limits, shutdown).await;
    sweeper.abort();
    ending.close_ports();
    ending.settle().await;
}

/// Every few seconds what is past its deadline, every minute memory, every hour what is kept for a day.
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
