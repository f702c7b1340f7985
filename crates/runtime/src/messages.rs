//! Queries are answered from memory and logged a moment later; commands run in order and are answered when they are durable.

use std::sync::Arc;
use std::time::Duration;

use model::{PlaygroundId, SandboxId};
use store::sandboxes::StoredSandbox;
use world::{Context, NewEvent, Outcome, Seq, World};

use crate::playgrounds::{LoadedWorld, Playground};
use crate::queue::TypedCommand;
use crate::{Runtime, RuntimeError};

/// Whether a query needs a blocking thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    Light,
    Heavy,
}

/// A sandbox, and whether the caller may also read it after its task run has ended.
#[derive(Clone, Copy)]
pub struct SandboxReader<'a> {
    pub sandbox: &'a StoredSandbox,
    pub after_end: bool,
}

impl<'a> From<&'a StoredSandbox> for SandboxReader<'a> {
    fn from(sandbox: &'a StoredSandbox) -> Self {
        Self { sandbox, after_end: false }
    }
}

impl<'a> From<&'a Arc<StoredSandbox>> for SandboxReader<'a> {
    fn from(sandbox: &'a Arc<StoredSandbox>) -> Self {
        Self { sandbox, after_end: false }
    }
}

/// Delay of the transaction that writes the events of queries. It costs the same for any number of events.
const FLUSH_DELAY: Duration = Duration::from_millis(20);
/// With this many unwritten events, a query first waits until they are written.
const MAX_UNWRITTEN_READS: usize = 4096;
/// Scheduled work may schedule more work. After this many rounds, the rest is left to the next message.
pub(crate) const MAX_DUE_ROUNDS: usize = 8;

impl Runtime {
    /// Answers a query, which changes nothing. Its events are written a few milliseconds later, or not at all if the task
    /// run has ended.
    pub async fn query<'a, T, F>(
        &self,
        reader: impl Into<SandboxReader<'a>>,
        cost: Cost,
        query: F,
    ) -> Result<T, RuntimeError>
    where
        F: FnOnce(&World, &Context<'_>) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        let SandboxReader { sandbox, after_end } = reader.into();
        let playground = self.inner.playgrounds.get(&sandbox.playground);
        if playground.queue.waiting_reads() >= MAX_UNWRITTEN_READS {
            self.flush_playground(&playground).await?;
        }
        let traffic = playground.traffic.read().await;
        let mut loaded = self.after_due_work(&playground).await?;
        if self.may_be_full(&playground, &loaded) {
            self.flush_playground(&playground).await?;
            loaded = self.current(&playground).await?;
        }
        let ended_at = loaded.task_run_ended_at().filter(|_| after_end);
        if ended_at.is_none() {
            self.check_active(&loaded, sandbox)?;
        }
        let (runtime, world, now) = (self.clone(), Arc::clone(&loaded.world), ended_at.unwrap_or_else(|| self.now()));
        let run = move || runtime.with_context_at(now, |context| query(&world, context));
        let outcome = match cost {
            Cost::Light => run(),
            Cost::Heavy => tokio::task::spawn_blocking(run).await.map_err(|_| RuntimeError::panicked("a simulator"))?,
        };
        if ended_at.is_some() {
            return Ok(outcome.answer);
        }
        if self.store().is_shared() && loaded.ends_at.is_some() {
            // Another node may freeze the playground, and would not wait for events that only this one knows.
            self.write_events(&playground, outcome.events).await?;
        } else {
            outcome.events.into_iter().for_each(|event| self.record_read(&playground, event));
        }
        drop(traffic);
        Ok(outcome.answer)
    }

    /// Runs a command, which may change the playground, after those that came before it. Returns when its changes are
    /// durable. It may run again on a newer world.
    pub async fn command<T, F>(&self, sandbox: &StoredSandbox, command: F) -> Result<T, RuntimeError>
    where
        F: Fn(&World, &Context<'_>) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        let playground = self.inner.playgrounds.get(&sandbox.playground);
        let loaded = self.after_due_work(&playground).await?;
        self.check_active(&loaded, sandbox)?;
        let (id, max_events) = (sandbox.id.clone(), loaded.ends_at.map(|_| self.max_events()));
        let run = move |world: &World, context: &Context<'_>| {
            check_sandbox(world, &id)?;
            // Commands before it may have filled the log.
            check_room(world, max_events)?;
            Ok(command(world, context))
        };
        self.submit(&playground, run).await
    }

    /// A command that marks what it reads. After the end of a task run it only reads.
    pub async fn command_or_query<T, F>(&self, reader: SandboxReader<'_>, command: F) -> Result<T, RuntimeError>
    where
        F: Fn(&World, &Context<'_>) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        if reader.after_end && self.load(&reader.sandbox.playground).await?.task_run_ended_at().is_some() {
            return self.query(reader, Cost::Heavy, command).await;
        }
        self.command(reader.sandbox, command).await
    }

    /// Whether the sandbox takes traffic now.
    pub async fn takes_traffic(&self, sandbox: &StoredSandbox) -> Result<bool, RuntimeError> {
        match self.load(&sandbox.playground).await {
            Ok(loaded) => Ok(self.check_active(&loaded, sandbox).is_ok()),
            Err(RuntimeError::NotStarted | RuntimeError::NeverStarted) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes the events of queries that were answered before, so that readers of the log find them.
    pub async fn flush(&self, id: &PlaygroundId) -> Result<(), RuntimeError> {
        self.flush_playground(&self.inner.playgrounds.get(id)).await
    }

    /// The same, without loading a playground for which nothing waits.
    pub async fn flush_waiting(&self, id: &PlaygroundId) -> Result<(), RuntimeError> {
        match self.inner.playgrounds.find(id).filter(|playground| !playground.queue.is_empty()) {
            Some(playground) => self.flush_playground(&playground).await,
            None => Ok(()),
        }
    }

    /// Writes all events that wait, before the process ends.
    pub async fn flush_all(&self) {
        for playground in self.inner.playgrounds.all().into_iter().filter(|one| one.queue.waiting_reads() > 0) {
            if let Err(error) = self.flush_playground(&playground).await {
                tracing::error!(%error, playground = %playground.id, "events of reads could not be written");
            }
        }
    }

    async fn flush_playground(&self, playground: &Arc<Playground>) -> Result<(), RuntimeError> {
        self.write_events(playground, Vec::new()).await
    }

    /// The playground after the scheduled work that is due.
    pub async fn load_after_due_work(&self, id: &PlaygroundId) -> Result<LoadedWorld, RuntimeError> {
        self.after_due_work(&self.inner.playgrounds.get(id)).await
    }

    async fn after_due_work(&self, playground: &Arc<Playground>) -> Result<LoadedWorld, RuntimeError> {
        let mut loaded = self.current(playground).await?;
        for _ in 0..MAX_DUE_ROUNDS {
            if loaded.has_ended() || loaded.next_due.is_none_or(|due| due > self.now()) {
                break;
            }
            self.run_due_work(playground).await?;
            loaded = self.current(playground).await?;
        }
        Ok(loaded)
    }

    pub(crate) async fn run_due_work(&self, playground: &Arc<Playground>) -> Result<(), RuntimeError> {
        self.submit(playground, |world: &World, context: &Context<'_>| Ok(sims::scheduler::catch_up(world, context)))
            .await
    }

    /// Writes events, and all reads that wait. Returns when they are durable.
    async fn write_events(&self, playground: &Arc<Playground>, events: Vec<NewEvent>) -> Result<(), RuntimeError> {
        let write =
            move |_: &World, _: &Context<'_>| Ok(Outcome { answer: (), changes: Vec::new(), events: events.clone() });
        self.submit(playground, write).await
    }

    fn check_active(&self, loaded: &LoadedWorld, sandbox: &StoredSandbox) -> Result<(), RuntimeError> {
        if loaded.has_ended() {
            return Err(RuntimeError::TornDown);
        }
        // The request read the sandbox before the start of its task run, without its config.
        if sandbox.is_provisioned {
            return Err(RuntimeError::NotStarted);
        }
        if let Some(ends_at) = loaded.ends_at {
            if ends_at <= self.now() {
                return Err(RuntimeError::PastDeadline);
            }
            check_room(&loaded.world, Some(self.max_events()))?;
        }
        check_sandbox(&loaded.world, &sandbox.id)
    }

    /// Whether the unwritten reads may fill the log of a task run.
    fn may_be_full(&self, playground: &Playground, loaded: &LoadedWorld) -> bool {
        let unwritten = || Seq::try_from(playground.queue.unwritten_reads()).unwrap_or(Seq::MAX);
        loaded.ends_at.is_some() && loaded.world.seq.saturating_add(unwritten()) >= self.max_events()
    }

    async fn submit<T, F>(&self, playground: &Arc<Playground>, run: F) -> Result<T, RuntimeError>
    where
        F: Fn(&World, &Context<'_>) -> Result<Outcome<T>, RuntimeError> + Send + 'static,
        T: Send + 'static,
    {
        let (command, response) = TypedCommand::new(run);
        if playground.queue.push(Box::new(command)) {
            // In its own task: a client that disconnects must not stop the commands of others.
            tokio::spawn(self.clone().drain_queue(Arc::clone(playground)));
        }
        response.await.unwrap_or_else(|_| Err(RuntimeError::panicked("a simulator")))
    }

    fn record_read(&self, playground: &Arc<Playground>, event: NewEvent) {
        if playground.queue.push_read(self.entry(event)) {
            let (runtime, playground) = (self.clone(), Arc::clone(playground));
            tokio::spawn(async move {
                tokio::time::sleep(FLUSH_DELAY).await;
                playground.queue.begin_flush();
                if let Err(error) = runtime.flush_playground(&playground).await {
                    tracing::warn!(%error, "events of reads could not be written yet");
                }
            });
        }
    }
}

fn check_sandbox(world: &World, sandbox: &SandboxId) -> Result<(), RuntimeError> {
    match world.sandboxes.get(sandbox) {
        Some(sandbox) if sandbox.is_active => Ok(()),
        Some(_) => Err(RuntimeError::TornDown),
        None => Err(RuntimeError::SandboxNotFound),
    }
}

fn check_room(world: &World, max_events: Option<Seq>) -> Result<(), RuntimeError> {
    match max_events.filter(|max| world.seq >= *max) {
        Some(max) => Err(RuntimeError::LogFull(max)),
        None => Ok(()),
    }
}
