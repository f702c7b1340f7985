//! The one event of a request. What was read is named, not copied: versions never change.

use std::borrow::Cow;
use std::fmt::Write as _;

use model::api_key::masked;
use model::event::EventType;
use serde::{Serialize, Serializer};
use serde_json::Value;
use world::{NewEvent, Payload};

use super::http::Request;
use super::outcome::Refusal;
use super::reply::{Content, Reply};

/// A body that is no JSON is kept up to here.
const MOST_TEXT_BYTES: usize = 64 << 10;
const SUMMARY_CHARACTERS: usize = 200;

/// The body of a request as far as it was read.
pub(crate) enum Sent {
    Nothing,
    Json(Value),
    Text,
}

pub(crate) fn event(
    sandbox: &model::SandboxId,
    actor: &str,
    request: &Request,
    sent: Sent,
    result: &Result<Reply, Refusal>,
) -> NewEvent {
    let response = response(result);
    NewEvent {
        sandbox: sandbox.clone(),
        r#type: EventType::FhirRequest,
        actor: actor.to_owned(),
        summary: summary(request, response.status),
        payload: Payload::of(&Exchange { request: received(request, sent), response }),
    }
}

/// What an event of a request holds, in the order in which it is written.
#[derive(Serialize)]
struct Exchange<'a> {
    request: Received<'a>,
    response: Answered<'a>,
}

#[derive(Serialize)]
struct Received<'a> {
    method: Cow<'a, str>,
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    query: Cow<'a, str>,
    #[serde(serialize_with = "received_headers")]
    headers: &'a [(String, String)],
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Value>,
}

#[derive(Serialize)]
struct Answered<'a> {
    status: u16,
    #[serde(serialize_with = "answered_headers")]
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

fn received_headers<S: Serializer>(headers: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(headers.iter().map(|(name, value)| (name, hidden(value))))
}

fn answered_headers<S: Serializer>(headers: &[(&'static str, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(headers.iter().map(|(name, value)| (name, value)))
}

fn summary(request: &Request, status: u16) -> String {
    let mark = if request.query.is_empty() { "" } else { "?" };
    let mut summary = String::with_capacity(request.method.len() + request.path.len() + request.query.len() + 16);
    for part in [&request.method, " ", &request.path, mark, &request.query] {
        summary.push_str(part);
    }
    if is_suspect(&summary) {
        summary = masked(&summary);
    }
    if summary.contains(char::is_control) {
        summary = summary.replace(char::is_control, " ");
    }
    if let Some((end, _)) = summary.char_indices().nth(SUMMARY_CHARACTERS) {
        summary.truncate(end);
        summary.push('…');
    }
    let _ = write!(summary, " → {status}");
    summary
}

fn received(request: &Request, sent: Sent) -> Received<'_> {
    let body = match sent {
        Sent::Nothing => None,
        Sent::Json(body) => Some(shown(body)),
        Sent::Text => {
            let end = request.body.len().min(MOST_TEXT_BYTES);
            Some(Value::String(hidden(&String::from_utf8_lossy(&request.body[..end])).into_owned()))
        }
    };
    let Request { method, path, query, headers, .. } = request;
    Received { method: hidden(method), path: hidden(path), query: hidden(query), headers, body }
}

fn response(result: &Result<Reply, Refusal>) -> Answered<'_> {
    let (status, headers) = match result {
        Ok(reply) => (reply.status, &reply.headers),
        Err(refusal) => (refusal.status, &refusal.headers),
    };
    let bare = Answered { status, headers, body: None, resource: None, total: None, entries: None };
    match result.as_ref().map(|reply| &reply.content) {
        Err(refusal) => Answered { body: Some(shown(refusal.json())), ..bare },
        Ok(Content::None) => bare,
        Ok(Content::Version { name, .. } | Content::Bytes { name, .. }) => Answered { resource: Some(name), ..bare },
        Ok(Content::Document { name, .. }) => Answered { resource: Some(name), ..bare },
        Ok(Content::Written { json, .. } | Content::Made(json)) => Answered { body: Some(shown(json.clone())), ..bare },
        Ok(Content::List { total, entries, .. }) => Answered { total: *total, entries: Some(entries), ..bare },
    }
}

/// The body without secrets.
fn shown(mut body: Value) -> Value {
    hide(&mut body);
    body
}

fn is_suspect(text: &str) -> bool {
    // Most texts have no such letter at all, which is known sooner.
    text.contains('_') && (text.contains("vk_") || text.contains("vrl_"))
}

fn hidden(text: &str) -> Cow<'_, str> {
    if is_suspect(text) { Cow::Owned(masked(text)) } else { Cow::Borrowed(text) }
}

/// Masks secrets in every text of a body, keys too.
fn hide(value: &mut Value) {
    match value {
        Value::String(text) if is_suspect(text) => *text = masked(text),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(fields) => {
            if fields.keys().any(|key| is_suspect(key)) {
                *fields =
                    std::mem::take(fields).into_iter().map(|(key, value)| (hidden(&key).into_owned(), value)).collect();
            }
            fields.values_mut().for_each(hide);
        }
        _ => {}
    }
}
