//! Handles a FHIR request: returns the response, the changes and the log event.

use std::rc::Rc;

use model::SandboxId;
use serde_json::Value;
use world::{Context, Outcome, World};

use super::config::WriteRules;
use super::event::{self, LoggedBody};
use super::http::{Request, Response};
use super::interaction::{BodyKind, Interaction};
use super::interaction_context::{Conditions, InteractionContext, Prefer, own_paths};
use super::outcome::FhirError;
use super::reply::{Reply, ReplyContent};
use super::scopes::Scopes;
use super::{address, depth, integrity, json, media, raw_binary, stored_parameters};

/// Whether the request cannot change anything.
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

/// The client of a request. No scopes means no restrictions.
#[derive(Clone, Debug)]
pub struct FhirClient {
    pub name: String,
    pub scopes: Option<Scopes>,
}

pub fn handle(
    world: &World,
    sandbox: &SandboxId,
    client: &FhirClient,
    request: &Request,
    context: &Context<'_>,
) -> Outcome<Response> {
    let mut logged_body = if request.body.is_empty() { LoggedBody::Empty } else { LoggedBody::Text };
    let mut is_pretty = false;
    let mut result = process(world, sandbox, client, request, context, (&mut logged_body, &mut is_pretty));
    if let LoggedBody::Text = logged_body
        && !depth::has_too_many_values(&request.body)
        && let Ok(json) = serde_json::from_slice(json::without_byte_order_mark(&request.body))
        && !depth::is_too_deep(&json)
    {
        logged_body = LoggedBody::Json(json);
    }
    let changes = result.as_mut().map(|reply| std::mem::take(&mut reply.changes)).unwrap_or_default();
    let event = event::event(sandbox, &client.name, request, logged_body, &result);
    let response = response(request, result, is_pretty);
    Outcome { answer: response, changes, events: vec![event] }
}

/// A parsed request. Some of it is needed even if processing fails.
struct ParsedRequest {
    interaction: Interaction,
    parameters: Vec<(String, String)>,
    body: Option<Value>,
    /// Whether the content of a Binary is requested instead of the resource.
    is_raw: bool,
}

/// Parses the URL, the headers and the body of a request. Sets `is_pretty` as early as possible, because errors are
/// formatted too.
fn parse(request: &Request, is_pretty: &mut bool) -> Result<ParsedRequest, FhirError> {
    let mut parameters = address::pairs(&request.query);
    *is_pretty = take(&mut parameters, "_pretty").is_some_and(|value| value == "true");
    let format = take(&mut parameters, "_format");
    let interaction = Interaction::of(&request.method, &address::segments(&request.path));
    let is_raw =
        interaction.as_ref().is_ok_and(|interaction| raw_binary::is_read(request, interaction, format.as_deref()));
    if !is_raw {
        media::check_accept(format.as_deref(), request.header("accept"))?;
    }
    let interaction = interaction?;
    let body = body(request, &interaction)?;
    let is_form = match interaction.body() {
        BodyKind::Form => true,
        BodyKind::Input => request.header("content-type").is_some_and(media::is_form),
        _ => false,
    };
    if is_form && request.method == "POST" {
        parameters.extend(address::pairs(&String::from_utf8_lossy(&request.body)));
        *is_pretty |= take(&mut parameters, "_pretty").is_some_and(|value| value == "true");
        media::check_accept(take(&mut parameters, "_format").as_deref(), request.header("accept"))?;
    }
    Ok(ParsedRequest { interaction, parameters, body, is_raw })
}

/// Parses and performs the request. Sets `logged_body` if the body is JSON.
fn process(
    world: &World,
    sandbox: &SandboxId,
    client: &FhirClient,
    request: &Request,
    world_context: &Context<'_>,
    (logged_body, is_pretty): (&mut LoggedBody, &mut bool),
) -> Result<Reply, FhirError> {
    let ParsedRequest { interaction, parameters, body, is_raw } = parse(request, is_pretty)?;
    let sandbox = world.sandboxes.get(sandbox).ok_or_else(|| FhirError::not_found("there is no such sandbox"))?;
    let context = InteractionContext {
        world,
        sandbox,
        records: &sandbox.records,
        scopes: client.scopes.as_ref(),
        base_url: &request.base_url,
        own_paths: own_paths(&sandbox.id, &request.other_paths),
        token_url: request.token_url.as_deref(),
        world_context,
        prefer: Prefer::parse(request.header("prefer")),
        conditions: conditions(request),
        rules: WriteRules::of(&sandbox.config),
        search_budget: Rc::default(),
        raw_accept: request.header("accept").filter(|_| is_raw),
        parameters,
    };
    let mut result = context.perform(&interaction, body.as_ref());
    if let Ok(reply) = &result
        && !is_batch(&interaction, body.as_ref())
        && let Err(error) = check_changes(&context, &reply.changes)
    {
        result = Err(error);
    }
    if let Some(body) = body {
        *logged_body = LoggedBody::Json(body);
    }
    result
}

/// Checks the state after all changes of the request.
fn check_changes(context: &InteractionContext<'_>, changes: &[world::Change]) -> Result<(), FhirError> {
    stored_parameters::check(context, changes)?;
    integrity::check(context, changes)
}

/// Entries of a batch are independent and have been checked one by one.
fn is_batch(interaction: &Interaction, body: Option<&Value>) -> bool {
    *interaction == Interaction::Bundle && body.is_some_and(|bundle| bundle["type"] == "batch")
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

/// Parses the JSON body, if the interaction has one.
fn body(request: &Request, interaction: &Interaction) -> Result<Option<Value>, FhirError> {
    let content_type = request.header("content-type");
    if raw_binary::is_write(request, interaction) {
        return Ok(Some(raw_binary::resource(request, interaction)));
    }
    let is_empty = request.body.is_empty();
    match interaction.body() {
        BodyKind::None => return Ok(None),
        BodyKind::Form => {
            if request.method == "POST" {
                media::check_form(content_type, is_empty)?;
                check_form_size(request.body.len())?;
            }
            return Ok(None);
        }
        BodyKind::Optional | BodyKind::Input if is_empty => return Ok(None),
        BodyKind::Input if content_type.is_some_and(media::is_form) => {
            return check_form_size(request.body.len()).map(|()| None);
        }
        BodyKind::Resource | BodyKind::Optional | BodyKind::Input => media::check_resource(content_type)?,
        BodyKind::Patch => media::check_patch(content_type)?,
    }
    if is_empty {
        return Ok(None);
    }
    let parsed = json::parse(&request.body)?;
    if interaction.body() == BodyKind::Patch {
        media::check_patch_body(content_type, &parsed)?;
    }
    Ok(Some(parsed))
}

/// No real search is larger. Its values would be copied several times.
const MAX_FORM_BYTES: usize = 1 << 20;

fn check_form_size(bytes: usize) -> Result<(), FhirError> {
    if bytes > MAX_FORM_BYTES {
        return Err(FhirError::new(413, "too-long", format!("a search may have at most {MAX_FORM_BYTES} bytes")));
    }
    Ok(())
}

/// Removes a parameter and returns its last value.
fn take(parameters: &mut Vec<(String, String)>, name: &str) -> Option<String> {
    let mut last = None;
    parameters.retain_mut(|(known, value)| {
        let is_other = known != name;
        if !is_other {
            last = Some(std::mem::take(value));
        }
        is_other
    });
    last
}

fn response(request: &Request, result: Result<Reply, FhirError>, is_pretty: bool) -> Response {
    let (status, mut headers, mut body) = match result {
        Ok(Reply { status, headers, content: ReplyContent::Bytes { bytes, .. }, .. }) => {
            let raw = if request.method == "HEAD" { Vec::new() } else { bytes };
            return Response { status, headers, body: String::new(), raw: Some(raw) };
        }
        Ok(reply) => (reply.status, reply.headers, reply.content.into_text()),
        Err(error) => (error.status, error.headers.clone(), error.json().to_string()),
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
