//! The queue of a playground: commands, and events of queries that have been answered.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use store::log::Entry;
use tokio::sync::oneshot;
use world::{Change, Context, NewEvent, Outcome, World};

use crate::{RuntimeError, lock};

/// Commands to one playground run one after the other. One task at a time drains the queue, many commands per transaction.
#[derive(Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    commands: VecDeque<Box<dyn Command>>,
    /// Events of queries that are answered and not yet written.
    reads: Vec<Entry>,
    /// How many reads are in the batch that is being written.
    reads_in_batch: usize,
    /// A task will flush the reads soon.
    is_flush_scheduled: bool,
    /// A task drains the queue.
    is_draining: bool,
}

/// Commands that run in one transaction, with the reads before them.
pub(crate) struct Batch {
    pub(crate) commands: Vec<Box<dyn Command>>,
    /// Those of the reads, then those of the commands.
    pub(crate) entries: Vec<Entry>,
    /// How many of the entries are reads.
    pub(crate) reads: usize,
}

impl Batch {
    pub(crate) fn take_reads(&mut self) -> Vec<Entry> {
        self.entries.truncate(self.reads);
        self.reads = 0;
        std::mem::take(&mut self.entries)
    }
}

const MAX_BATCH: usize = 256;

impl Queue {
    /// Adds a command. True if the caller must start a task that drains the queue.
    pub(crate) fn push(&self, command: Box<dyn Command>) -> bool {
        let mut waiting = lock(&self.waiting);
        waiting.commands.push_back(command);
        !std::mem::replace(&mut waiting.is_draining, true)
    }

    /// Adds the event of a query. True if the caller must schedule a flush.
    pub(crate) fn push_read(&self, entry: Entry) -> bool {
        let mut waiting = lock(&self.waiting);
        waiting.reads.push(entry);
        !std::mem::replace(&mut waiting.is_flush_scheduled, true)
    }

    /// The scheduled flush begins: later reads need another one.
    pub(crate) fn begin_flush(&self) {
        lock(&self.waiting).is_flush_scheduled = false;
    }

    /// The number of reads that wait.
    pub(crate) fn waiting_reads(&self) -> usize {
        lock(&self.waiting).reads.len()
    }

    /// The number of reads that wait or are being written. Reads that were written just now may still count.
    pub(crate) fn unwritten_reads(&self) -> usize {
        let waiting = lock(&self.waiting);
        waiting.reads.len() + waiting.reads_in_batch
    }

    /// The next batch. None if no command waits; then the task that drains the queue ends.
    pub(crate) fn take_batch(&self) -> Option<Batch> {
        let mut waiting = lock(&self.waiting);
        waiting.reads_in_batch = 0;
        if waiting.commands.is_empty() {
            waiting.is_draining = false;
            return None;
        }
        let count = waiting.commands.len().min(MAX_BATCH);
        let commands = waiting.commands.drain(..count).collect();
        let entries = std::mem::take(&mut waiting.reads);
        waiting.reads_in_batch = entries.len();
        Some(Batch { commands, reads: entries.len(), entries })
    }

    /// Puts reads back that could not be written.
    pub(crate) fn put_back(&self, mut reads: Vec<Entry>) {
        let mut waiting = lock(&self.waiting);
        reads.append(&mut waiting.reads);
        waiting.reads = reads;
    }

    pub(crate) fn is_empty(&self) -> bool {
        let waiting = lock(&self.waiting);
        waiting.commands.is_empty() && waiting.reads.is_empty() && !waiting.is_draining
    }
}

/// A waiting command. It may run several times; the last result counts.
pub(crate) trait Command: Send {
    fn run(&mut self, world: &World, context: &Context<'_>) -> (Vec<Change>, Vec<NewEvent>);
    /// Responds to the caller, once the last run is durable or has failed.
    fn respond(self: Box<Self>, failure: Option<RuntimeError>);
}

pub(crate) struct TypedCommand<F, T> {
    run: F,
    result: Option<Result<T, RuntimeError>>,
    response: oneshot::Sender<Result<T, RuntimeError>>,
}

impl<F, T> TypedCommand<F, T>
where
    F: Fn(&World, &Context<'_>) -> Result<Outcome<T>, RuntimeError> + Send,
    T: Send,
{
    pub(crate) fn new(run: F) -> (Self, oneshot::Receiver<Result<T, RuntimeError>>) {
        let (response, receiver) = oneshot::channel();
        (Self { run, result: None, response }, receiver)
    }
}

impl<F, T> Command for TypedCommand<F, T>
where
    F: Fn(&World, &Context<'_>) -> Result<Outcome<T>, RuntimeError> + Send,
    T: Send,
{
    /// A panic fails this command only.
    fn run(&mut self, world: &World, context: &Context<'_>) -> (Vec<Change>, Vec<NewEvent>) {
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.run)(world, context)));
        match outcome.unwrap_or_else(|_| Err(RuntimeError::panicked("a simulator"))) {
            Ok(Outcome { answer, changes, events }) => {
                self.result = Some(Ok(answer));
                (changes, events)
            }
            Err(error) => {
                self.result = Some(Err(error));
                (Vec::new(), Vec::new())
            }
        }
    }

    fn respond(self: Box<Self>, failure: Option<RuntimeError>) {
        let result = self.result.unwrap_or_else(|| Err(RuntimeError::Internal("a command was not run".into())));
        // The caller may have stopped waiting.
        let _ = self.response.send(failure.map_or(result, Err));
    }
}
