//! Calls that end later. They lie where the scenario's later steps lie, as records that nobody is shown, so that they
//! survive a crash and every node knows them.

use std::collections::BTreeMap;

use model::simulator::SimulatorType;
use model::{SandboxId, Timestamp};
use serde::Deserialize;
use world::{Context, Outcome, Sandbox, World};

use super::config::FaxConfig;
use super::deliver;
use super::line::Line;
use super::rows::{Delivery, Direction, find, text};
use crate::authored;
use crate::scenario::SCHEDULED;
use crate::scheduler::{Origin, Schedule};

/// Whether a fax arrives is decided by the line, because the agent has sent it.
pub(crate) const SCHEDULE: Schedule = Schedule { origin: Origin::Agent, next_due, catch_up };

/// When the next call ends, if one is on.
pub fn next_due(world: &World) -> Option<Timestamp> {
    waiting(world).map(|(_, delivery)| delivery.due_at).min()
}

/// Ends the calls that are due, in the order of their time.
pub fn catch_up(world: &World, context: &Context<'_>) -> Outcome<()> {
    let mut due: Vec<(&Sandbox, Delivery)> =
        waiting(world).filter(|(_, delivery)| delivery.due_at <= context.now).collect();
    due.sort_by(|left, right| (left.1.due_at, &left.1.fax).cmp(&(right.1.due_at, &right.1.fax)));
    let (mut changes, mut events) = (Vec::new(), Vec::new());
    // Read once for each line: it may be long.
    let mut configs: BTreeMap<&SandboxId, FaxConfig> = BTreeMap::new();
    for (sandbox, Delivery { fax, .. }) in due {
        let Some(mut row) = find(sandbox, Direction::Outbound, &fax) else {
            changes.push(sandbox.delete(SCHEDULED, &deliver::key(&fax), context.now));
            continue;
        };
        let read = || authored::read::<FaxConfig>(&sandbox.config).unwrap_or_default();
        let config = configs.entry(&sandbox.id).or_insert_with(read);
        let line = Line::to(config, text(&row, "to_number").unwrap_or_default());
        let delivered = deliver::go_on(world, sandbox, context, &line, &mut row);
        changes.extend(delivered.changes);
        events.extend(delivered.events);
    }
    Outcome { answer: (), changes, events }
}

/// What waits in lines that take traffic.
fn waiting(world: &World) -> impl Iterator<Item = (&Sandbox, Delivery)> {
    let lines = world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Fax && sandbox.is_active);
    lines.flat_map(|sandbox| {
        let rows = sandbox.records.own(SCHEDULED);
        rows.filter_map(move |record| Some((sandbox, Delivery::deserialize(&*record.json()).ok()?)))
    })
}
