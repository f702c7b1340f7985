//! Accepting a suggestion: its actions are done to the record in one transaction, and that is feedback.

use serde_json::{Value, json};
use world::{Change, Context, Outcome, Sandbox, World};

use super::actions::transaction;
use super::chart::fhir_server;
use super::feedback::{self, Delivery, Entry, FEEDBACK, kept, told_service};
use super::invocations;
use super::refusal::Refusal;
use crate::fhir::internal_transaction::apply_transaction;
use crate::idempotency::{BOOKKEEPING, IdempotencyKey};

/// What accepting the suggestion tells its service. That it can be done is looked at, but it is not done yet.
pub fn plan(
    world: &World,
    sandbox: &Sandbox,
    context: &Context<'_>,
    invocation: &str,
    suggestion: &str,
) -> Result<Entry, Refusal> {
    let (entry, _) = carried_out(world, sandbox, context, invocation, suggestion)?;
    Ok(entry)
}

/// Does it, and keeps the feedback with whether the service heard of it.
pub fn record(
    world: &World,
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    (invocation, suggestion): (&str, &str),
    delivery: &Delivery,
    token: Option<&IdempotencyKey>,
) -> Outcome<Result<Value, Refusal>> {
    match done(world, sandbox, actor, context, (invocation, suggestion), delivery, token) {
        Ok(outcome) => Outcome { answer: Ok(outcome.answer), changes: outcome.changes, events: outcome.events },
        Err(refusal) => Outcome { answer: Err(refusal), changes: Vec::new(), events: Vec::new() },
    }
}

fn done(
    world: &World,
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    (invocation, suggestion): (&str, &str),
    delivery: &Delivery,
    token: Option<&IdempotencyKey>,
) -> Result<Outcome<Value>, Refusal> {
    if let Some(known) = token.map_or(Ok(None), |token| earlier(sandbox, token))? {
        return Ok(Outcome { answer: known, changes: Vec::new(), events: Vec::new() });
    }
    let (entry, (mut changes, applied)) = carried_out(world, sandbox, context, invocation, suggestion)?;
    let request = context.new_event_id().to_string();
    let (row, change, event) = kept(sandbox, actor, context, &entry, delivery, &request, &applied);
    changes.push(change);
    if let Some(token) = token {
        changes.push(sandbox.put(BOOKKEEPING, &token.record_key(), &token.row(&request), context.now));
    }
    Ok(Outcome { answer: row, changes, events: vec![event] })
}

/// What an earlier request of this name came to.
pub fn earlier(sandbox: &Sandbox, token: &IdempotencyKey) -> Result<Option<Value>, Refusal> {
    Ok(feedback::earlier(sandbox, token)?.and_then(|known| known["feedback"].get(0).cloned()))
}

type Applied = (Vec<Change>, Value);

fn carried_out(
    world: &World,
    sandbox: &Sandbox,
    context: &Context<'_>,
    invocation: &str,
    wanted: &str,
) -> Result<(Entry, Applied), Refusal> {
    let invocation = invocations::find(sandbox, invocation).ok_or(Refusal::Missing("invocation"))?;
    let (card, suggestion) = suggestion(&invocation, wanted).ok_or(Refusal::Missing("suggestion"))?;
    check_free(sandbox, &invocation, &card, wanted)?;
    let applied = apply(world, context, &suggestion)?;
    let uuid = card["uuid"].as_str().unwrap_or_default();
    let body = json!({"card": uuid, "outcome": "accepted", "acceptedSuggestions": [{"id": wanted}],
        "outcomeTimestamp": context.now.to_string()});
    let service = told_service(sandbox, &invocation, [uuid, wanted].into_iter());
    Ok((Entry { body, invocation, service }, applied))
}

/// The card and the suggestion of this uuid.
fn suggestion(invocation: &Value, uuid: &str) -> Option<(Value, Value)> {
    invocation["cards"].as_array()?.iter().find_map(|card| {
        let found = card["suggestions"].as_array()?.iter().find(|suggestion| suggestion["uuid"] == uuid)?;
        Some((card.clone(), found.clone()))
    })
}

/// A suggestion is taken once, and of a card that says so at most one.
fn check_free(sandbox: &Sandbox, invocation: &Value, card: &Value, wanted: &str) -> Result<(), Refusal> {
    let rows = sandbox.records.own(FEEDBACK).map(|record| record.json());
    let taken = rows.filter(|row| {
        row["invocation_id"] == invocation["id"] && row["card"] == card["uuid"] && row["outcome"] == "accepted"
    });
    for row in taken {
        if row["acceptedSuggestions"].as_array().into_iter().flatten().any(|one| one["id"] == wanted) {
            return Err(Refusal::Conflict("the suggestion was accepted before".to_owned()));
        }
        if card["selectionBehavior"] == "at-most-one" {
            let message = "another suggestion of the card was accepted, and at most one can be".to_owned();
            return Err(Refusal::Conflict(message));
        }
    }
    Ok(())
}

/// All actions or none, with what they came to: `[{type, resource}]`.
fn apply(world: &World, context: &Context<'_>, suggestion: &Value) -> Result<Applied, Refusal> {
    let actions = suggestion["actions"].as_array().map(Vec::as_slice).unwrap_or_default();
    if actions.is_empty() {
        return Ok((Vec::new(), json!([])));
    }
    let missing =
        || Refusal::Conflict("the playground has no FHIR server of its own to apply the actions to".to_owned());
    let server = fhir_server(world).ok_or_else(missing)?;
    let refused = |why: String| Refusal::Conflict(format!("the FHIR server refuses the suggestion's actions: {why}"));
    let changes = apply_transaction(world, server, context, &transaction(actions)).map_err(refused)?;
    let told = |change: &Change| {
        let kind = match change.write {
            world::Write::Create => "create",
            world::Write::Update => "update",
            world::Write::Delete => "delete",
        };
        json!({"type": kind, "resource": format!("{}/{}", change.collection, change.key)})
    };
    let applied = changes.iter().map(told).collect();
    Ok((changes, applied))
}
