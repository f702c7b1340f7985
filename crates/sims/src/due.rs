//! What time alone brings: later steps of a scenario, and what a simulator has put off. Nobody schedules it; whoever
//! handles a message compares the clock with [`next`] first.

use model::Timestamp;
use world::{Context, Outcome, World};

use crate::{payer, scenario};

/// When something next becomes due, if anything waits.
pub fn next(world: &World) -> Option<Timestamp> {
    [scenario::next_due(world), payer::due::next_due(world)].into_iter().flatten().min()
}

/// One kind of what is due, earliest kind first, as a message of its own: the place in the log of a scenario's steps
/// tells checks what is not the agent's, and a payer's decision follows from what the agent did. To be called until
/// nothing is due.
pub fn catch_up(world: &World, context: &Context<'_>) -> Outcome<()> {
    let step = scenario::next_due(world).filter(|due| *due <= context.now);
    let decision = payer::due::next_due(world).filter(|due| *due <= context.now);
    match (step, decision) {
        (None, Some(_)) => payer::due::catch_up(world, context),
        (Some(step), Some(decision)) if decision < step => payer::due::catch_up(world, context),
        _ => scenario::catch_up(world, context),
    }
}
