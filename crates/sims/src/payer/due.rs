//! Decisions that the payer has put off. They lie where the scenario's later steps lie, as records that no simulator
//! shows, so that they survive a crash and every node knows them.

use model::Timestamp;
use model::event::EventType;
use model::simulator::SimulatorType;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use world::{Change, Context, NewEvent, Outcome, Sandbox, World};

use super::call::Call;
use super::config::Determination;
use super::decide;
use super::rows::{REQUESTS, shown, text};
use crate::scenario::SCHEDULED;
use crate::scheduler::{Origin, Schedule};

/// A determination follows from the request that the agent has submitted.
pub(crate) const SCHEDULE: Schedule = Schedule { origin: Origin::Agent, next_due, catch_up };

#[derive(Deserialize, Serialize)]
struct PutBy {
    due_at: Timestamp,
    request: String,
    determination: Determination,
}

/// The key of what waits for a request. A scenario's steps have numbers.
fn key(request: &str) -> String {
    format!("determination-{request}")
}

pub(super) fn put_by(call: &Call<'_>, request: &str, due_at: Timestamp, determination: &Determination) -> Change {
    let row = PutBy { due_at, request: request.to_owned(), determination: determination.clone() };
    call.put(SCHEDULED, &key(request), &serde_json::to_value(row).unwrap_or_default())
}

/// Takes off what waits for a request that needs no decision any more.
pub(super) fn take_off(call: &Call<'_>, request: &str) -> Option<Change> {
    let key = key(request);
    call.sandbox.records.get(SCHEDULED, &key).live().map(|_| call.delete(SCHEDULED, &key))
}

/// When the next decision becomes due, if one waits.
pub fn next_due(world: &World) -> Option<Timestamp> {
    waiting(world).map(|(_, put_by)| put_by.due_at).min()
}

/// Decides what is due. An event of the payer tells of each; without one there is nothing to do.
pub fn catch_up(world: &World, context: &Context<'_>) -> Outcome<()> {
    let mut due: Vec<(&Sandbox, PutBy)> = waiting(world).filter(|(_, put_by)| put_by.due_at <= context.now).collect();
    due.sort_by(|left, right| (left.1.due_at, &left.1.request).cmp(&(right.1.due_at, &right.1.request)));
    let (mut changes, mut events) = (Vec::new(), Vec::new());
    for (sandbox, put_by) in due {
        let place = key(&put_by.request);
        changes.push(sandbox.delete(SCHEDULED, &place, context.now));
        let row = decided(sandbox, &put_by);
        if let Some(row) = &row {
            changes.push(sandbox.put(REQUESTS, &put_by.request, row, context.now));
        }
        events.push(event(sandbox, &put_by, row.as_ref()));
    }
    Outcome { answer: (), changes, events }
}

/// The request with its decision; none if it is not there any more.
fn decided(sandbox: &Sandbox, put_by: &PutBy) -> Option<Value> {
    let record = sandbox.records.get(REQUESTS, &put_by.request).live()?;
    let mut row = Value::clone(&record.json());
    let at: Value = put_by.due_at.to_string().into();
    row["determination"] = decide::shown(&put_by.determination, &at);
    row["updated_at"] = at;
    Some(row)
}

fn event(sandbox: &Sandbox, put_by: &PutBy, row: Option<&Value>) -> NewEvent {
    let number = row.and_then(|row| text(row, "auth_number")).unwrap_or(&put_by.request);
    let status = json!(put_by.determination.status);
    NewEvent {
        sandbox: sandbox.id.clone(),
        r#type: EventType::PortalDetermination,
        actor: "payer".to_owned(),
        summary: format!("{number} is {}", status.as_str().unwrap_or_default()),
        payload: json!({"due_at": put_by.due_at, "row": row.map(|row| shown(&put_by.request, row))}).into(),
    }
}

/// What waits in portals that take traffic.
fn waiting(world: &World) -> impl Iterator<Item = (&Sandbox, PutBy)> {
    let portals = world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Payer && sandbox.is_active);
    portals.flat_map(|sandbox| {
        let rows = sandbox.records.own(SCHEDULED);
        rows.filter_map(move |record| Some((sandbox, PutBy::deserialize(&*record.json()).ok()?)))
    })
}
