//! The end of a playground's traffic: what was answered before is in the log, what the agent's acts led to is settled,
//! and nothing comes after it.

use std::sync::Arc;

use model::{PlaygroundId, TaskRunId, Timestamp};
use store::log::{self, Appended, Entry};
use store::{StoreError, playgrounds, task_runs};
use world::{Context, Outcome, Seq, World};

use super::Live;
use super::exchange::{MOST_ATTEMPTS, MOST_DUE};
use crate::{App, AppError};

/// The playground of a task run that cannot change any more.
pub(crate) struct SealedWorld {
    pub(crate) world: Arc<World>,
    pub(crate) sealed_at: Timestamp,
    /// The last entry of its log when the task was completed; none if that is not known.
    pub(crate) completed_seq: Option<Seq>,
}

/// Why a playground was not sealed: its transaction was rolled back.
enum NotSealed {
    /// Somebody else wrote to it meanwhile.
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

impl App {
    /// Waits for questions that are being answered, writes what is to be remembered of them, lets what is due happen,
    /// settles what the agent's acts led to, and seals the task run. None when it has ended before, or when its deadline
    /// has passed. Sealing twice is sealing once.
    pub(crate) async fn seal(
        &self,
        task_run: &TaskRunId,
        playground: &PlaygroundId,
    ) -> Result<Option<SealedWorld>, AppError> {
        let live = self.inner.worlds.of(playground);
        let shut = live.traffic.write().await;
        let sealed = self.seal_shut(&live, task_run).await;
        // Whatever became of it, the database knows better than memory.
        live.doubt();
        drop(shut);
        let sealed = sealed?;
        if let Some(sealed) = &sealed {
            sealed.world.sandboxes.keys().for_each(|sandbox| self.inner.mllp.close(sandbox));
        }
        Ok(sealed)
    }

    /// While nobody asks anything. Messages that write may still come, until the sealing is durable.
    async fn seal_shut(&self, live: &Arc<Live>, task_run: &TaskRunId) -> Result<Option<SealedWorld>, AppError> {
        let mut loaded = self.current(live).await?;
        if !loaded.has_ended() {
            self.catch_up_before_the_end(live).await?;
            loaded = self.current(live).await?;
        }
        for _ in 0..MOST_ATTEMPTS {
            if loaded.has_ended() {
                return self.sealed_before(live, task_run).await;
            }
            let (world, entries) = self.settled(&loaded.world).await?;
            let completed_seq = loaded.world.seq;
            let sealed_at = self.now();
            match self.write_seal(live, task_run, (completed_seq, entries), sealed_at).await {
                Ok(()) => {
                    let (world, completed_seq) = (Arc::new(world), Some(completed_seq));
                    return Ok(Some(SealedWorld { world, sealed_at, completed_seq }));
                }
                Err(NotSealed::TooLate) => return Ok(None),
                Err(NotSealed::Store(error)) => return Err(error.into()),
                Err(NotSealed::Outrun) => {
                    live.doubt();
                    loaded = self.catch_up(live).await?;
                }
            }
        }
        Err(AppError::Store(StoreError::Contended))
    }

    /// Each message takes one kind of what is due, and the first also writes what was read.
    async fn catch_up_before_the_end(&self, live: &Arc<Live>) -> Result<(), AppError> {
        for _ in 0..MOST_DUE {
            self.submit(live, |world: &World, context: &Context<'_>| Ok(due_steps(world, context))).await?;
            let next = live.any().and_then(|loaded| loaded.next_due);
            if next.is_none_or(|due| due > self.now()) {
                break;
            }
        }
        Ok(())
    }

    /// The world after what the agent's acts led to, and the entries of the log that tell of it.
    async fn settled(&self, world: &Arc<World>) -> Result<(World, Vec<Entry>), AppError> {
        if !sims::due::is_unsettled(world) {
            return Ok((World::clone(world), Vec::new()));
        }
        let (app, mut world) = (self.clone(), World::clone(world));
        let settling = tokio::task::spawn_blocking(move || {
            let Outcome { changes, events, .. } = app.with_context(|context| sims::due::settle(&world, context));
            let entries = app.recorded(&mut world, changes, events);
            (world, entries)
        });
        let (world, mut entries) =
            settling.await.map_err(|_| AppError::Internal("a simulator panicked while it was settled".into()))?;
        for entry in &mut entries {
            self.place(entry).await?;
        }
        Ok((world, entries))
    }

    /// In one transaction: the settled entries are appended, the task run is sealed and its playground ended.
    async fn write_seal(
        &self,
        live: &Live,
        task_run: &TaskRunId,
        (completed_seq, entries): (Seq, Vec<Entry>),
        sealed_at: Timestamp,
    ) -> Result<(), NotSealed> {
        let (playground, task_run) = (live.id.clone(), task_run.clone());
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

    /// The playground has ended: sealed by an earlier completion, or with a task run that ended otherwise.
    async fn sealed_before(&self, live: &Live, task_run: &TaskRunId) -> Result<Option<SealedWorld>, AppError> {
        let (id, now) = (task_run.clone(), self.now());
        let sealed = self.store().append(move |db| {
            // Servers before sealing was recorded may have crashed after they had ended the playground.
            task_runs::seal(db, &id, now, None)?;
            task_runs::sealing(db, &id)
        });
        let Some((sealed_at, completed_seq)) = sealed.await? else { return Ok(None) };
        let world = self.catch_up(live).await?.world;
        Ok(Some(SealedWorld { world, sealed_at, completed_seq }))
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
