//! Calls that end later. They are stored next to the deferred scenario steps, as records that no simulator exposes. That
//! makes them survive a crash and visible to every node.

use std::collections::BTreeMap;

use model::simulator::SimulatorType;
use model::{SandboxId, Timestamp};
use serde::Deserialize;
use world::{Context, Outcome, Sandbox, World};

use super::calls::CallPlan;
use super::config::FaxConfig;
use super::delivery;
use super::rows::{Direction, PendingDelivery, find, text};
use crate::authored;
use crate::scenario::SCHEDULED;
use crate::scheduler::{Origin, Schedule};

/// Delivery is a consequence of the agent's action: nobody can prevent it.
pub(crate) const SCHEDULE: Schedule = Schedule { origin: Origin::Agent, next_due, catch_up };

/// When the next pending call ends, if there is one.
pub fn next_due(world: &World) -> Option<Timestamp> {
    pending(world).map(|(_, delivery)| delivery.due_at).min()
}

/// Ends the calls that are due, ordered by due time.
pub fn catch_up(world: &World, context: &Context<'_>) -> Outcome<()> {
    let mut due: Vec<(&Sandbox, PendingDelivery)> =
        pending(world).filter(|(_, delivery)| delivery.due_at <= context.now).collect();
    due.sort_by(|left, right| (left.1.due_at, &left.1.fax).cmp(&(right.1.due_at, &right.1.fax)));
    let (mut changes, mut events) = (Vec::new(), Vec::new());
    // Configs may be long, so each is read once.
    let mut configs: BTreeMap<&SandboxId, FaxConfig> = BTreeMap::new();
    for (sandbox, PendingDelivery { fax, .. }) in due {
        let Some(mut row) = find(sandbox, Direction::Outbound, &fax) else {
            changes.push(sandbox.delete(SCHEDULED, &delivery::key(&fax), context.now));
            continue;
        };
        let read = || authored::read::<FaxConfig>(&sandbox.config).unwrap_or_default();
        let config = configs.entry(&sandbox.id).or_insert_with(read);
        let plan = CallPlan::new(config, text(&row, "to_number").unwrap_or_default());
        let outcome = delivery::advance(world, sandbox, context, &plan, &mut row);
        changes.extend(outcome.changes);
        events.extend(outcome.events);
    }
    Outcome { answer: (), changes, events }
}

/// The pending deliveries of active fax lines.
fn pending(world: &World) -> impl Iterator<Item = (&Sandbox, PendingDelivery)> {
    let lines = world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Fax && sandbox.is_active);
    lines.flat_map(|sandbox| {
        let rows = sandbox.records.own(SCHEDULED);
        rows.filter_map(move |record| Some((sandbox, PendingDelivery::deserialize(&*record.json()).ok()?)))
    })
}
