//! What time alone brings: later steps of a scenario, and what a simulator has put off. Nobody schedules it; whoever
//! handles a message compares the clock with [`next`] first.

use model::Timestamp;
use world::{Context, Outcome, World};

use crate::{fax, message, payer, scenario};

/// Something that puts things off: when the next of them becomes due, and what happens then.
type Kind = (fn(&World) -> Option<Timestamp>, fn(&World, &Context<'_>) -> Outcome<()>);

/// In the order in which they happen when they are due at the same time.
const KINDS: [Kind; 4] = [
    (scenario::next_due, scenario::catch_up),
    (payer::due::next_due, payer::due::catch_up),
    (message::due::next_due, message::due::catch_up),
    (fax::due::next_due, fax::due::catch_up),
];

/// When something next becomes due, if anything waits.
pub fn next(world: &World) -> Option<Timestamp> {
    KINDS.iter().filter_map(|(next_due, _)| next_due(world)).min()
}

/// One kind of what is due, earliest kind first, as a message of its own: the place in the log of a scenario's steps
/// tells checks what is not the agent's, and a payer's decision follows from what the agent did. To be called until
/// nothing is due.
pub fn catch_up(world: &World, context: &Context<'_>) -> Outcome<()> {
    let due = KINDS.iter().filter_map(|(next_due, catch_up)| Some((next_due(world)?, catch_up)));
    match due.filter(|(at, _)| *at <= context.now).min_by_key(|(at, _)| *at) {
        Some((_, catch_up)) => catch_up(world, context),
        None => Outcome { answer: (), changes: Vec::new(), events: Vec::new() },
    }
}
