//! What waits for a playground: messages that may change it, and events of those that did not.

use std::collections::VecDeque;
use std::sync::Mutex;

use world::{Context, NewEvent, Outcome, World};

use super::lock;
use crate::AppError;
use store::log::Entry;
use tokio::sync::oneshot;

/// Messages to one playground are carried out one after the other, by one leader at a time, many in one transaction.
#[derive(Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    messages: VecDeque<Box<dyn Message>>,
    /// Events of read-only messages that are answered and not yet written.
    seen: Vec<Entry>,
    /// How many of them the leader has taken.
    taken: usize,
    /// Someone will write them soon.
    is_flush_due: bool,
    is_led: bool,
}

/// Messages, and events of reads before them.
pub(crate) type Taken = (Vec<Box<dyn Message>>, Vec<Entry>);

/// Messages that one transaction takes.
const MOST_AT_ONCE: usize = 256;

impl Queue {
    /// Adds a message. True when the caller must see to it that someone leads.
    pub(crate) fn push(&self, message: Box<dyn Message>) -> bool {
        let mut waiting = lock(&self.waiting);
        waiting.messages.push_back(message);
        !std::mem::replace(&mut waiting.is_led, true)
    }

    /// Adds an event. True when the caller must see to it that it is written soon.
    pub(crate) fn note(&self, entry: Entry) -> bool {
        let mut waiting = lock(&self.waiting);
        waiting.seen.push(entry);
        !std::mem::replace(&mut waiting.is_flush_due, true)
    }

    /// Whoever has promised to write the events begins: later ones need another promise.
    pub(crate) fn begin_flush(&self) {
        lock(&self.waiting).is_flush_due = false;
    }

    /// How many events wait.
    pub(crate) fn seen(&self) -> usize {
        lock(&self.waiting).seen.len()
    }

    /// How many events wait or are just being written; those that have just been written may still count.
    pub(crate) fn unwritten(&self) -> usize {
        let waiting = lock(&self.waiting);
        waiting.seen.len() + waiting.taken
    }

    /// What the leader does next; none when there is nothing left, and it leads no more.
    pub(crate) fn take(&self) -> Option<Taken> {
        let mut waiting = lock(&self.waiting);
        waiting.taken = 0;
        if waiting.messages.is_empty() {
            waiting.is_led = false;
            return None;
        }
        let count = waiting.messages.len().min(MOST_AT_ONCE);
        let messages = waiting.messages.drain(..count).collect();
        waiting.taken = waiting.seen.len();
        Some((messages, std::mem::take(&mut waiting.seen)))
    }

    /// Puts events back that could not be written.
    pub(crate) fn put_back(&self, mut entries: Vec<Entry>) {
        let mut waiting = lock(&self.waiting);
        entries.append(&mut waiting.seen);
        waiting.seen = entries;
    }

    pub(crate) fn is_empty(&self) -> bool {
        let waiting = lock(&self.waiting);
        waiting.messages.is_empty() && waiting.seen.is_empty() && !waiting.is_led
    }
}

/// One waiting message. It may be carried out several times; the last answer counts.
pub(crate) trait Message: Send {
    fn run(&mut self, world: &World, context: &Context<'_>) -> (Vec<world::Change>, Vec<NewEvent>);
    /// Called once, after what the last run gave is durable or has failed to be.
    fn answer(self: Box<Self>, failure: Option<AppError>);
}

pub(crate) struct Typed<F, T> {
    handle: F,
    found: Option<Result<T, AppError>>,
    answer: oneshot::Sender<Result<T, AppError>>,
}

impl<F, T> Typed<F, T>
where
    F: Fn(&World, &Context<'_>) -> Result<Outcome<T>, AppError> + Send,
    T: Send,
{
    pub(crate) fn new(handle: F) -> (Self, oneshot::Receiver<Result<T, AppError>>) {
        let (answer, answered) = oneshot::channel();
        (Self { handle, found: None, answer }, answered)
    }
}

impl<F, T> Message for Typed<F, T>
where
    F: Fn(&World, &Context<'_>) -> Result<Outcome<T>, AppError> + Send,
    T: Send,
{
    fn run(&mut self, world: &World, context: &Context<'_>) -> (Vec<world::Change>, Vec<NewEvent>) {
        match (self.handle)(world, context) {
            Ok(Outcome { answer, changes, events }) => {
                self.found = Some(Ok(answer));
                (changes, events)
            }
            Err(error) => {
                self.found = Some(Err(error));
                (Vec::new(), Vec::new())
            }
        }
    }

    fn answer(self: Box<Self>, failure: Option<AppError>) {
        let found = self.found.unwrap_or_else(|| Err(AppError::Internal("a message was not carried out".into())));
        // Whoever asked may be gone.
        let _ = self.answer.send(failure.map_or(found, Err));
    }
}
