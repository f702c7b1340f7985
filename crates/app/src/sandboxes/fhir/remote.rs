//! A FHIR sandbox that forwards its requests to an existing server, and logs them as events.

use model::api_key::masked;
use model::event::EventType;
use model::{Id, KeyId};
use serde_json::{Value, json};
use sims::fhir::config::Remote;
use sims::fhir::{depth, proxy_scopes};
use world::{NewEvent, Outcome};

use super::{Access, Request, Response};
use crate::outbound::{self, CallError, OutboundRequest, OutboundResponse};
use crate::{App, AppError};
use runtime::Cost;

/// Response headers that a FHIR client reads.
const PASSED_BACK: [&str; 5] = ["etag", "last-modified", "location", "content-location", "content-type"];

/// Request headers that are forwarded.
const PASSED_ON: [&str; 7] =
    ["accept", "content-type", "prefer", "if-match", "if-none-match", "if-modified-since", "if-none-exist"];

pub(super) async fn exchange(
    app: &App,
    access: Access,
    remote: &Remote,
    mut request: Request,
) -> Result<Response, AppError> {
    // Fails for a sandbox that takes no traffic, before the other server is called.
    let nothing = |_: &world::World, _: &world::Context<'_>| Outcome { answer: (), changes: vec![], events: vec![] };
    app.runtime().query(&access.sandbox, Cost::Light, nothing).await?;
    if access.client.name.starts_with(KeyId::PREFIX) && !sims::fhir::handle::is_read_only(&request) {
        // Changes on the other server are not in our log, from which writes by the organization are normally detected.
        let playground = access.sandbox.playground.clone();
        app.store().write(move |db| store::runs::mark_organization_writes(db, &playground)).await?;
    }
    let response = match access.client.scopes.as_ref().and_then(|scopes| proxy_scopes::reject(scopes, &mut request)) {
        Some(refusal) => refusal,
        None => match call(app, remote, &request).await {
            Ok(fetched) => rewrite_response(remote, &request, &fetched),
            Err(error) => refused(&error),
        },
    };
    let events = if access.is_anonymous() { Vec::new() } else { vec![event(&access, &request, &response)] };
    let message = move |_: &world::World, _: &world::Context<'_>| Outcome {
        answer: (),
        changes: Vec::new(),
        events: events.clone(),
    };
    app.runtime().command(&access.sandbox, message).await?;
    Ok(response)
}

async fn call(app: &App, remote: &Remote, request: &Request) -> Result<OutboundResponse, CallError> {
    let there = remote.base_url.trim_end_matches('/');
    let url = outbound::below(there, &request.path, &request.query).ok_or(CallError::Outside)?;
    let own = request.headers.iter().filter(|(name, _)| PASSED_ON.contains(&name.as_str()));
    let headers: Vec<(String, String)> =
        own.cloned().chain(remote.headers.iter().map(|(name, value)| (name.clone(), value.clone()))).collect();
    let body = replace_urls(&request.body, &request.base_url, there);
    let asked = OutboundRequest {
        method: &request.method,
        url: &url,
        headers: &headers,
        body,
        max_response_bytes: app.limits().upload_bytes,
        timeout: outbound::TIMEOUT,
    };
    app.inner.outbound.call(asked).await
}

/// Replaces URLs of the other server by those of the sandbox.
fn rewrite_response(remote: &Remote, request: &Request, fetched: &OutboundResponse) -> Response {
    let (there, here) = (remote.base_url.trim_end_matches('/'), request.base_url.as_str());
    let header = |name: &'static str| {
        let (_, value) = fetched.headers.iter().find(|(known, _)| known == name)?;
        Some((name, value.replace(there, here)))
    };
    let body = String::from_utf8_lossy(&replace_urls(&fetched.body, there, here)).into_owned();
    Response { status: fetched.status, headers: PASSED_BACK.into_iter().filter_map(header).collect(), body, raw: None }
}

fn replace_urls(body: &[u8], from: &str, to: &str) -> Vec<u8> {
    match str::from_utf8(body) {
        Ok(text) if !from.is_empty() => text.replace(from, to).into_bytes(),
        _ => body.to_vec(),
    }
}

fn refused(error: &CallError) -> Response {
    let (status, code) = match error {
        CallError::NotAllowed(_) => (403, "forbidden"),
        CallError::Outside => (400, "invalid"),
        CallError::NoAnswer | CallError::TooLarge => (502, "transient"),
    };
    let issue = json!({"severity": "error", "code": code, "diagnostics": error.to_string()});
    let body = json!({"resourceType": "OperationOutcome", "issue": [issue]}).to_string();
    Response { status, headers: Vec::new(), body, raw: None }
}

fn event(access: &Access, request: &Request, response: &Response) -> NewEvent {
    let path = masked(&request.path);
    let headers: serde_json::Map<String, Value> =
        request.headers.iter().map(|(name, value)| (name.clone(), Value::String(masked(value)))).collect();
    let payload = json!({
        "request": {
            "method": request.method,
            "path": path,
            "query": masked(&request.query),
            "headers": headers,
            "body": shown(&String::from_utf8_lossy(&request.body)),
        },
        "response": {"status": response.status, "body": shown(&response.body)},
        "remote": true,
    });
    NewEvent {
        sandbox: access.sandbox.id.clone(),
        r#type: EventType::FhirRequest,
        actor: access.client.name.clone(),
        summary: format!("{} {path} → {}", masked(&request.method), response.status),
        payload: payload.into(),
    }
}

/// As JSON if it is JSON that fits into an event, otherwise as text.
fn shown(body: &str) -> Value {
    if body.is_empty() {
        return Value::Null;
    }
    let text = masked(body);
    let json = serde_json::from_str(&text).ok().filter(|json| !depth::is_too_deep(json));
    json.unwrap_or(Value::String(text))
}
