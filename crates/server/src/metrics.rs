//! What the server counts, in Prometheus' text format.

use std::sync::Mutex;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: &'static str,
    /// The route's pattern, never the path: ids are not labels.
    route: String,
    status: u16,
}

pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<Route, Counter>,
    seconds: Histogram,
    in_flight: Gauge,
}

const SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("verial");
        let requests = Family::<Route, Counter>::default();
        let seconds = Histogram::new(SECONDS);
        let in_flight = Gauge::default();
        registry.register("http_requests", "HTTP requests answered", requests.clone());
        registry.register("http_request_seconds", "Time to answer an HTTP request", seconds.clone());
        registry.register("http_requests_in_flight", "HTTP requests being answered", in_flight.clone());
        Self { registry: Mutex::new(registry), requests, seconds, in_flight }
    }
}

/// A request that is being answered, until this is dropped: a client may hang up at any time.
pub(crate) struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    pub(crate) fn one_more(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    pub(crate) fn answered(&self, method: &'static str, route: &str, status: u16, seconds: f64) {
        self.seconds.observe(seconds);
        self.requests.get_or_create(&Route { method, route: route.to_owned(), status }).inc();
    }

    pub(crate) fn render(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry.lock().unwrap_or_else(std::sync::PoisonError::into_inner))?;
        Ok(text)
    }
}
