//! From a request to its answer, its changes and its event.

use std::rc::Rc;

use model::SandboxId;
use serde_json::Value;
use world::{Context, Outcome, World};

use super::call::{Call, Conditions, Prefer, own_paths};
use super::config::WriteRules;
use super::event::{self, Sent};
use super::http::{Request, Response};
use super::outcome::Refusal;
use super::reply::{Content, Reply};
use super::route::{Action, Body};
use super::scopes::Scopes;
use super::{address, depth, integrity, json, media, raw_binary, stored_parameters};

/// Whether the request can change nothing, so that any copy of the world may answer it.
pub fn is_read_only(request: &Request) -> bool {
    let last = request.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    match request.method.as_str() {
        "GET" | "HEAD" => true,
        "POST" => matches!(
            last,
            "_search" | "$validate" | "$everything" | "$lastn" | "%24validate" | "%24everything" | "%24lastn"
        ),
        _ => false,
    }
}

/// Who asks: a name for the event, and what it may do; no scopes for a caller who may do everything.
#[derive(Clone, Debug)]
pub struct Client {
    pub name: String,
    pub scopes: Option<Scopes>,
}

pub fn answer(
    world: &World,
    sandbox: &SandboxId,
    client: &Client,
    request: &Request,
    context: &Context<'_>,
) -> Outcome<Response> {
    let mut sent = if request.body.is_empty() { Sent::Nothing } else { Sent::Text };
    let mut is_pretty = false;
    let mut result = carried_out(world, sandbox, client, request, context, (&mut sent, &mut is_pretty));
    if let Sent::Text = sent
        && !depth::is_too_much(&request.body)
        && let Ok(json) = serde_json::from_slice(json::without_mark(&request.body))
        && !depth::is_too_deep(&json)
    {
        sent = Sent::Json(json);
    }
    let changes = result.as_mut().map(|reply| std::mem::take(&mut reply.changes)).unwrap_or_default();
    let event = event::event(sandbox, &client.name, request, sent, &result);
    let answer = response(request, result, is_pretty);
    Outcome { answer, changes, events: vec![event] }
}

/// Reads the request and does what it asks for; leaves behind what its body was and how the answer is to look.
fn carried_out(
    world: &World,
    sandbox: &SandboxId,
    client: &Client,
    request: &Request,
    context: &Context<'_>,
    (sent, is_pretty): (&mut Sent, &mut bool),
) -> Result<Reply, Refusal> {
    let mut parameters = address::pairs(&request.query);
    *is_pretty = take(&mut parameters, "_pretty").is_some_and(|value| value == "true");
    let format = take(&mut parameters, "_format");
    let action = Action::of(&request.method, &address::segments(&request.path));
    let is_raw = action.as_ref().is_ok_and(|action| raw_binary::is_read(request, action, format.as_deref()));
    if !is_raw {
        media::check_accept(format.as_deref(), request.header("accept"))?;
    }
    let action = action?;
    let body = body(request, &action)?;
    let is_form = match action.body() {
        Body::Form => true,
        Body::Input => request.header("content-type").is_some_and(media::is_form),
        _ => false,
    };
    if is_form && request.method == "POST" {
        parameters.extend(address::pairs(&String::from_utf8_lossy(&request.body)));
        *is_pretty |= take(&mut parameters, "_pretty").is_some_and(|value| value == "true");
        media::check_accept(take(&mut parameters, "_format").as_deref(), request.header("accept"))?;
    }
    let sandbox = world.sandboxes.get(sandbox).ok_or_else(|| Refusal::not_found("there is no such sandbox"))?;
    let call = Call {
        world,
        sandbox,
        records: &sandbox.records,
        scopes: client.scopes.as_ref(),
        base_url: &request.base_url,
        own_paths: own_paths(&sandbox.id, &request.other_paths),
        token_url: request.token_url.as_deref(),
        context,
        prefer: Prefer::parse(request.header("prefer")),
        conditions: conditions(request),
        rules: WriteRules::of(&sandbox.config),
        search_budget: Rc::default(),
        raw_accept: request.header("accept").filter(|_| is_raw),
        parameters,
    };
    let mut result = call.perform(&action, body.as_ref());
    if let Ok(reply) = &result
        && !is_batch(&action, body.as_ref())
        && let Err(refusal) = check_changes(&call, &reply.changes)
    {
        result = Err(refusal);
    }
    if let Some(body) = body {
        *sent = Sent::Json(body);
    }
    result
}

/// What a write must not do to the whole of the record.
fn check_changes(call: &Call<'_>, changes: &[world::Change]) -> Result<(), Refusal> {
    stored_parameters::check(call, changes)?;
    integrity::check(call, changes)
}

/// Entries of a batch stand for themselves, and were looked at one by one.
fn is_batch(action: &Action, body: Option<&Value>) -> bool {
    *action == Action::Bundle && body.is_some_and(|bundle| bundle["type"] == "batch")
}

fn conditions(request: &Request) -> Conditions {
    let header = |name: &str| request.header(name).map(ToOwned::to_owned);
    Conditions {
        if_match: header("if-match"),
        if_none_match: header("if-none-match"),
        if_modified_since: header("if-modified-since"),
        if_none_exist: header("if-none-exist"),
    }
}

/// The JSON of the body, when the interaction wants one.
fn body(request: &Request, action: &Action) -> Result<Option<Value>, Refusal> {
    let content_type = request.header("content-type");
    if raw_binary::is_write(request, action) {
        return Ok(Some(raw_binary::resource(request, action)));
    }
    let is_empty = request.body.is_empty();
    match action.body() {
        Body::None => return Ok(None),
        Body::Form => {
            if request.method == "POST" {
                media::check_form(content_type, is_empty)?;
                check_form_size(request.body.len())?;
            }
            return Ok(None);
        }
        Body::Optional | Body::Input if is_empty => return Ok(None),
        Body::Input if content_type.is_some_and(media::is_form) => {
            return check_form_size(request.body.len()).map(|()| None);
        }
        Body::Resource | Body::Optional | Body::Input => media::check_resource(content_type)?,
        Body::Patch => media::check_patch(content_type)?,
    }
    if is_empty {
        return Ok(None);
    }
    let parsed = json::parse(&request.body)?;
    if action.body() == Body::Patch {
        media::check_patch_body(content_type, &parsed)?;
    }
    Ok(Some(parsed))
}

/// A search of this size is none that anybody writes; what it looks for would be held many times over.
const MOST_FORM_BYTES: usize = 1 << 20;

fn check_form_size(bytes: usize) -> Result<(), Refusal> {
    if bytes > MOST_FORM_BYTES {
        return Err(Refusal::new(413, "too-long", format!("a search has at most {MOST_FORM_BYTES} bytes")));
    }
    Ok(())
}

/// Takes a parameter out; the last one of the name counts.
fn take(parameters: &mut Vec<(String, String)>, name: &str) -> Option<String> {
    let mut taken = None;
    parameters.retain_mut(|(known, value)| {
        let is_other = known != name;
        if !is_other {
            taken = Some(std::mem::take(value));
        }
        is_other
    });
    taken
}

fn response(request: &Request, result: Result<Reply, Refusal>, is_pretty: bool) -> Response {
    let (status, mut headers, mut body) = match result {
        Ok(Reply { status, headers, content: Content::Bytes { bytes, .. }, .. }) => {
            let raw = if request.method == "HEAD" { Vec::new() } else { bytes };
            return Response { status, headers, body: String::new(), raw: Some(raw) };
        }
        Ok(reply) => (reply.status, reply.headers, reply.content.into_text()),
        Err(refusal) => (refusal.status, refusal.headers.clone(), refusal.json().to_string()),
    };
    if is_pretty && let Ok(json) = serde_json::from_str::<Value>(&body) {
        body = format!("{json:#}\n");
    }
    let has_type = headers.iter().any(|(name, _)| *name == "content-type");
    if !body.is_empty() && !has_type {
        headers.push(("content-type", media::FHIR_JSON.to_owned()));
    }
    if request.method == "HEAD" {
        body.clear();
    }
    Response { status, headers, body, raw: None }
}
