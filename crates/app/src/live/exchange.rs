//! How a message reaches a playground: what reads is answered from memory and logged a moment later; what may write is
//! carried out in turn and answered when it is durable.

use std::sync::Arc;
use std::time::Duration;

use model::{EventId, Id, PlaygroundId, SandboxId, Timestamp};
use store::Db;
use store::log::{self, Appended, Entry, Text};
use store::sandboxes::StoredSandbox;
use world::{Change, Context, NewEvent, Outcome, Seq, World};

use super::queue::{Message, Typed};
use super::seal::due_steps;
use super::{Live, Loaded};
use crate::{App, AppError};

/// Whether a message may keep a thread that serves others waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cost {
    Light,
    Heavy,
}

/// A sandbox, and whether the caller may also read it after its task run has ended.
#[derive(Clone, Copy)]
pub(crate) struct SandboxReader<'a> {
    pub(crate) sandbox: &'a StoredSandbox,
    pub(crate) after_end: bool,
}

impl Loaded {
    /// When the task run ended that was done in it; none while it takes traffic, and outside of runs.
    fn left_at(&self) -> Option<Timestamp> {
        self.ended_at.filter(|_| self.ends_at.is_some())
    }
}

/// Text of more bytes than this is kept as a blob.
const MOST_INLINE: usize = 16 * 1024;
/// How long events of reads may stay in memory. Each time they are written costs a transaction, whatever their number.
const SEEN_FOR: Duration = Duration::from_millis(20);
/// As many unwritten events make readers wait until they are written.
const MOST_SEEN: usize = 4096;
/// What became due may make more due; what is due after this is left to whoever asks next.
pub(super) const MOST_DUE: usize = 8;
/// A playground that others change faster than we can is an overload.
pub(super) const MOST_ATTEMPTS: usize = 100;

impl App {
    /// Asks a question that changes nothing. Its events are written a few milliseconds later.
    pub(crate) async fn ask<T, F>(&self, sandbox: &StoredSandbox, cost: Cost, question: F) -> Result<T, AppError>
    where
        F: FnOnce(&World, &Context<'_>) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        self.read(SandboxReader { sandbox, after_end: false }, cost, question).await
    }

    /// Reads for a caller who may also read an ended task run. Such reads record no event: the log has ended.
    pub(crate) async fn read<T, F>(&self, reader: SandboxReader<'_>, cost: Cost, question: F) -> Result<T, AppError>
    where
        F: FnOnce(&World, &Context<'_>) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        let SandboxReader { sandbox, after_end } = reader;
        let live = self.inner.worlds.of(&sandbox.playground);
        if live.queue.seen() >= MOST_SEEN {
            // What cannot be remembered is not answered.
            self.flush(&live).await?;
        }
        let answering = live.traffic.read().await;
        let mut loaded = self.current_after_due(&live).await?;
        if self.may_be_full(&live, &loaded) {
            self.flush(&live).await?;
            loaded = self.current(&live).await?;
        }
        let left_at = loaded.left_at().filter(|_| after_end);
        if left_at.is_none() {
            self.check_active(&loaded, sandbox)?;
        }
        let (app, world, now) = (self.clone(), Arc::clone(&loaded.world), left_at.unwrap_or_else(|| self.now()));
        let run = move || app.with_context_at(now, |context| question(&world, context));
        let outcome = match cost {
            Cost::Light => run(),
            Cost::Heavy => {
                let ran = tokio::task::spawn_blocking(run).await;
                ran.map_err(|_| AppError::Internal("a simulator panicked".into()))?
            }
        };
        if left_at.is_some() {
            return Ok(outcome.answer);
        }
        if self.store().is_shared() && loaded.ends_at.is_some() {
            // Another node may seal the playground, and would not wait for what this one only remembers.
            self.log(&live, outcome.events).await?;
        } else {
            outcome.events.into_iter().for_each(|event| self.note(&live, event));
        }
        drop(answering);
        Ok(outcome.answer)
    }

    /// Carries out a message that may change the playground, after those that came before it, and answers when what it
    /// did is durable. It may be run again on a newer world.
    pub(crate) async fn tell<T, F>(&self, sandbox: &StoredSandbox, message: F) -> Result<T, AppError>
    where
        F: Fn(&World, &Context<'_>) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        let live = self.inner.worlds.of(&sandbox.playground);
        let loaded = self.current_after_due(&live).await?;
        self.check_active(&loaded, sandbox)?;
        let (id, most) = (sandbox.id.clone(), loaded.ends_at.map(|_| self.limits().task_run_events));
        let handle = move |world: &World, context: &Context<'_>| {
            check_sandbox(world, &id)?;
            // Others may have come before it.
            check_room(world, most)?;
            Ok(message(world, context))
        };
        self.submit(&live, handle).await
    }

    /// A message that marks what it reads. Of what a task run left behind it only reads.
    pub(crate) async fn tell_or_read<T, F>(&self, reader: SandboxReader<'_>, message: F) -> Result<T, AppError>
    where
        F: Fn(&World, &Context<'_>) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        if reader.after_end {
            let loaded = self.current(&self.inner.worlds.of(&reader.sandbox.playground)).await?;
            if loaded.left_at().is_some() {
                return self.read(reader, Cost::Heavy, message).await;
            }
        }
        self.tell(reader.sandbox, message).await
    }

    /// Whether the sandbox takes traffic now.
    pub(crate) async fn takes_traffic(&self, sandbox: &StoredSandbox) -> Result<bool, AppError> {
        match self.current(&self.inner.worlds.of(&sandbox.playground)).await {
            Ok(loaded) => Ok(self.check_active(&loaded, sandbox).is_ok()),
            // It is provisioned for a task run that is not started.
            Err(AppError::Conflict { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes the events of reads that were answered before, so that whoever looks at the log finds them.
    pub(crate) async fn flush(&self, live: &Arc<Live>) -> Result<(), AppError> {
        let nothing = |_: &World, _: &Context<'_>| Ok(Outcome { answer: (), changes: Vec::new(), events: Vec::new() });
        self.submit(live, nothing).await
    }

    /// The same, without loading a playground of which nothing waits.
    pub(crate) async fn flush_waiting(&self, playground: &PlaygroundId) -> Result<(), AppError> {
        match self.inner.worlds.known(playground).filter(|live| !live.queue.is_empty()) {
            Some(live) => self.flush(&live).await,
            None => Ok(()),
        }
    }

    /// The playground as it is after what was put off until now.
    pub(crate) async fn current_after_due(&self, live: &Arc<Live>) -> Result<Loaded, AppError> {
        let mut loaded = self.current(live).await?;
        for _ in 0..MOST_DUE {
            let is_due = loaded.next_due.is_some_and(|due| due <= self.now());
            if !is_due || loaded.has_ended() {
                break;
            }
            self.submit(live, |world: &World, context: &Context<'_>| Ok(due_steps(world, context))).await?;
            loaded = self.current(live).await?;
        }
        Ok(loaded)
    }

    /// Writes events, and answers when they are durable.
    async fn log(&self, live: &Arc<Live>, events: Vec<NewEvent>) -> Result<(), AppError> {
        let write =
            move |_: &World, _: &Context<'_>| Ok(Outcome { answer: (), changes: Vec::new(), events: events.clone() });
        self.submit(live, write).await
    }

    fn check_active(&self, loaded: &Loaded, sandbox: &StoredSandbox) -> Result<(), AppError> {
        if loaded.has_ended() {
            return Err(ended());
        }
        // It was read before the start of its task run, without its config: the request came before the start.
        if sandbox.is_provisioned {
            return Err(AppError::conflict("the task run is not started; its sandboxes take no traffic"));
        }
        if let Some(ends_at) = loaded.ends_at {
            if ends_at <= self.now() {
                return Err(AppError::conflict("the task run is past its deadline; its sandboxes take no traffic"));
            }
            check_room(&loaded.world, Some(self.limits().task_run_events))?;
        }
        check_sandbox(&loaded.world, &sandbox.id)
    }

    /// Whether what was read and is not written yet may fill the log of a task run.
    fn may_be_full(&self, live: &Live, loaded: &Loaded) -> bool {
        let unwritten = || Seq::try_from(live.queue.unwritten()).unwrap_or(Seq::MAX);
        loaded.ends_at.is_some() && loaded.world.seq.saturating_add(unwritten()) >= self.limits().task_run_events
    }

    pub(super) async fn submit<T, F>(&self, live: &Arc<Live>, handle: F) -> Result<T, AppError>
    where
        F: Fn(&World, &Context<'_>) -> Result<Outcome<T>, AppError> + Send + 'static,
        T: Send + 'static,
    {
        let (message, answered) = Typed::new(handle);
        if live.queue.push(Box::new(message)) {
            // Its own task: a client that goes away must not stop what others wait for.
            tokio::spawn(self.clone().lead(Arc::clone(live)));
        }
        answered.await.unwrap_or_else(|_| Err(AppError::Internal("a simulator panicked".into())))
    }

    fn note(&self, live: &Arc<Live>, event: NewEvent) {
        if live.queue.note(self.entry(event)) {
            let (app, live) = (self.clone(), Arc::clone(live));
            tokio::spawn(async move {
                tokio::time::sleep(SEEN_FOR).await;
                live.queue.begin_flush();
                if let Err(error) = app.flush(&live).await {
                    tracing::warn!(%error, "events of reads could not be written yet");
                }
            });
        }
    }

    /// Writes every event that waits, before the process ends.
    pub async fn settle(&self) {
        for live in self.inner.worlds.all().into_iter().filter(|live| live.queue.seen() > 0) {
            if let Err(error) = self.flush(&live).await {
                tracing::error!(%error, playground = %live.id, "events of reads could not be written before the end");
            }
        }
    }

    async fn lead(self, live: Arc<Live>) {
        while let Some((messages, seen)) = live.queue.take() {
            self.carry_out(&live, messages, seen).await;
        }
    }

    async fn carry_out(&self, live: &Arc<Live>, messages: Vec<Box<dyn Message>>, seen: Vec<Entry>) {
        let mut batch = Batch { messages, seen: seen.len(), entries: seen };
        let failure = match self.attempt(live, &mut batch).await {
            Ok(()) => None,
            Err(error) => {
                // What was seen may have been written if the answer of the database was lost: then it is written twice,
                // never not at all.
                live.queue.put_back(batch.take_seen());
                live.doubt();
                Some(error)
            }
        };
        for message in batch.messages {
            message.answer(failure.clone());
        }
    }

    async fn attempt(&self, live: &Arc<Live>, batch: &mut Batch) -> Result<(), AppError> {
        let mut doubts = live.doubts();
        let mut loaded = self.current(live).await?;
        for _ in 0..MOST_ATTEMPTS {
            let next = self.run(batch, &loaded).await?;
            if batch.entries.is_empty() {
                return Ok(());
            }
            if loaded.has_ended() {
                // Nothing more is written. What was read before the end and not logged yet is lost with it.
                let is_only_seen = batch.entries.len() == batch.seen;
                batch.take_seen();
                return if is_only_seen { Ok(()) } else { Err(ended()) };
            }
            if self.append(live, batch, &loaded).await? {
                live.publish(Loaded::new(next, loaded.ended_at, loaded.ends_at), doubts);
                return Ok(());
            }
            live.doubt();
            doubts = live.doubts();
            loaded = self.catch_up(live).await?;
        }
        Err(AppError::Store(store::StoreError::Contended))
    }

    /// Runs every message on the world that the ones before it leave. Answers the last of these worlds.
    async fn run(&self, batch: &mut Batch, loaded: &Loaded) -> Result<World, AppError> {
        let (app, mut world) = (self.clone(), World::clone(&loaded.world));
        let mut messages = std::mem::take(&mut batch.messages);
        // What an earlier attempt made is made again.
        batch.entries.truncate(batch.seen);
        world.seq += batch.seen as Seq;
        let ran = tokio::task::spawn_blocking(move || {
            let run = |message: &mut Box<dyn Message>| app.run_one(message.as_mut(), &mut world);
            let entries: Vec<Entry> = messages.iter_mut().flat_map(run).collect();
            (messages, entries, world)
        });
        let (messages, entries, world) = ran.await.map_err(|_| AppError::Internal("a simulator panicked".into()))?;
        batch.messages = messages;
        batch.entries.extend(entries);
        Ok(world)
    }

    fn run_one(&self, message: &mut dyn Message, world: &mut World) -> Vec<Entry> {
        let (changes, events) = self.with_context(|context| message.run(world, context));
        self.recorded(world, changes, events)
    }

    /// What a message did, as entries of the log, applied to the world.
    pub(crate) fn recorded(&self, world: &mut World, changes: Vec<Change>, events: Vec<NewEvent>) -> Vec<Entry> {
        let mut entries: Vec<Entry> = events.into_iter().map(|event| self.entry(event)).collect();
        let (seq, last) = (world.seq + 1, world.seq + entries.len() as Seq);
        // The first event stands for what changed; without an event nothing can have.
        if let Some(entry) = entries.first_mut() {
            changes.iter().for_each(|change| world.apply(seq, change));
            entry.changes = changes.into_iter().map(|change| (change, None)).collect();
        }
        world.seq = last;
        entries
    }

    /// Whether the entries are in the log now; if not, someone else was faster.
    async fn append(&self, live: &Live, batch: &mut Batch, loaded: &Loaded) -> Result<bool, AppError> {
        for entry in &mut batch.entries {
            self.place(entry).await?;
        }
        let entries = Arc::new(std::mem::take(&mut batch.entries));
        let (id, expected, written) = (live.id.clone(), loaded.world.seq, Arc::clone(&entries));
        // Only the playground of a task run has an end.
        let is_marked = loaded.ends_at.is_some() && entries.iter().any(Entry::is_organization_write);
        let append = move |db: &mut Db<'_>| {
            let appended = log::append(db, &id, expected, &written)?;
            if is_marked && appended != Appended::Refused {
                store::runs::mark_organization_writes(db, &id)?;
            }
            Ok::<_, AppError>(appended)
        };
        let appended = self.store().append(append).await;
        if matches!(appended, Ok(Appended::At(_))) {
            self.push_arrivals(&entries);
        } else {
            batch.entries = Arc::unwrap_or_clone(entries);
        }
        Ok(appended? != Appended::Refused)
    }

    /// Decides where the texts of an entry are kept.
    pub(crate) async fn place(&self, entry: &mut Entry) -> Result<(), AppError> {
        if let Text::Inline(text) = &entry.payload
            && text.len() > MOST_INLINE
        {
            entry.payload = self.kept(text).await?;
        }
        for (change, kept) in &mut entry.changes {
            if let (Change { text: Some(text), .. }, None) = (&*change, &kept) {
                *kept = Some(self.kept(text).await?);
            }
        }
        Ok(())
    }

    pub(crate) async fn kept(&self, text: &Arc<str>) -> Result<Text, AppError> {
        if text.len() <= MOST_INLINE {
            return Ok(Text::Inline(Arc::clone(text)));
        }
        Ok(Text::Blob(self.blobs().put(bytes::Bytes::from_owner(Shared(Arc::clone(text)))).await?))
    }

    pub(crate) fn entry(&self, event: NewEvent) -> Entry {
        let NewEvent { sandbox, r#type, actor, summary, payload } = event;
        let id = payload.event_id().cloned().unwrap_or_else(|| self.new_id::<EventId>());
        let payload = Text::Inline(Arc::clone(payload.text()));
        Entry { id, sandbox, r#type, at: self.now(), actor, summary, payload, changes: vec![] }
    }

    pub(crate) fn with_context<T>(&self, run: impl FnOnce(&Context<'_>) -> T) -> T {
        self.with_context_at(self.now(), run)
    }

    fn with_context_at<T>(&self, now: Timestamp, run: impl FnOnce(&Context<'_>) -> T) -> T {
        let new_id = || self.inner.ids.next(now).to_string();
        run(&Context { now, new_id: &new_id })
    }
}

/// Text that is stored without a copy of it.
struct Shared(Arc<str>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

struct Batch {
    messages: Vec<Box<dyn Message>>,
    /// Those of reads that were answered before, then those of the messages.
    entries: Vec<Entry>,
    /// How many of the entries are of reads.
    seen: usize,
}

impl Batch {
    fn take_seen(&mut self) -> Vec<Entry> {
        self.entries.truncate(self.seen);
        self.seen = 0;
        std::mem::take(&mut self.entries)
    }
}

fn check_sandbox(world: &World, sandbox: &SandboxId) -> Result<(), AppError> {
    match world.sandboxes.get(sandbox) {
        Some(sandbox) if sandbox.is_active => Ok(()),
        Some(_) => Err(ended()),
        None => Err(AppError::NotFound(SandboxId::NOUN)),
    }
}

fn check_room(world: &World, most: Option<Seq>) -> Result<(), AppError> {
    match most.filter(|most| world.seq >= *most) {
        Some(most) => Err(AppError::conflict(format!("the log of a task run holds at most {most} events; it is full"))),
        None => Ok(()),
    }
}

fn ended() -> AppError {
    AppError::conflict("the sandbox is torn down; its events and state can be read, but it takes no traffic")
}
