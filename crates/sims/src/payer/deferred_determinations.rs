//! Determinations with a delay. They are stored in the collection of scheduled scenario steps, so that they survive a crash
//! and are visible on every node. No simulator displays them.

use model::Timestamp;
use model::event::EventType;
use model::simulator::SimulatorType;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use world::{Change, Context, NewEvent, Outcome, Sandbox, World};

use super::config::Determination;
use super::context::PortalContext;
use super::determination;
use super::rows::{REQUESTS, display_row, text};
use crate::scenario::SCHEDULED;
use crate::scheduler::{Origin, Schedule};

/// A determination is a consequence of the agent's request.
pub(crate) const SCHEDULE: Schedule = Schedule { origin: Origin::Agent, next_due, catch_up };

#[derive(Deserialize, Serialize)]
struct DeferredDecision {
    due_at: Timestamp,
    request: String,
    determination: Determination,
}

/// The record key of a request's pending determination. Scenario steps have numeric keys.
fn key(request: &str) -> String {
    format!("determination-{request}")
}

/// Schedules a determination.
pub(super) fn defer(
    portal: &PortalContext<'_>,
    request: &str,
    due_at: Timestamp,
    determination: &Determination,
) -> Change {
    let row = DeferredDecision { due_at, request: request.to_owned(), determination: determination.clone() };
    portal.put(SCHEDULED, &key(request), &serde_json::to_value(row).unwrap_or_default())
}

/// Cancels the pending determination of a request, if there is one.
pub(super) fn cancel(portal: &PortalContext<'_>, request: &str) -> Option<Change> {
    let key = key(request);
    portal.sandbox.records.get(SCHEDULED, &key).live().map(|_| portal.delete(SCHEDULED, &key))
}

/// When the next pending determination becomes due.
pub fn next_due(world: &World) -> Option<Timestamp> {
    pending(world).map(|(_, deferred)| deferred.due_at).min()
}

/// Applies all determinations that are due, with an event for each.
pub fn catch_up(world: &World, context: &Context<'_>) -> Outcome<()> {
    let mut due: Vec<(&Sandbox, DeferredDecision)> =
        pending(world).filter(|(_, deferred)| deferred.due_at <= context.now).collect();
    due.sort_by(|left, right| (left.1.due_at, &left.1.request).cmp(&(right.1.due_at, &right.1.request)));
    let (mut changes, mut events) = (Vec::new(), Vec::new());
    for (sandbox, deferred) in due {
        let key = key(&deferred.request);
        changes.push(sandbox.delete(SCHEDULED, &key, context.now));
        let row = with_determination(sandbox, &deferred);
        if let Some(row) = &row {
            changes.push(sandbox.put(REQUESTS, &deferred.request, row, context.now));
        }
        events.push(event(sandbox, &deferred, row.as_ref()));
    }
    Outcome { answer: (), changes, events }
}

/// The request with its determination. None if the request no longer exists.
fn with_determination(sandbox: &Sandbox, deferred: &DeferredDecision) -> Option<Value> {
    let record = sandbox.records.get(REQUESTS, &deferred.request).live()?;
    let mut row = Value::clone(&record.json());
    let at: Value = deferred.due_at.to_string().into();
    row["determination"] = determination::determination_json(&deferred.determination, &at);
    row["updated_at"] = at;
    Some(row)
}

fn event(sandbox: &Sandbox, deferred: &DeferredDecision, row: Option<&Value>) -> NewEvent {
    let number = row.and_then(|row| text(row, "auth_number")).unwrap_or(&deferred.request);
    let status = json!(deferred.determination.status);
    NewEvent {
        sandbox: sandbox.id.clone(),
        r#type: EventType::PortalDetermination,
        actor: "payer".to_owned(),
        summary: format!("{number} is {}", status.as_str().unwrap_or_default()),
        payload: json!({"due_at": deferred.due_at, "row": row.map(|row| display_row(&deferred.request, row))}).into(),
    }
}

/// The pending determinations of active portals.
fn pending(world: &World) -> impl Iterator<Item = (&Sandbox, DeferredDecision)> {
    let portals = world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Payer && sandbox.is_active);
    portals.flat_map(|sandbox| {
        let rows = sandbox.records.own(SCHEDULED);
        rows.filter_map(move |record| Some((sandbox, DeferredDecision::deserialize(&*record.json()).ok()?)))
    })
}
