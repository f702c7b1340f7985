//! The end of a playground's traffic: what was answered before is in the log, and nothing comes after it.

use std::sync::Arc;

use model::{PlaygroundId, Timestamp};
use store::playgrounds;
use world::{Context, Outcome, Seq, World};

use super::exchange::MOST_DUE;
use crate::{App, AppError};

/// A playground that cannot change any more.
pub(crate) struct SealedWorld {
    pub(crate) world: Arc<World>,
    /// The last entry of its log.
    pub(crate) head: Seq,
}

impl App {
    /// Waits for questions that are being answered, writes what is to be remembered of them, lets what is due
    /// happen, and ends the playground. Sealing twice is sealing once.
    pub(crate) async fn seal(&self, playground: &PlaygroundId, now: Timestamp) -> Result<SealedWorld, AppError> {
        let live = self.inner.worlds.of(playground);
        let shut = live.traffic.write().await;
        let loaded = self.current(&live).await?;
        if !loaded.has_ended {
            // Each takes one kind of what is due, and the first also writes what was read.
            for _ in 0..MOST_DUE {
                let last = |world: &World, context: &Context<'_>| Ok(due_steps(world, context));
                self.submit(&live, last).await?;
                let next = live.any().and_then(|loaded| loaded.next_due);
                if next.is_none_or(|due| due > self.now()) {
                    break;
                }
            }
        }
        let id = playground.clone();
        let ended: Result<Seq, AppError> =
            self.store().append(move |db| Ok(playgrounds::tear_down(db, &id, now)?)).await;
        // Whatever became of it, the database knows better than memory.
        let before = live.any();
        live.doubt();
        drop(shut);
        let head = ended?;
        let world = match before.filter(|loaded| loaded.world.seq == head) {
            Some(loaded) => loaded.world,
            None => self.catch_up(&live).await?.world,
        };
        world.sandboxes.keys().for_each(|sandbox| self.inner.mllp.close(sandbox));
        Ok(SealedWorld { world, head })
    }

    /// The world of a playground that was sealed before.
    pub(crate) async fn sealed(&self, playground: &PlaygroundId) -> Result<Arc<World>, AppError> {
        Ok(self.catch_up(&self.inner.worlds.of(playground)).await?.world)
    }

    /// Drops from memory what nobody will ask for soon.
    pub(crate) fn forget(&self, playground: &PlaygroundId) {
        self.inner.worlds.of(playground).unload();
    }
}

/// What was put off until now.
pub(crate) fn due_steps(world: &World, context: &Context<'_>) -> Outcome<()> {
    sims::due::catch_up(world, context)
}
