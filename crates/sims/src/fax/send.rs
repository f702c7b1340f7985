//! A fax from the agent: what it must be to be taken, and what is kept of it.

use model::FieldErrors;
use model::api_key::masked;
use model::event::EventType;
use model::fax::NewFax;
use model::phone::PhoneNumber;
use serde_json::{Value, json};
use world::{Context, NewEvent, Outcome, Sandbox, World};

use super::config::FaxConfig;
use super::deliver;
use super::line::Line;
use super::number;
use super::reference::{self, Source};
use super::rows::{Direction, Kept, Words, all, find, shown};
use crate::authored;
use crate::idempotency::{BOOKKEEPING, IdempotencyConflict, IdempotencyKey};
use crate::redact::without_secrets;
use crate::scenario::step::object;

/// Of one document.
pub const MOST_BYTES: usize = 8 << 20;
pub const MOST_PAGES: usize = 200;
/// Of a document, pages that are pictures without text: each takes about a second to read.
pub const MOST_PICTURES: usize = 50;
/// Of the text of one document.
pub const LONGEST_TEXT: usize = 1 << 20;
/// Of one line.
const MOST_FAXES: usize = 1000;
const MOST_BYTES_OF_ALL: u64 = 256 << 20;

/// Why a fax is not taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    Invalid(FieldErrors),
    /// Its name is that of another fax.
    Used(IdempotencyConflict),
    Full(String),
}

/// The document of a fax, read once and kept for good.
#[derive(Clone, Debug)]
pub struct Paper {
    pub content_type: &'static str,
    pub pages: usize,
    pub size: usize,
    pub sha256: String,
    pub words: Words,
}

/// What is to be done with a fax.
#[derive(Clone, Debug)]
pub enum Plan {
    /// It was sent before.
    Again(Kept),
    /// Its bytes are to be read, here or as the caller has them.
    Read(Option<Source>),
}

/// Before anything is read: whether the fax could be sent, and where its bytes are. What is refused is an event.
pub fn plan(
    world: &World,
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    (new, has_bytes): (&NewFax, bool),
    token: Option<&IdempotencyKey>,
) -> Outcome<Result<Plan, Refusal>> {
    match token.map_or(Ok(None), |token| token.earlier_row(sandbox)) {
        Ok(None) => {}
        Ok(Some(id)) => return silent(earlier(sandbox, &id).map(Plan::Again)),
        Err(used) => return silent(Err(Refusal::Used(used))),
    }
    if let Err(full) = check_room(sandbox, 0) {
        return silent(Err(full));
    }
    let mut errors = check(new, has_bytes);
    let source = match &new.content_reference {
        Some(reference) if !has_bytes => match reference::resolve(world, context, actor, reference) {
            Ok(source) => Some(source),
            Err(fault) => {
                errors.add("content_reference", fault);
                None
            }
        },
        _ => None,
    };
    match errors.into_result() {
        Ok(()) => silent(Ok(Plan::Read(source))),
        Err(errors) => {
            let refused = refuse(sandbox, actor, new, &errors);
            Outcome { answer: Err(Refusal::Invalid(errors)), changes: refused.changes, events: refused.events }
        }
    }
}

/// A fax that cannot be sent is still an event.
pub fn refuse(sandbox: &Sandbox, actor: &str, new: &NewFax, errors: &FieldErrors) -> Outcome<()> {
    let told = json!({"to_number": new.to_number, "content_reference": new.content_reference, "status": "refused",
        "errors": errors});
    Outcome {
        answer: (),
        changes: Vec::new(),
        events: vec![event(sandbox, actor, "a fax was refused: not valid", told)],
    }
}

/// The fax as it is kept, after the calls that have ended at once.
pub fn send(
    world: &World,
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    (new, paper): (&NewFax, &Paper),
    token: Option<&IdempotencyKey>,
) -> Outcome<Result<(Kept, bool), Refusal>> {
    match token.map_or(Ok(None), |token| token.earlier_row(sandbox)) {
        Ok(None) => {}
        Ok(Some(id)) => return silent(earlier(sandbox, &id).map(|kept| (kept, false))),
        Err(used) => return silent(Err(Refusal::Used(used))),
    }
    if let Err(full) = check_room(sandbox, paper.size as u64) {
        return silent(Err(full));
    }
    let config = authored::read::<FaxConfig>(&sandbox.config).unwrap_or_default();
    let to = international(&new.to_number).unwrap_or_default();
    let line = Line::to(&config, &to);
    let id = format!("fax_{}", (context.new_id)());
    let mut row = queued(sandbox, &id, &to, (new, paper), context);
    row["next_attempt_at"] = line.first(context.now).to_string().into();
    let delivered = deliver::go_on(world, sandbox, context, &line, &mut row);
    let summary = format!("a fax to {to} with {} pages is {}", paper.pages, row["status"].as_str().unwrap_or_default());
    let mut changes = delivered.changes;
    changes.extend(token.map(|token| sandbox.put(BOOKKEEPING, &token.record_key(), &token.row(&id), context.now)));
    let mut events = vec![event(sandbox, actor, &summary, shown(&row))];
    events.extend(delivered.events);
    Outcome { answer: Ok((Kept(row), true)), changes, events }
}

fn queued(sandbox: &Sandbox, id: &str, to: &str, (new, paper): (&NewFax, &Paper), context: &Context<'_>) -> Value {
    let mut row = object([
        ("id", id.into()),
        ("direction", "outbound".into()),
        ("to_number", to.into()),
        ("from_number", number::own(&sandbox.config, &sandbox.id).into()),
        ("subject", new.subject.clone().into()),
        ("patient_id", new.patient_id.clone().into()),
        ("document_type", new.document_type.clone().into()),
        ("content_reference", new.content_reference.clone().into()),
        ("status", "queued".into()),
        ("reason", Value::Null),
        ("attempts", 0.into()),
        ("next_attempt_at", Value::Null),
        ("created_at", context.now.to_string().into()),
        ("sent_at", Value::Null),
        ("failed_at", Value::Null),
        ("content_type", paper.content_type.into()),
        ("pages", paper.pages.into()),
        ("size", paper.size.into()),
        ("sha256", paper.sha256.as_str().into()),
    ]);
    row.extend(paper.words.members());
    Value::Object(row)
}

fn check(new: &NewFax, has_bytes: bool) -> FieldErrors {
    let mut errors = FieldErrors::new();
    match (has_bytes, &new.content_reference) {
        (false, None) => errors.add("base64", "must be given, or `content_reference`"),
        (true, Some(_)) => errors.add("content_reference", "must not stand beside the document itself"),
        _ => {}
    }
    if international(&new.to_number).is_none() {
        errors.add("to_number", "must be a fax number with its country code, such as +1 555 010 0199");
    }
    let texts = [("subject", &new.subject), ("patient_id", &new.patient_id), ("document_type", &new.document_type)];
    for (field, text) in texts {
        if let Some(text) = text {
            errors.name(field, text);
        }
    }
    errors
}

fn international(number: &str) -> Option<String> {
    number.parse::<PhoneNumber>().ok()?.international()
}

fn check_room(sandbox: &Sandbox, more: u64) -> Result<(), Refusal> {
    let (mut count, mut bytes) = (0_usize, more);
    for record in all(sandbox) {
        count += 1;
        bytes += record.json().get("size").and_then(Value::as_u64).unwrap_or(0);
    }
    if count >= MOST_FAXES {
        return Err(Refusal::Full(format!("a fax line keeps at most {MOST_FAXES} faxes")));
    }
    if bytes > MOST_BYTES_OF_ALL {
        return Err(Refusal::Full(format!("a fax line keeps at most {MOST_BYTES_OF_ALL} bytes of documents")));
    }
    Ok(())
}

fn earlier(sandbox: &Sandbox, id: &str) -> Result<Kept, Refusal> {
    find(sandbox, Direction::Outbound, id).map(Kept).ok_or(Refusal::Used(IdempotencyConflict))
}

fn silent<T>(answer: T) -> Outcome<T> {
    Outcome { answer, changes: Vec::new(), events: Vec::new() }
}

fn event(sandbox: &Sandbox, actor: &str, summary: &str, payload: Value) -> NewEvent {
    NewEvent {
        sandbox: sandbox.id.clone(),
        r#type: EventType::FaxOutbound,
        actor: actor.to_owned(),
        summary: masked(summary),
        payload: without_secrets(payload).into(),
    }
}
