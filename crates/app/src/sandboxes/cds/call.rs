//! Calls of the EHR to CDS services: limits, and errors that are safe to show.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::SandboxId;
use serde_json::Value;
use sims::fhir::depth;

use crate::App;
use crate::outbound::OutboundRequest;

const MAX_RESPONSE_BYTES: u64 = 1 << 20;
/// Maximum number of concurrent calls of all sandboxes and of one sandbox, so that a slow service does not block others.
const MAX_CONCURRENT: usize = 256;
const MAX_PER_SANDBOX: usize = 20;

/// The number of concurrent calls by sandbox.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls(Arc<Mutex<HashMap<SandboxId, usize>>>);

/// A call in progress, until this is dropped.
struct Turn {
    calls: Calls,
    sandbox: SandboxId,
}

impl Calls {
    fn begin(&self, sandbox: &SandboxId) -> Result<Turn, String> {
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = under_way.values().sum();
        let own = under_way.entry(sandbox.clone()).or_default();
        if all >= MAX_CONCURRENT || *own >= MAX_PER_SANDBOX {
            return Err("too many calls to services are under way; try again later".to_owned());
        }
        *own += 1;
        Ok(Turn { calls: self.clone(), sandbox: sandbox.clone() })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut under_way = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = under_way.get_mut(&self.sandbox) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                under_way.remove(&self.sandbox);
            }
        }
    }
}

/// A request to a service.
pub(super) struct Request<'a> {
    pub(super) sandbox: &'a SandboxId,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    /// None for a GET request.
    pub(super) body: Option<Value>,
    pub(super) seconds: i64,
}

/// The status and the text of the response, or why there is none.
async fn answered(app: &App, request: Request<'_>) -> Result<(u16, bytes::Bytes), String> {
    let _turn = app.inner.calls.begin(request.sandbox)?;
    let mut headers = request.headers;
    headers.push(("accept".to_owned(), "application/json".to_owned()));
    if request.body.is_some() {
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
    }
    let asked = OutboundRequest {
        method: if request.body.is_some() { "POST" } else { "GET" },
        url: &request.url,
        headers: &headers,
        body: request.body.map(|body| body.to_string().into_bytes()).unwrap_or_default(),
        max_response_bytes: MAX_RESPONSE_BYTES,
        timeout: Duration::from_secs(request.seconds.clamp(1, 60).unsigned_abs()),
    };
    let fetched = app.inner.outbound.call(asked).await.map_err(|error| error.to_string())?;
    Ok((fetched.status, fetched.body))
}

/// The JSON of a successful response.
pub(super) async fn json(app: &App, request: Request<'_>) -> Result<Value, String> {
    match answered(app, request).await? {
        (200, body) => read(&body),
        (status @ 300..400, _) => Err(format!("the service answered {status}, and redirects are not followed")),
        (status, _) => Err(format!("the service answered {status}, not 200")),
    }
}

/// Sends a request whose response body does not matter.
pub(super) async fn taken(app: &App, request: Request<'_>) -> Result<(), String> {
    match answered(app, request).await? {
        (200..300, _) => Ok(()),
        (status, _) => Err(format!("the service answered {status}")),
    }
}

fn read(body: &[u8]) -> Result<Value, String> {
    let text = str::from_utf8(body).map_err(|_| "the service's answer is not valid UTF-8".to_owned())?;
    let json: Value =
        serde_json::from_str(text).map_err(|error| format!("the service's answer is not valid JSON: {error}"))?;
    if depth::is_too_deep(&json) {
        return Err("the service's answer is nested too deep".to_owned());
    }
    Ok(json)
}
