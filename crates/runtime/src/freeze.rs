//! Freezes the playground of a completed task run: logs the answered queries, settles what the agent's actions have
//! scheduled, and ends the log.

use std::sync::Arc;

use model::{PlaygroundId, TaskRunId, Timestamp};
use store::log::{self, Appended, Entry};
use store::{StoreError, playgrounds, task_runs};
use world::{Outcome, Seq, World};

use crate::commit::MAX_ATTEMPTS;
use crate::messages::MAX_DUE_ROUNDS;
use crate::playgrounds::Playground;
use crate::{Runtime, RuntimeError};

/// The playground of a task run that cannot change any more.
pub struct FrozenPlayground {
    pub world: Arc<World>,
    pub sealed_at: Timestamp,
    /// The last entry of the log when the task was completed; none if that is not known.
    pub completed_seq: Option<Seq>,
}

/// Why the transaction that seals a task run was rolled back.
enum NotSealed {
    /// Another writer was faster.
    Outrun,
    /// The task run has ended, or is past its deadline.
    TooLate,
    Store(StoreError),
}

impl From<StoreError> for NotSealed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Runtime {
    /// Waits for queries in progress, writes their events, runs the work that is due, settles what the agent's actions have
    /// scheduled, and seals the task run. None if it has ended otherwise, or its deadline has passed. Freezing a frozen
    /// playground changes nothing.
    pub async fn freeze(
        &self,
        task_run: &TaskRunId,
        playground: &PlaygroundId,
    ) -> Result<Option<FrozenPlayground>, RuntimeError> {
        let playground = self.inner.playgrounds.get(playground);
        let traffic = playground.traffic.write().await;
        let frozen = self.freeze_without_queries(&playground, task_run).await;
        playground.invalidate();
        drop(traffic);
        frozen
    }

    /// No queries run meanwhile. Commands may still come, until the seal is durable.
    async fn freeze_without_queries(
        &self,
        playground: &Arc<Playground>,
        task_run: &TaskRunId,
    ) -> Result<Option<FrozenPlayground>, RuntimeError> {
        let mut loaded = self.current(playground).await?;
        if !loaded.has_ended() {
            self.run_all_due_work(playground).await?;
            loaded = self.current(playground).await?;
        }
        for _ in 0..MAX_ATTEMPTS {
            if loaded.has_ended() {
                return self.frozen_before(playground, task_run).await;
            }
            let (world, entries) = self.settle(&loaded.world).await?;
            let (completed_seq, sealed_at) = (loaded.world.seq, self.now());
            match self.write_seal(playground, task_run, (completed_seq, entries), sealed_at).await {
                Ok(()) => {
                    let (world, completed_seq) = (Arc::new(world), Some(completed_seq));
                    return Ok(Some(FrozenPlayground { world, sealed_at, completed_seq }));
                }
                Err(NotSealed::TooLate) => return Ok(None),
                Err(NotSealed::Store(error)) => return Err(error.into()),
                Err(NotSealed::Outrun) => {
                    playground.invalidate();
                    loaded = self.catch_up(playground).await?;
                }
            }
        }
        Err(RuntimeError::Store(StoreError::Contended))
    }

    /// The first round also writes the events of queries, whether or not work is due.
    async fn run_all_due_work(&self, playground: &Arc<Playground>) -> Result<(), RuntimeError> {
        for _ in 0..MAX_DUE_ROUNDS {
            self.run_due_work(playground).await?;
            let next = playground.cached().and_then(|loaded| loaded.next_due);
            if next.is_none_or(|due| due > self.now()) {
                break;
            }
        }
        Ok(())
    }

    /// The world after the work that the agent's actions have scheduled, with the log entries of that work.
    async fn settle(&self, world: &Arc<World>) -> Result<(World, Vec<Entry>), RuntimeError> {
        if !sims::scheduler::has_pending(world) {
            return Ok((World::clone(world), Vec::new()));
        }
        let (runtime, mut world) = (self.clone(), World::clone(world));
        let settling = tokio::task::spawn_blocking(move || {
            let Outcome { changes, events, .. } =
                runtime.with_context(|context| sims::scheduler::settle_pending(&world, context));
            let entries = runtime.record(&mut world, changes, events);
            (world, entries)
        });
        let (world, mut entries) = settling.await.map_err(|_| RuntimeError::panicked("a simulator"))?;
        for entry in &mut entries {
            self.store_texts(entry).await?;
        }
        Ok((world, entries))
    }

    /// In one transaction: appends the settled entries, seals the task run and ends its playground.
    async fn write_seal(
        &self,
        playground: &Playground,
        task_run: &TaskRunId,
        (completed_seq, entries): (Seq, Vec<Entry>),
        sealed_at: Timestamp,
    ) -> Result<(), NotSealed> {
        let (playground, task_run) = (playground.id.clone(), task_run.clone());
        let write = move |db: &mut store::Db<'_>| {
            // Without entries, this only compares the end of the log.
            if log::append(db, &playground, completed_seq, &entries)? == Appended::Refused {
                return Err(NotSealed::Outrun);
            }
            if !task_runs::seal(db, &task_run, sealed_at, Some(completed_seq))? {
                return Err(NotSealed::TooLate);
            }
            playgrounds::tear_down(db, &playground, sealed_at)?;
            Ok(())
        };
        self.store().append(write).await
    }

    /// The playground has ended: it was frozen by an earlier completion, or its task run ended otherwise.
    async fn frozen_before(
        &self,
        playground: &Playground,
        task_run: &TaskRunId,
    ) -> Result<Option<FrozenPlayground>, RuntimeError> {
        let (id, now) = (task_run.clone(), self.now());
        let sealing = self.store().append(move |db| {
            // A server of an older version may have crashed between ending the playground and sealing the task run.
            task_runs::seal(db, &id, now, None)?;
            task_runs::sealing(db, &id)
        });
        let Some((sealed_at, completed_seq)) = sealing.await? else { return Ok(None) };
        let world = self.catch_up(playground).await?.world;
        Ok(Some(FrozenPlayground { world, sealed_at, completed_seq }))
    }
}
