//! The agent as a CDS service: it answers a pending hook later, while other services answer at once.

use model::canonical::sha256_hex;
use model::event::EventType;
use serde_json::{Value, json};
use world::{Context, Outcome, Sandbox};

use super::cards;
use super::error::CdsError;
use super::event::event;
use super::invocations::{self, INVOCATIONS};
use super::invoke::summary;
use super::json_object::UnknownMembers;

/// Stores the cards of an answer. After an invalid answer the invocation stays pending.
pub fn answer(
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    id: &str,
    given: &Value,
) -> Outcome<Result<Value, CdsError>> {
    let Some(mut row) = invocations::find(sandbox, id) else { return unchanged(Err(CdsError::Missing("invocation"))) };
    // Repeating the same answer has no effect.
    let hash = sha256_hex(model::canonical::to_string(given).as_bytes());
    if row["answer_sha256"] == hash.as_str() {
        return unchanged(Ok(invocations::public_row(row)));
    }
    if row["status"] != "pending" {
        let message = format!("the invocation is {}; only pending invocations can be answered", row["status"]);
        return rejected(sandbox, actor, &row, CdsError::Conflict(message));
    }
    if let Err(errors) = cards::check(given, UnknownMembers::Rejected) {
        return rejected(sandbox, actor, &row, CdsError::Invalid(errors));
    }
    invocations::set_answered(&mut row, context, given);
    row["answer_sha256"] = hash.into();
    let payload = invocations::payload(&row);
    let events = vec![event(sandbox, EventType::CdsInvoke, actor, &summary(&row), payload)];
    let changes = vec![sandbox.put(INVOCATIONS, id, &row, context.now)];
    Outcome { answer: Ok(invocations::public_row(row)), changes, events }
}

fn unchanged<T>(answer: T) -> Outcome<T> {
    Outcome { answer, changes: Vec::new(), events: Vec::new() }
}

fn rejected(sandbox: &Sandbox, actor: &str, row: &Value, error: CdsError) -> Outcome<Result<Value, CdsError>> {
    let reason = match &error {
        CdsError::Invalid(errors) => json!(errors),
        CdsError::Conflict(message) => json!(message),
        CdsError::Missing(_) | CdsError::IdempotencyConflict(_) => Value::Null,
    };
    let payload = json!({"invocation_id": row["id"], "hook": row["hook"], "status": "refused", "error": reason});
    let summary = format!("an answer to {} was refused", row["hook"].as_str().unwrap_or_default());
    let events = vec![event(sandbox, EventType::CdsInvoke, actor, &summary, payload)];
    Outcome { answer: Err(error), changes: Vec::new(), events }
}
