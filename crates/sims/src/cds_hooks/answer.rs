//! The agent as a service: it answers a hook that waits for it, as a service would have answered at once.

use model::canonical::sha256_hex;
use model::event::EventType;
use serde_json::{Value, json};
use world::{Context, Outcome, Sandbox};

use super::cards;
use super::event::event;
use super::invocations::{self, INVOCATIONS};
use super::invoke::summary;
use super::members::Unknown;
use super::refusal::Refusal;

/// The invocation with its cards. An answer that breaks a rule is refused, and the hook still waits.
pub fn answer(
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    id: &str,
    given: &Value,
) -> Outcome<Result<Value, Refusal>> {
    let Some(mut row) = invocations::find(sandbox, id) else { return silent(Err(Refusal::Missing("invocation"))) };
    // Whoever says the same again has been heard.
    let hash = sha256_hex(model::canonical::to_string(given).as_bytes());
    if row["answer_sha256"] == hash.as_str() {
        return silent(Ok(invocations::shown(row)));
    }
    if row["status"] != "pending" {
        let message = format!("the invocation is {}; only one that is pending can be answered", row["status"]);
        return refused(sandbox, actor, &row, Refusal::Conflict(message));
    }
    if let Err(faults) = cards::check(given, Unknown::Refused) {
        return refused(sandbox, actor, &row, Refusal::Invalid(faults));
    }
    invocations::answered(&mut row, context, given);
    row["answer_sha256"] = hash.into();
    let told = invocations::told(&row);
    let events = vec![event(sandbox, EventType::CdsInvoke, actor, &summary(&row), told)];
    let changes = vec![sandbox.put(INVOCATIONS, id, &row, context.now)];
    Outcome { answer: Ok(invocations::shown(row)), changes, events }
}

fn silent<T>(answer: T) -> Outcome<T> {
    Outcome { answer, changes: Vec::new(), events: Vec::new() }
}

fn refused(sandbox: &Sandbox, actor: &str, row: &Value, refusal: Refusal) -> Outcome<Result<Value, Refusal>> {
    let why = match &refusal {
        Refusal::Invalid(faults) => json!(faults),
        Refusal::Conflict(why) => json!(why),
        Refusal::Missing(_) | Refusal::Used(_) => Value::Null,
    };
    let told = json!({"invocation_id": row["id"], "hook": row["hook"], "status": "refused", "error": why});
    let summary = format!("an answer to {} was refused", row["hook"].as_str().unwrap_or_default());
    let events = vec![event(sandbox, EventType::CdsInvoke, actor, &summary, told)];
    Outcome { answer: Err(refusal), changes: Vec::new(), events }
}
