//! Runs queued commands on the current world and appends what they did to the log, many in one transaction.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use model::EventId;
use store::Db;
use store::log::{self, Appended, Entry, Text};
use world::{Change, NewEvent, Seq, World};

use crate::playgrounds::{LoadedWorld, Playground};
use crate::queue::{Batch, Command};
use crate::{Runtime, RuntimeError};

/// Other nodes may have written to the playground before each attempt. More attempts would be an overload.
pub(crate) const MAX_ATTEMPTS: usize = 100;

impl Runtime {
    pub(crate) async fn drain_queue(self, playground: Arc<Playground>) {
        while let Some(batch) = playground.queue.take_batch() {
            self.run_batch(&playground, batch).await;
        }
    }

    /// Runs the commands and responds to them. A panic must not escape: nothing would drain the queue any more.
    async fn run_batch(&self, playground: &Playground, mut batch: Batch) {
        let committed = AssertUnwindSafe(self.commit(playground, &mut batch)).catch_unwind().await;
        let committed = committed.unwrap_or_else(|_| Err(RuntimeError::panicked("the commit of commands")));
        if committed.is_err() {
            // If the database's response was lost, the reads may have been written. Rather twice than not at all.
            playground.queue.put_back(batch.take_reads());
            playground.invalidate();
        }
        let failure = committed.err();
        for command in batch.commands {
            command.respond(failure.clone());
        }
    }

    async fn commit(&self, playground: &Playground, batch: &mut Batch) -> Result<(), RuntimeError> {
        let mut version = playground.version();
        let mut loaded = self.current(playground).await?;
        for _ in 0..MAX_ATTEMPTS {
            let world = self.run_commands(batch, &loaded).await?;
            if batch.entries.is_empty() {
                return Ok(());
            }
            if loaded.has_ended() {
                // Nothing more is written. Reads from before the end that are not logged yet are lost.
                let has_only_reads = batch.entries.len() == batch.reads;
                batch.take_reads();
                return if has_only_reads { Ok(()) } else { Err(RuntimeError::TornDown) };
            }
            if let Some(appended) = self.append(playground, batch, &loaded).await? {
                playground.publish(LoadedWorld::new(world, loaded.ended_at, loaded.ends_at), version);
                (self.inner.options.on_append)(&appended);
                return Ok(());
            }
            playground.invalidate();
            version = playground.version();
            loaded = self.catch_up(playground).await?;
        }
        Err(RuntimeError::Store(store::StoreError::Contended))
    }

    /// Runs each command on the world that the previous one left, and returns the last of these worlds.
    async fn run_commands(&self, batch: &mut Batch, loaded: &LoadedWorld) -> Result<World, RuntimeError> {
        let (runtime, mut world) = (self.clone(), World::clone(&loaded.world));
        let mut commands = std::mem::take(&mut batch.commands);
        // Discards the entries of an earlier attempt.
        batch.entries.truncate(batch.reads);
        world.seq += batch.reads as Seq;
        let running = tokio::task::spawn_blocking(move || {
            let run = |command: &mut Box<dyn Command>| {
                let (changes, events) = runtime.with_context(|context| command.run(&world, context));
                runtime.record(&mut world, changes, events)
            };
            let entries: Vec<Entry> = commands.iter_mut().flat_map(run).collect();
            (commands, entries, world)
        });
        let (commands, entries, world) = running.await.map_err(|_| RuntimeError::panicked("a simulator"))?;
        batch.commands = commands;
        batch.entries.extend(entries);
        Ok(world)
    }

    /// Applies what a message did to the world, and returns it as entries of the log.
    pub fn record(&self, world: &mut World, changes: Vec<Change>, events: Vec<NewEvent>) -> Vec<Entry> {
        let mut entries: Vec<Entry> = events.into_iter().map(|event| self.entry(event)).collect();
        let (seq, last) = (world.seq + 1, world.seq + entries.len() as Seq);
        // The changes belong to the first event. A message without events changes nothing.
        if let Some(entry) = entries.first_mut() {
            changes.iter().for_each(|change| world.apply(seq, change));
            entry.changes = changes.into_iter().map(|change| (change, None)).collect();
        }
        world.seq = last;
        entries
    }

    pub(crate) fn entry(&self, event: NewEvent) -> Entry {
        let NewEvent { sandbox, r#type, actor, summary, payload } = event;
        let id = payload.event_id().cloned().unwrap_or_else(|| self.new_id::<EventId>());
        let payload = Text::Inline(Arc::clone(payload.text()));
        Entry { id, sandbox, r#type, at: self.now(), actor, summary, payload, changes: vec![] }
    }

    /// The entries, now in the log. None if another writer was faster.
    async fn append(
        &self,
        playground: &Playground,
        batch: &mut Batch,
        loaded: &LoadedWorld,
    ) -> Result<Option<Arc<Vec<Entry>>>, RuntimeError> {
        for entry in &mut batch.entries {
            self.store_texts(entry).await?;
        }
        let entries = Arc::new(std::mem::take(&mut batch.entries));
        let (id, expected, written) = (playground.id.clone(), loaded.world.seq, Arc::clone(&entries));
        // Only the playground of a task run has an end.
        let is_marked = loaded.ends_at.is_some() && entries.iter().any(Entry::is_organization_write);
        let append = move |db: &mut Db<'_>| {
            let appended = log::append(db, &id, expected, &written)?;
            if is_marked && appended != Appended::Refused {
                store::runs::mark_organization_writes(db, &id)?;
            }
            Ok::<_, RuntimeError>(appended)
        };
        match self.store().append(append).await {
            Ok(Appended::At(_)) => Ok(Some(entries)),
            refused => {
                batch.entries = Arc::unwrap_or_clone(entries);
                refused.map(|_| None)
            }
        }
    }
}
