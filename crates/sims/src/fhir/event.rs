//! The one event of a request. What was read is named, not copied: versions never change.

use model::api_key::masked;
use model::event::EventType;
use serde_json::{Map, Value, json};
use world::NewEvent;

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
    let (status, response) = response(result);
    let mut payload = Map::with_capacity(2);
    payload.insert("request".to_owned(), request_json(request, sent));
    payload.insert("response".to_owned(), response);
    NewEvent {
        sandbox: sandbox.clone(),
        r#type: EventType::FhirRequest,
        actor: actor.to_owned(),
        summary: summary(request, status),
        payload: Value::Object(payload),
    }
}

fn summary(request: &Request, status: u16) -> String {
    let mark = if request.query.is_empty() { "" } else { "?" };
    let address = hidden(&format!("{}{mark}{}", request.path, request.query));
    let shown = address.char_indices().nth(SUMMARY_CHARACTERS).map_or(&*address, |(end, _)| &address[..end]);
    let cut = if shown.len() < address.len() { "…" } else { "" };
    let shown: String = shown.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    format!("{} {shown}{cut} → {status}", hidden(&request.method))
}

fn request_json(request: &Request, sent: Sent) -> Value {
    let mut fields = Map::with_capacity(5);
    fields.insert("method".to_owned(), hidden(&request.method).into());
    fields.insert("path".to_owned(), hidden(&request.path).into());
    if !request.query.is_empty() {
        fields.insert("query".to_owned(), hidden(&request.query).into());
    }
    let headers = request.headers.iter().map(|(name, value)| (name.clone(), hidden(value).into()));
    fields.insert("headers".to_owned(), Value::Object(headers.collect()));
    match sent {
        Sent::Nothing => {}
        Sent::Json(mut body) => {
            hide(&mut body);
            fields.insert("body".to_owned(), body);
        }
        Sent::Text => {
            let end = request.body.len().min(MOST_TEXT_BYTES);
            fields.insert("body".to_owned(), hidden(&String::from_utf8_lossy(&request.body[..end])).into());
        }
    }
    Value::Object(fields)
}

fn response(result: &Result<Reply, Refusal>) -> (u16, Value) {
    let (status, headers) = match result {
        Ok(reply) => (reply.status, &reply.headers),
        Err(refusal) => (refusal.status, &refusal.headers),
    };
    let mut fields = Map::with_capacity(4);
    fields.insert("status".to_owned(), status.into());
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str())));
    fields.insert("headers".to_owned(), Value::Object(headers.collect()));
    match result.as_ref().map(|reply| &reply.content) {
        Err(refusal) => insert_body(&mut fields, refusal.json()),
        Ok(Content::None) => {}
        Ok(Content::Version { name, .. }) => {
            fields.insert("resource".to_owned(), name.as_str().into());
        }
        Ok(Content::Document { name, .. }) => {
            fields.insert("resource".to_owned(), (*name).into());
        }
        Ok(Content::Written { json, .. } | Content::Made(json)) => insert_body(&mut fields, json.clone()),
        Ok(Content::List { total, entries, .. }) => {
            if let Some(total) = total {
                fields.insert("total".to_owned(), (*total).into());
            }
            fields.insert("entries".to_owned(), json!(entries));
        }
    }
    (status, Value::Object(fields))
}

fn insert_body(fields: &mut Map<String, Value>, mut body: Value) {
    hide(&mut body);
    fields.insert("body".to_owned(), body);
}

fn is_suspect(text: &str) -> bool {
    text.contains("vk_") || text.contains("vrl_")
}

fn hidden(text: &str) -> String {
    if is_suspect(text) { masked(text) } else { text.to_owned() }
}

/// Masks secrets in every text of a body, keys too.
fn hide(value: &mut Value) {
    match value {
        Value::String(text) if is_suspect(text) => *text = masked(text),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(fields) => {
            if fields.keys().any(|key| is_suspect(key)) {
                *fields = std::mem::take(fields).into_iter().map(|(key, value)| (hidden(&key), value)).collect();
            }
            fields.values_mut().for_each(hide);
        }
        _ => {}
    }
}
