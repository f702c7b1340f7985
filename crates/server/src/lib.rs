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
use model::playground::Sandbox;
use model::run::StartedTaskRun;
use tokio::net::TcpListener;

pub use mllp::MllpListen;
pub use openapi::document as openapi_document;

/// The operator's configuration of the server.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The URL at which clients reach the server, which the OpenAPI document names.
    pub public_url: Option<String>,
    /// Where HL7 sandboxes get MLLP ports; none if absent.
    pub mllp: Option<MllpListen>,
}

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
    mllp: Option<Arc<mllp::MllpPorts>>,
}

impl std::ops::Deref for State {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl State {
    /// Adds the MLLP port of an active HL7 sandbox to its credentials.
    fn add_mllp_port(&self, sandbox: &mut Sandbox, base: &str) {
        if let Some(ports) = &self.mllp {
            ports.add_to(sandbox, base);
        }
    }

    fn add_started_mllp_ports(&self, started: &mut StartedTaskRun, base: &str) {
        if let Some(ports) = &self.mllp {
            started.sandboxes.iter_mut().for_each(|sandbox| ports.add_to_started(sandbox, base));
        }
    }
}

/// The router with all endpoints.
fn router(app: App, public_url: Option<String>, mllp: Option<Arc<mllp::MllpPorts>>) -> Router {
    let (router, mut api) = openapi::build();
    api.servers = public_url.clone().map(|url| vec![utoipa::openapi::Server::new(url)]);
    let state = State(Arc::new(Shared {
        rate_limits: rate_limit::RateLimits::new(app.limits()),
        login_failures: routes::portal::login_throttle::LoginFailures::default(),
        streams: routes::voice::StreamLimits::new(app.limits()),
        metrics: metrics::Metrics::default(),
        docs: docs::Docs::new(&openapi::full_document(&api)),
        public_url,
        mllp,
        app,
    }));
    middleware::wrap(router, &state).with_state(state)
}

/// Serves until `shutdown` resolves, then finishes the requests that are in progress.
pub async fn serve(
    listener: TcpListener,
    app: App,
    options: ServerOptions,
    shutdown: impl Future<Output = ()> + Send + 'static,
) {
    let ServerOptions { public_url, mllp } = options;
    let mllp = mllp.map(|listen| mllp::MllpPorts::new(app.clone(), listen));
    let sweeper = tokio::spawn(sweep(app.clone(), mllp.clone()));
    net::serve(listener, router(app.clone(), public_url, mllp.clone()), app.limits(), shutdown).await;
    sweeper.abort();
    if let Some(ports) = mllp {
        ports.close_all();
    }
    app.flush_events().await;
}

/// Background cleanup. Every 5 seconds: ends overdue task runs and closes MLLP ports of ended sandboxes. Every minute: frees
/// unused memory. Every hour: deletes expired idempotency keys.
async fn sweep(app: App, mllp: Option<Arc<mllp::MllpPorts>>) {
    let mut ticks = tokio::time::interval(Duration::from_secs(5));
    for tick in 0u64.. {
        ticks.tick().await;
        if let Err(error) = app::runs::sweep(&app).await {
            tracing::warn!(%error, "the sweep of overdue task runs failed");
        }
        if let Some(ports) = &mllp
            && let Err(error) = ports.sweep().await
        {
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
