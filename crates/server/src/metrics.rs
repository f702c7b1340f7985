//! Counters of the server, in the Prometheus text format.

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
    /// The route's pattern rather than the path, because ids must not become labels.
    route: String,
    status: u16,
}

pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<Route, Counter>,
    seconds: Histogram,
    in_flight: Gauge,
}

const LATENCY_BUCKETS_SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("verial");
        let requests = Family::<Route, Counter>::default();
        let seconds = Histogram::new(LATENCY_BUCKETS_SECONDS);
        let in_flight = Gauge::default();
        registry.register("http_requests", "HTTP requests answered", requests.clone());
        registry.register("http_request_seconds", "Time to answer an HTTP request", seconds.clone());
        registry.register("http_requests_in_flight", "HTTP requests being answered", in_flight.clone());
        Self { registry: Mutex::new(registry), requests, seconds, in_flight }
    }
}

/// Counts a request as in flight until it is dropped, also when the client disconnects.
pub(crate) struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    pub(crate) fn track_in_flight(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    pub(crate) fn record_response(&self, method: &'static str, route: &str, status: u16, seconds: f64) {
        self.seconds.observe(seconds);
        self.requests.get_or_create(&Route { method, route: route.to_owned(), status }).inc();
    }

    pub(crate) fn render(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry.lock().unwrap_or_else(std::sync::PoisonError::into_inner))?;
        Ok(text)
    }
}
