//! The log event of a request. Resources that were read are named, not copied, because versions never change.

use std::borrow::Cow;
use std::fmt::Write as _;

use model::api_key::masked;
use model::event::EventType;
use serde::{Serialize, Serializer};
use serde_json::Value;
use world::{NewEvent, Payload};

use super::http::Request;
use super::outcome::FhirError;
use super::reply::{Reply, ReplyContent};

/// How much of a body that is not JSON is logged.
const MAX_TEXT_BYTES: usize = 64 << 10;
const MAX_SUMMARY_CHARS: usize = 200;

/// The body of a request.
pub(crate) enum LoggedBody {
    Empty,
    Json(Value),
    Text,
}

pub(crate) fn event(
    sandbox: &model::SandboxId,
    actor: &str,
    request: &Request,
    body: LoggedBody,
    result: &Result<Reply, FhirError>,
) -> NewEvent {
    let response = response(result);
    NewEvent {
        sandbox: sandbox.clone(),
        r#type: EventType::FhirRequest,
        actor: actor.to_owned(),
        summary: summary(request, response.status),
        payload: Payload::of(&LoggedExchange { request: logged_request(request, body), response }),
    }
}

/// The payload of the event.
#[derive(Serialize)]
struct LoggedExchange<'a> {
    request: LoggedRequest<'a>,
    response: LoggedResponse<'a>,
}

#[derive(Serialize)]
struct LoggedRequest<'a> {
    method: Cow<'a, str>,
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    query: Cow<'a, str>,
    #[serde(serialize_with = "request_headers")]
    headers: &'a [(String, String)],
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Value>,
}

#[derive(Serialize)]
struct LoggedResponse<'a> {
    status: u16,
    #[serde(serialize_with = "response_headers")]
    headers: &'a [(&'static str, String)],
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<&'a [String]>,
}

fn request_headers<S: Serializer>(headers: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(headers.iter().map(|(name, value)| (name, masked_text(value))))
}

fn response_headers<S: Serializer>(headers: &[(&'static str, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(headers.iter().map(|(name, value)| (name, value)))
}

fn summary(request: &Request, status: u16) -> String {
    let mark = if request.query.is_empty() { "" } else { "?" };
    let mut summary = String::with_capacity(request.method.len() + request.path.len() + request.query.len() + 16);
    for part in [&request.method, " ", &request.path, mark, &request.query] {
        summary.push_str(part);
    }
    if may_contain_secret(&summary) {
        summary = masked(&summary);
    }
    if summary.contains(char::is_control) {
        summary = summary.replace(char::is_control, " ");
    }
    if let Some((end, _)) = summary.char_indices().nth(MAX_SUMMARY_CHARS) {
        summary.truncate(end);
        summary.push('…');
    }
    let _ = write!(summary, " → {status}");
    summary
}

fn logged_request(request: &Request, body: LoggedBody) -> LoggedRequest<'_> {
    let body = match body {
        LoggedBody::Empty => None,
        LoggedBody::Json(body) => Some(masked_json(body)),
        LoggedBody::Text => {
            let end = request.body.len().min(MAX_TEXT_BYTES);
            Some(Value::String(masked_text(&String::from_utf8_lossy(&request.body[..end])).into_owned()))
        }
    };
    let Request { method, path, query, headers, .. } = request;
    LoggedRequest { method: masked_text(method), path: masked_text(path), query: masked_text(query), headers, body }
}

fn response(result: &Result<Reply, FhirError>) -> LoggedResponse<'_> {
    let (status, headers) = match result {
        Ok(reply) => (reply.status, &reply.headers),
        Err(error) => (error.status, &error.headers),
    };
    let bare = LoggedResponse { status, headers, body: None, resource: None, total: None, entries: None };
    match result.as_ref().map(|reply| &reply.content) {
        Err(error) => LoggedResponse { body: Some(masked_json(error.json())), ..bare },
        Ok(ReplyContent::None) => bare,
        Ok(ReplyContent::Version { name, .. } | ReplyContent::Bytes { name, .. }) => {
            LoggedResponse { resource: Some(name), ..bare }
        }
        Ok(ReplyContent::Document { name, .. }) => LoggedResponse { resource: Some(name), ..bare },
        Ok(ReplyContent::Written { json, .. } | ReplyContent::Generated(json)) => {
            LoggedResponse { body: Some(masked_json(json.clone())), ..bare }
        }
        Ok(ReplyContent::List { total, entries, .. }) => {
            LoggedResponse { total: *total, entries: Some(entries), ..bare }
        }
    }
}

/// Masks secrets in a body.
fn masked_json(mut body: Value) -> Value {
    mask_strings(&mut body);
    body
}

fn may_contain_secret(text: &str) -> bool {
    // Checking for the underscore first is faster for most texts.
    text.contains('_') && (text.contains("vk_") || text.contains("vrl_"))
}

fn masked_text(text: &str) -> Cow<'_, str> {
    if may_contain_secret(text) { Cow::Owned(masked(text)) } else { Cow::Borrowed(text) }
}

/// Masks secrets in all strings and keys.
fn mask_strings(value: &mut Value) {
    match value {
        Value::String(text) if may_contain_secret(text) => *text = masked(text),
        Value::Array(items) => items.iter_mut().for_each(mask_strings),
        Value::Object(fields) => {
            if fields.keys().any(|key| may_contain_secret(key)) {
                *fields = std::mem::take(fields)
                    .into_iter()
                    .map(|(key, value)| (masked_text(&key).into_owned(), value))
                    .collect();
            }
            fields.values_mut().for_each(mask_strings);
        }
        _ => {}
    }
}
