//! Sends a fax of the agent: [`plan`] checks it and resolves its document, [`send`] stores it and starts the delivery.

use clinical::PhoneNumber;
use model::FieldErrors;
use model::api_key::masked;
use model::event::EventType;
use model::fax::NewFax;
use serde_json::{Value, json};
use world::{Context, NewEvent, Outcome, Sandbox, World};

use super::calls::CallPlan;
use super::config::FaxConfig;
use super::delivery;
use super::number;
use super::reference::{self, DocumentSource};
use super::rows::{Direction, FaxText, StoredFax, all, find, public_row};
use crate::authored;
use crate::idempotency::{BOOKKEEPING, IdempotencyConflict, IdempotencyKey};
use crate::redact::without_secrets;
use crate::scenario::step::object;

/// The maximum size of a document.
pub const MAX_BYTES: usize = 8 << 20;
pub const MAX_PAGES: usize = 200;
/// The maximum number of scanned pages without text. OCR takes about a second for each.
pub const MAX_SCANNED_PAGES: usize = 50;
/// The maximum length of the text of a document, in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 20;
/// The maximum number of faxes of a line.
const MAX_FAXES: usize = 1000;
/// The maximum size of all documents of a line.
const MAX_TOTAL_BYTES: u64 = 256 << 20;

/// Why a fax is not sent.
#[derive(Clone, Debug, PartialEq)]
pub enum SendError {
    Invalid(FieldErrors),
    IdempotencyConflict(IdempotencyConflict),
    /// The line has no room for another fax.
    Full(String),
}

/// What is known about the document of a fax. It is determined once, before the fax is stored.
#[derive(Clone, Debug)]
pub struct FaxDocument {
    pub content_type: &'static str,
    pub pages: usize,
    pub size: usize,
    pub sha256: String,
    pub text: FaxText,
}

/// The next step in sending a fax.
#[derive(Clone, Debug)]
pub enum SendPlan {
    /// The fax was sent earlier under the same idempotency key.
    Replay(StoredFax),
    /// Read the document from the source, or from the bytes of the request if there is no source.
    ReadDocument(Option<DocumentSource>),
}

/// Checks the request before its document is read, and resolves where the document is. Rejected requests are logged.
pub fn plan(
    world: &World,
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    (new, has_bytes): (&NewFax, bool),
    token: Option<&IdempotencyKey>,
) -> Outcome<Result<SendPlan, SendError>> {
    match token.map_or(Ok(None), |token| token.earlier_row(sandbox)) {
        Ok(None) => {}
        Ok(Some(id)) => return unchanged(earlier_fax(sandbox, &id).map(SendPlan::Replay)),
        Err(conflict) => return unchanged(Err(SendError::IdempotencyConflict(conflict))),
    }
    if let Err(full) = check_room(sandbox, 0) {
        return unchanged(Err(full));
    }
    let mut errors = check(new, has_bytes);
    let source = match &new.content_reference {
        Some(reference) if !has_bytes => match reference::resolve(world, context, actor, reference) {
            Ok(source) => Some(source),
            Err(error) => {
                errors.add("content_reference", error);
                None
            }
        },
        _ => None,
    };
    match errors.into_result() {
        Ok(()) => unchanged(Ok(SendPlan::ReadDocument(source))),
        Err(errors) => {
            let rejected = reject(sandbox, actor, new, &errors);
            Outcome { answer: Err(SendError::Invalid(errors)), changes: rejected.changes, events: rejected.events }
        }
    }
}

/// Logs an invalid fax.
pub fn reject(sandbox: &Sandbox, actor: &str, new: &NewFax, errors: &FieldErrors) -> Outcome<()> {
    let payload = json!({"to_number": new.to_number, "content_reference": new.content_reference, "status": "refused",
        "errors": errors});
    Outcome {
        answer: (),
        changes: Vec::new(),
        events: vec![event(sandbox, actor, "a fax was refused: not valid", payload)],
    }
}

/// Stores a fax, applies the calls that end at once, and returns it. The flag is false for a fax that was sent earlier under the
/// same idempotency key.
pub fn send(
    world: &World,
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    (new, document): (&NewFax, &FaxDocument),
    token: Option<&IdempotencyKey>,
) -> Outcome<Result<(StoredFax, bool), SendError>> {
    match token.map_or(Ok(None), |token| token.earlier_row(sandbox)) {
        Ok(None) => {}
        Ok(Some(id)) => return unchanged(earlier_fax(sandbox, &id).map(|fax| (fax, false))),
        Err(conflict) => return unchanged(Err(SendError::IdempotencyConflict(conflict))),
    }
    if let Err(full) = check_room(sandbox, document.size as u64) {
        return unchanged(Err(full));
    }
    let config = authored::read::<FaxConfig>(&sandbox.config).unwrap_or_default();
    let to = international(&new.to_number).unwrap_or_default();
    let plan = CallPlan::new(&config, &to);
    let id = format!("fax_{}", (context.new_id)());
    let mut row = queued_row(sandbox, &id, &to, (new, document), context);
    row["next_attempt_at"] = plan.first_end(context.now).to_string().into();
    let delivery = delivery::advance(world, sandbox, context, &plan, &mut row);
    let summary =
        format!("a fax to {to} with {} pages is {}", document.pages, row["status"].as_str().unwrap_or_default());
    let mut changes = delivery.changes;
    changes.extend(token.map(|token| sandbox.put(BOOKKEEPING, &token.record_key(), &token.row(&id), context.now)));
    let mut events = vec![event(sandbox, actor, &summary, public_row(&row))];
    events.extend(delivery.events);
    Outcome { answer: Ok((StoredFax(row), true)), changes, events }
}

fn queued_row(
    sandbox: &Sandbox,
    id: &str,
    to: &str,
    (new, document): (&NewFax, &FaxDocument),
    context: &Context<'_>,
) -> Value {
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
        ("content_type", document.content_type.into()),
        ("pages", document.pages.into()),
        ("size", document.size.into()),
        ("sha256", document.sha256.as_str().into()),
    ]);
    row.extend(document.text.members());
    Value::Object(row)
}

fn check(new: &NewFax, has_bytes: bool) -> FieldErrors {
    let mut errors = FieldErrors::new();
    match (has_bytes, &new.content_reference) {
        (false, None) => errors.add("base64", "`base64` or `content_reference` is required"),
        (true, Some(_)) => errors.add("content_reference", "cannot be combined with a document in the request"),
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

fn check_room(sandbox: &Sandbox, additional_bytes: u64) -> Result<(), SendError> {
    let (mut count, mut bytes) = (0_usize, additional_bytes);
    for record in all(sandbox) {
        count += 1;
        bytes += record.json().get("size").and_then(Value::as_u64).unwrap_or(0);
    }
    if count >= MAX_FAXES {
        return Err(SendError::Full(format!("a fax line stores at most {MAX_FAXES} faxes")));
    }
    if bytes > MAX_TOTAL_BYTES {
        return Err(SendError::Full(format!("a fax line stores at most {MAX_TOTAL_BYTES} bytes of documents")));
    }
    Ok(())
}

/// The fax that was sent earlier under the same idempotency key.
fn earlier_fax(sandbox: &Sandbox, id: &str) -> Result<StoredFax, SendError> {
    find(sandbox, Direction::Outbound, id).map(StoredFax).ok_or(SendError::IdempotencyConflict(IdempotencyConflict))
}

fn unchanged<T>(answer: T) -> Outcome<T> {
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
