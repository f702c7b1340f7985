//! What happens by itself when its time has come: later steps of a scenario, and what a simulator has put off. Nobody
//! schedules it; whoever handles a message compares the clock with [`next`] first. When a task is completed, what the
//! agent's acts have led to is settled on a virtual clock: see [`settle`].

use model::Timestamp;
use model::event::{SYSTEM_ACTOR, SYSTEM_MARK};
use serde_json::{Value, json};
use world::{Change, Context, NewEvent, Outcome, Payload, World};

use crate::{fax, message, payer, scenario};

/// What one simulator puts off. Each declares its own, next to the code that carries it out.
pub(crate) struct Schedule {
    pub(crate) origin: Origin,
    /// When the next of it becomes due.
    pub(crate) next_due: fn(&World) -> Option<Timestamp>,
    /// Carries out everything of it that is due.
    pub(crate) catch_up: fn(&World, &Context<'_>) -> Outcome<()>,
}

/// Why something happens later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It follows from what the agent did, whatever anybody does next. It is settled when the task is completed.
    Agent,
    /// Somebody in the simulated world does it. It only happens if its time comes before the completion.
    World,
    /// The author lets it happen. It only happens if its time comes before the completion.
    Scenario,
}

/// In the order in which they happen when they are due at the same time.
static SCHEDULES: [Schedule; 4] =
    [scenario::SCHEDULE, payer::due::SCHEDULE, message::due::SCHEDULE, fax::due::SCHEDULE];

/// How far beyond the completion the virtual clock goes. What is due later stays as it is.
pub const LONGEST_SETTLING_MILLISECONDS: i64 = 30 * 24 * 60 * 60 * 1000;
/// In how many steps the virtual clock goes there, from one due time to the next. The last step takes all that is left.
pub const MOST_SETTLING_STEPS: usize = 1000;

/// When something next becomes due, if anything waits.
pub fn next(world: &World) -> Option<Timestamp> {
    SCHEDULES.iter().filter_map(|schedule| (schedule.next_due)(world)).min()
}

/// Carries out one schedule of those that are due, the earliest first, as a message of its own: the place in the log of
/// a scenario's steps tells checks what is not the agent's. To be called until nothing is due.
pub fn catch_up(world: &World, context: &Context<'_>) -> Outcome<()> {
    match earliest(world, &SCHEDULES).filter(|(due, _)| *due <= context.now) {
        Some((_, schedule)) => {
            let Outcome { changes, events, .. } = (schedule.catch_up)(world, context);
            Outcome { answer: (), changes, events: marked(events, schedule.origin, false) }
        }
        None => Outcome { answer: (), changes: Vec::new(), events: Vec::new() },
    }
}

/// Whether [`settle`] would do anything.
pub fn is_unsettled(world: &World) -> bool {
    consequences().any(|schedule| (schedule.next_due)(world).is_some())
}

/// Carries out what the agent's acts have led to, each at its own time on a virtual clock that starts now. Deterministic
/// and bounded: see [`LONGEST_SETTLING_MILLISECONDS`] and [`MOST_SETTLING_STEPS`]. Replies of personas and later steps of
/// the scenario are left alone.
pub fn settle(world: &World, context: &Context<'_>) -> Outcome<()> {
    let end = context.now.plus_milliseconds(LONGEST_SETTLING_MILLISECONDS);
    let mut settling = Settling { staged: world.clone(), changes: Vec::new(), events: Vec::new() };
    for _ in 1..MOST_SETTLING_STEPS {
        let Some((due, schedule)) = earliest(&settling.staged, consequences()).filter(|(due, _)| *due <= end) else {
            break;
        };
        if !settling.step(schedule, &Context { now: due.max(context.now), new_id: context.new_id }) {
            break;
        }
    }
    for schedule in consequences() {
        settling.step(schedule, &Context { now: end, new_id: context.new_id });
    }
    Outcome { answer: (), changes: settling.changes, events: settling.events }
}

/// A playground on its virtual clock.
struct Settling {
    /// As the steps so far have left it.
    staged: World,
    changes: Vec<Change>,
    events: Vec<NewEvent>,
}

impl Settling {
    /// False when nothing came of it.
    fn step(&mut self, schedule: &Schedule, context: &Context<'_>) -> bool {
        let Outcome { changes, events, .. } = (schedule.catch_up)(&self.staged, context);
        if events.is_empty() {
            return false;
        }
        // All of it becomes one message, whose changes have one place in the log.
        let seq = self.staged.seq;
        changes.iter().for_each(|change| self.staged.apply(seq, change));
        self.changes.extend(changes);
        self.events.extend(marked(events, schedule.origin, true));
        true
    }
}

fn consequences() -> impl Iterator<Item = &'static Schedule> {
    SCHEDULES.iter().filter(|schedule| schedule.origin == Origin::Agent)
}

fn earliest<'s>(world: &World, schedules: impl IntoIterator<Item = &'s Schedule>) -> Option<(Timestamp, &'s Schedule)> {
    let waiting = schedules.into_iter().filter_map(|schedule| Some(((schedule.next_due)(world)?, schedule)));
    waiting.min_by_key(|(due, _)| *due)
}

/// Marks events so that nobody takes them for a client's.
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
