//! Accepting a suggestion: applies its actions in one FHIR transaction, and records feedback.

use serde_json::{Value, json};
use world::{Change, Context, Outcome, Sandbox, World};

use super::actions::transaction;
use super::chart::fhir_server;
use super::error::CdsError;
use super::feedback::{self, Delivery, FEEDBACK, FeedbackEntry, feedback_recipient, new_row};
use super::invocations;
use crate::fhir::internal_transaction::apply_transaction;
use crate::idempotency::{BOOKKEEPING, IdempotencyKey};

/// Checks that the suggestion can be accepted, and returns the feedback for its service. Nothing is changed yet.
pub fn plan(
    world: &World,
    sandbox: &Sandbox,
    context: &Context<'_>,
    invocation: &str,
    suggestion: &str,
) -> Result<FeedbackEntry, CdsError> {
    let (entry, _) = prepare(world, sandbox, context, invocation, suggestion)?;
    Ok(entry)
}

/// Applies the actions, and stores the feedback with its delivery status.
pub fn record(
    world: &World,
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    (invocation, suggestion): (&str, &str),
    delivery: &Delivery,
    token: Option<&IdempotencyKey>,
) -> Outcome<Result<Value, CdsError>> {
    match accept(world, sandbox, actor, context, (invocation, suggestion), delivery, token) {
        Ok(outcome) => Outcome { answer: Ok(outcome.answer), changes: outcome.changes, events: outcome.events },
        Err(error) => Outcome { answer: Err(error), changes: Vec::new(), events: Vec::new() },
    }
}

fn accept(
    world: &World,
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    (invocation, suggestion): (&str, &str),
    delivery: &Delivery,
    token: Option<&IdempotencyKey>,
) -> Result<Outcome<Value>, CdsError> {
    if let Some(earlier) = token.map_or(Ok(None), |token| earlier_result(sandbox, token))? {
        return Ok(Outcome { answer: earlier, changes: Vec::new(), events: Vec::new() });
    }
    let (entry, (mut changes, applied)) = prepare(world, sandbox, context, invocation, suggestion)?;
    let request = context.new_event_id().to_string();
    let (row, change, event) = new_row(sandbox, actor, context, &entry, delivery, &request, &applied);
    changes.push(change);
    if let Some(token) = token {
        changes.push(sandbox.put(BOOKKEEPING, &token.record_key(), &token.row(&request), context.now));
    }
    Ok(Outcome { answer: row, changes, events: vec![event] })
}

/// The result of an earlier request under the same idempotency key.
pub fn earlier_result(sandbox: &Sandbox, token: &IdempotencyKey) -> Result<Option<Value>, CdsError> {
    Ok(feedback::earlier_result(sandbox, token)?.and_then(|earlier| earlier["feedback"].get(0).cloned()))
}

/// The changes of the actions, and their summary `[{type, resource}]`.
type AppliedActions = (Vec<Change>, Value);

fn prepare(
    world: &World,
    sandbox: &Sandbox,
    context: &Context<'_>,
    invocation: &str,
    suggestion_uuid: &str,
) -> Result<(FeedbackEntry, AppliedActions), CdsError> {
    let invocation = invocations::find(sandbox, invocation).ok_or(CdsError::Missing("invocation"))?;
    let (card, suggestion) = find_suggestion(&invocation, suggestion_uuid).ok_or(CdsError::Missing("suggestion"))?;
    check_acceptable(sandbox, &invocation, &card, suggestion_uuid)?;
    let applied = apply(world, context, &suggestion)?;
    let uuid = card["uuid"].as_str().unwrap_or_default();
    let body = json!({"card": uuid, "outcome": "accepted", "acceptedSuggestions": [{"id": suggestion_uuid}],
        "outcomeTimestamp": context.now.to_string()});
    let service = feedback_recipient(sandbox, &invocation, [uuid, suggestion_uuid].into_iter());
    Ok((FeedbackEntry { body, invocation, service }, applied))
}

/// The suggestion with the uuid, and its card.
fn find_suggestion(invocation: &Value, uuid: &str) -> Option<(Value, Value)> {
    invocation["cards"].as_array()?.iter().find_map(|card| {
        let suggestion = card["suggestions"].as_array()?.iter().find(|suggestion| suggestion["uuid"] == uuid)?;
        Some((card.clone(), suggestion.clone()))
    })
}

/// A suggestion can be accepted once. Of a card with `at-most-one`, only one suggestion can be accepted.
fn check_acceptable(
    sandbox: &Sandbox,
    invocation: &Value,
    card: &Value,
    suggestion_uuid: &str,
) -> Result<(), CdsError> {
    let rows = sandbox.records.own(FEEDBACK).map(|record| record.json());
    let accepted = rows.filter(|row| {
        row["invocation_id"] == invocation["id"] && row["card"] == card["uuid"] && row["outcome"] == "accepted"
    });
    for row in accepted {
        if row["acceptedSuggestions"].as_array().into_iter().flatten().any(|one| one["id"] == suggestion_uuid) {
            return Err(CdsError::Conflict("the suggestion was already accepted".to_owned()));
        }
        if card["selectionBehavior"] == "at-most-one" {
            let message =
                "another suggestion of the card was already accepted, and the card allows only one".to_owned();
            return Err(CdsError::Conflict(message));
        }
    }
    Ok(())
}

/// Applies all actions or none.
fn apply(world: &World, context: &Context<'_>, suggestion: &Value) -> Result<AppliedActions, CdsError> {
    let actions = suggestion["actions"].as_array().map(Vec::as_slice).unwrap_or_default();
    if actions.is_empty() {
        return Ok((Vec::new(), json!([])));
    }
    let missing =
        || CdsError::Conflict("the playground has no FHIR server of its own to apply the actions to".to_owned());
    let server = fhir_server(world).ok_or_else(missing)?;
    let rejected =
        |reason: String| CdsError::Conflict(format!("the FHIR server rejects the suggestion's actions: {reason}"));
    let changes = apply_transaction(world, server, context, &transaction(actions)).map_err(rejected)?;
    let applied_action = |change: &Change| {
        let kind = match change.write {
            world::Write::Create => "create",
            world::Write::Update => "update",
            world::Write::Delete => "delete",
        };
        json!({"type": kind, "resource": format!("{}/{}", change.collection, change.key)})
    };
    let applied = changes.iter().map(applied_action).collect();
    Ok((changes, applied))
}
