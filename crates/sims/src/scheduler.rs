//! Deferred work: scenario steps with a delay, and what simulators do later, such as a payer's determination. There are no
//! timers. Before a message is handled, the clock is compared with [`next_due`] and due work runs with [`catch_up`]. When
//! a task is completed, the consequences of the agent's actions are settled on a virtual clock with [`settle_pending`].

use model::Timestamp;
use model::event::{SYSTEM_ACTOR, SYSTEM_MARK};
use serde_json::{Value, json};
use world::{Change, Context, NewEvent, Outcome, Payload, World};

use crate::scenario;

/// One source of deferred work. Simulators declare theirs next to the code that runs it.
#[derive(Debug)]
pub(crate) struct Schedule {
    pub(crate) origin: Origin,
    /// When its next item becomes due.
    pub(crate) next_due: fn(&World) -> Option<Timestamp>,
    /// Runs all of its items that are due.
    pub(crate) catch_up: fn(&World, &Context<'_>) -> Outcome<()>,
}

/// Who causes deferred work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A consequence of the agent's actions that nobody can prevent. It is settled when the task is completed.
    Agent,
    /// A simulated person acts. It only happens if it is due before the task is completed.
    SimulatedPerson,
    /// A step of the scenario. It only happens if it is due before the task is completed.
    Scenario,
}

/// In the order in which work that is due at the same time runs.
fn schedules() -> impl Iterator<Item = &'static Schedule> {
    const SCENARIO: &Schedule = &scenario::SCHEDULE;
    std::iter::once(SCENARIO).chain(crate::catalog().iter().flat_map(|info| info.schedules))
}

/// How far the virtual clock goes beyond the completion. Work that is due later stays pending.
const MAX_SETTLING_MILLISECONDS: i64 = 30 * 24 * 60 * 60 * 1000;
/// The maximum number of steps of the virtual clock, from one due time to the next. The last step runs all that is left.
const MAX_SETTLING_STEPS: usize = 1000;

/// When the next work becomes due, if any is pending.
pub fn next_due(world: &World) -> Option<Timestamp> {
    schedules().filter_map(|schedule| (schedule.next_due)(world)).min()
}

/// Runs the earliest schedule that is due. Call it until nothing is due. Each outcome must be a message of its own,
/// because checks tell scenario steps from the agent's actions by their sequence number.
pub fn catch_up(world: &World, context: &Context<'_>) -> Outcome<()> {
    match earliest(world, schedules()).filter(|(due, _)| *due <= context.now) {
        Some((_, schedule)) => {
            let Outcome { changes, events, .. } = (schedule.catch_up)(world, context);
            Outcome { answer: (), changes, events: marked(events, schedule.origin, false) }
        }
        None => Outcome { answer: (), changes: Vec::new(), events: Vec::new() },
    }
}

/// Whether [`settle_pending`] would do anything.
pub fn has_pending(world: &World) -> bool {
    consequences().any(|schedule| (schedule.next_due)(world).is_some())
}

/// Runs the pending consequences of the agent's actions, each at its due time on a virtual clock that starts now. It is
/// deterministic, and covers at most 30 days and 1,000 steps of the clock. Persona replies and deferred scenario steps do
/// not run.
pub fn settle_pending(world: &World, context: &Context<'_>) -> Outcome<()> {
    let end = context.now.plus_milliseconds(MAX_SETTLING_MILLISECONDS);
    let mut settlement = Settlement { staged: world.clone(), changes: Vec::new(), events: Vec::new() };
    for _ in 1..MAX_SETTLING_STEPS {
        let Some((due, schedule)) = earliest(&settlement.staged, consequences()).filter(|(due, _)| *due <= end) else {
            break;
        };
        if !settlement.step(schedule, &Context { now: due.max(context.now), new_id: context.new_id }) {
            break;
        }
    }
    for schedule in consequences() {
        settlement.step(schedule, &Context { now: end, new_id: context.new_id });
    }
    Outcome { answer: (), changes: settlement.changes, events: settlement.events }
}

/// A playground on its virtual clock.
struct Settlement {
    /// The world after the steps so far.
    staged: World,
    changes: Vec<Change>,
    events: Vec<NewEvent>,
}

impl Settlement {
    /// Runs a schedule's due work. False if there was none.
    fn step(&mut self, schedule: &Schedule, context: &Context<'_>) -> bool {
        let Outcome { changes, events, .. } = (schedule.catch_up)(&self.staged, context);
        if events.is_empty() {
            return false;
        }
        // The whole settlement becomes one message, whose changes share a sequence number.
        let seq = self.staged.seq;
        changes.iter().for_each(|change| self.staged.apply(seq, change));
        self.changes.extend(changes);
        self.events.extend(marked(events, schedule.origin, true));
        true
    }
}

fn consequences() -> impl Iterator<Item = &'static Schedule> {
    schedules().filter(|schedule| schedule.origin == Origin::Agent)
}

fn earliest<'s>(world: &World, schedules: impl IntoIterator<Item = &'s Schedule>) -> Option<(Timestamp, &'s Schedule)> {
    let pending = schedules.into_iter().filter_map(|schedule| Some(((schedule.next_due)(world)?, schedule)));
    pending.min_by_key(|(due, _)| *due)
}

/// Marks the events of deferred work, so that they cannot be confused with a client's. Scenario events have their own mark.
fn marked(events: Vec<NewEvent>, origin: Origin, settled: bool) -> Vec<NewEvent> {
    let mark = |mut event: NewEvent| {
        if origin == Origin::Agent {
            event.actor = SYSTEM_ACTOR.to_owned();
        }
        if let Value::Object(mut payload) = event.payload.json() {
            payload.insert(SYSTEM_MARK.to_owned(), json!({"settled": settled}));
            let marked = Payload::of(&payload);
            event.payload = match event.payload.event_id().cloned() {
                Some(id) => marked.of_event(id),
                None => marked,
            };
        }
        event
    };
    if origin == Origin::Scenario { events } else { events.into_iter().map(mark).collect() }
}

#[cfg(test)]
mod tests;
