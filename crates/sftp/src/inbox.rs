//! What a client has sent and nobody has read yet, in bounded memory. The SSH library opens a client's window again as soon
//! as bytes arrive, whether or not they were read. So when much of a connection lies unread, nothing more is taken from its
//! socket until a reader has caught up; only while an answer waits for the client is it listened to, because the client must
//! be heard to open its own window.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use tokio::sync::Notify;

use crate::connection::MOST_CHANNELS;
use crate::packets::LONGEST;

/// What a channel may send ahead.
pub(crate) const WINDOW: u32 = 1024 * 1024;
/// Unread bytes of a connection from which on its readers must catch up first: a whole packet of every channel has room.
const MUCH: usize = MOST_CHANNELS * LONGEST as usize;
/// A client that lets so much lie unread sends without reading its answers.
const MOST: usize = MUCH + 2 * MOST_CHANNELS * WINDOW as usize;
/// Of all connections together. Beyond it, one that has much unread has to go.
const MOST_IN_ALL: usize = 256 * 1024 * 1024;

/// The unread bytes of one connection, over all its channels.
#[derive(Default)]
pub(crate) struct Unread {
    bytes: AtomicUsize,
    /// Those of all connections.
    in_all: Arc<AtomicUsize>,
    /// Answers that are on their way to the client.
    answers: AtomicUsize,
    /// Who takes bytes from the socket, while that waits.
    taker: AtomicWaker,
}

impl Unread {
    pub(crate) fn new(in_all: Arc<AtomicUsize>) -> Self {
        Self { in_all, ..Self::default() }
    }

    /// Ready when more may be taken from the socket.
    pub(crate) fn poll_room(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.has_room() {
            return Poll::Ready(());
        }
        self.taker.register(context.waker());
        // What was read between the look and the waking call must not be missed.
        if self.has_room() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn has_room(&self) -> bool {
        self.bytes.load(Ordering::SeqCst) < MUCH || self.answers.load(Ordering::SeqCst) > 0
    }

    /// While this is held, an answer is on its way.
    pub(crate) fn answering(&self) -> Answering<'_> {
        self.answers.fetch_add(1, Ordering::SeqCst);
        self.taker.wake();
        Answering(self)
    }

    /// False, and nothing counted, when that is too much.
    fn add(&self, count: usize) -> bool {
        let before = self.bytes.fetch_add(count, Ordering::SeqCst);
        let in_all = self.in_all.fetch_add(count, Ordering::Relaxed);
        let is_too_much = before + count > MOST || (before + count > MUCH && in_all + count > MOST_IN_ALL);
        if is_too_much {
            self.take(count);
        }
        !is_too_much
    }

    fn take(&self, count: usize) {
        self.in_all.fetch_sub(count, Ordering::Relaxed);
        if self.bytes.fetch_sub(count, Ordering::SeqCst) >= MUCH {
            self.taker.wake();
        }
    }
}

/// An answer that is on its way to the client.
pub(crate) struct Answering<'a>(&'a Unread);

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        self.0.answers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A channel's bytes, between the one who receives them and the one who reads them.
struct Pipe {
    unread: Arc<Unread>,
    state: Mutex<State>,
    changed: Notify,
    /// Told once, when the client has closed the channel.
    gone: Notify,
}

#[derive(Default)]
struct State {
    bytes: VecDeque<u8>,
    /// Nothing more comes.
    has_ended: bool,
    /// Nobody reads any more.
    is_closed: bool,
}

impl State {
    /// Room that one burst needed is not kept for the next.
    fn shrink(&mut self) {
        if self.bytes.is_empty() && self.bytes.capacity() > LONGEST as usize {
            self.bytes = VecDeque::new();
        }
    }
}

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was not read counts no more.
    fn discard(&self) {
        let left = std::mem::take(&mut self.lock().bytes);
        self.unread.take(left.len());
    }
}

/// Where bytes come in. Dropping it closes the channel.
pub(crate) struct Inlet(Arc<Pipe>);

/// Where bytes are read. When it is dropped, what was not read counts no more, and neither does what still comes.
pub(crate) struct Inbox(Arc<Pipe>);

pub(crate) fn pipe(unread: &Arc<Unread>) -> (Inlet, Inbox) {
    let (state, changed, gone) = (Mutex::default(), Notify::new(), Notify::new());
    let pipe = Arc::new(Pipe { unread: Arc::clone(unread), state, changed, gone });
    (Inlet(Arc::clone(&pipe)), Inbox(pipe))
}

impl Inlet {
    /// False, and nothing kept, when that is too much.
    pub(crate) fn push(&self, bytes: &[u8]) -> bool {
        let pipe = &self.0;
        if !pipe.unread.add(bytes.len()) {
            return false;
        }
        let mut state = pipe.lock();
        if state.is_closed || state.has_ended {
            pipe.unread.take(bytes.len());
        } else {
            state.bytes.extend(bytes);
            pipe.changed.notify_one();
        }
        true
    }

    /// Nothing more comes; what came is still read.
    pub(crate) fn end(&self) {
        self.0.lock().has_ended = true;
        self.0.changed.notify_one();
    }

    /// The client has closed the channel: whatever was to be read or answered is in vain.
    pub(crate) fn close(&self) {
        self.end();
        self.0.discard();
        self.0.gone.notify_one();
    }

    /// Whether somebody still reads, or will.
    pub(crate) fn has_reader(&self) -> bool {
        !self.0.lock().is_closed
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        self.close();
    }
}

impl Inbox {
    /// The next bytes, as many as fit; false when they end before. There is one reader.
    pub(crate) async fn fill(&self, buffer: &mut [u8]) -> bool {
        loop {
            {
                let mut state = self.0.lock();
                if state.bytes.len() >= buffer.len() {
                    let is_filled = state.bytes.read_exact(buffer).is_ok();
                    state.shrink();
                    drop(state);
                    self.0.unread.take(buffer.len());
                    return is_filled;
                }
                if state.has_ended {
                    return false;
                }
            }
            self.0.changed.notified().await;
        }
    }

    /// Resolves when the client has closed the channel.
    pub(crate) async fn gone(&self) {
        self.0.gone.notified().await;
    }

    /// While this is held, the answer to what was read is on its way.
    pub(crate) fn answering(&self) -> Answering<'_> {
        self.0.unread.answering()
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.discard();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    fn has_room(unread: &Unread) -> bool {
        unread.poll_room(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    fn count(unread: &Unread) -> usize {
        assert_eq!(unread.bytes.load(Ordering::SeqCst), unread.in_all.load(Ordering::SeqCst));
        unread.bytes.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn nothing_more_is_taken_until_what_came_was_read() {
        let unread = Arc::new(Unread::default());
        let (inlet, inbox) = pipe(&unread);
        assert!(has_room(&unread));
        assert!(inlet.push(&vec![7; MUCH]));
        assert!(!has_room(&unread));
        let taker = tokio::spawn({
            let unread = Arc::clone(&unread);
            async move { std::future::poll_fn(|context| unread.poll_room(context)).await }
        });
        tokio::task::yield_now().await;
        let mut read = vec![0; MUCH];
        assert!(inbox.fill(&mut read).await);
        assert!(read.iter().all(|byte| *byte == 7));
        taker.await.unwrap();
        assert!(has_room(&unread));
    }

    #[tokio::test]
    async fn a_client_that_must_take_an_answer_first_is_listened_to() {
        let unread = Arc::new(Unread::default());
        let (inlet, inbox) = pipe(&unread);
        assert!(inlet.push(&vec![7; MUCH]));
        let taker = tokio::spawn({
            let unread = Arc::clone(&unread);
            async move { std::future::poll_fn(|context| unread.poll_room(context)).await }
        });
        tokio::task::yield_now().await;
        let answering = inbox.answering();
        taker.await.unwrap();
        drop(answering);
        assert!(!has_room(&unread));
    }

    #[tokio::test]
    async fn who_sends_too_much_is_told_and_nothing_is_kept() {
        let unread = Arc::new(Unread::default());
        let (first, _one) = pipe(&unread);
        let (second, two) = pipe(&unread);
        assert!(first.push(&vec![0; MOST - 10]));
        assert!(!second.push(&[1; 11]));
        assert!(second.push(&[2; 10]));
        let mut read = [0; 10];
        assert!(two.fill(&mut read).await);
        assert_eq!(read, [2; 10]);
        assert_eq!(count(&unread), MOST - 10);
    }

    #[tokio::test]
    async fn of_all_connections_only_those_with_much_unread_have_to_go() {
        let in_all = Arc::new(AtomicUsize::new(MOST_IN_ALL - 5));
        let unread = Arc::new(Unread::new(Arc::clone(&in_all)));
        let (inlet, _inbox) = pipe(&unread);
        assert!(inlet.push(&[0; 10]));
        assert!(!inlet.push(&vec![0; MUCH]));
        assert_eq!(in_all.load(Ordering::SeqCst), MOST_IN_ALL + 5);
    }

    #[tokio::test]
    async fn what_came_before_the_end_is_read() {
        let unread = Arc::new(Unread::default());
        let (inlet, inbox) = pipe(&unread);
        assert!(inlet.push(b"abcde"));
        inlet.end();
        let mut read = [0; 4];
        assert!(inbox.fill(&mut read).await);
        assert_eq!(&read, b"abcd");
        assert!(!inbox.fill(&mut read).await);
        assert!(inlet.has_reader());
        drop(inbox);
        assert!(!inlet.has_reader());
        assert_eq!(count(&unread), 0);
    }

    #[tokio::test]
    async fn what_a_closed_channel_held_is_gone_at_once() {
        let unread = Arc::new(Unread::default());
        let (inlet, inbox) = pipe(&unread);
        assert!(inlet.push(b"abcde"));
        inlet.close();
        assert_eq!(count(&unread), 0);
        inbox.gone().await;
        assert!(!inbox.fill(&mut [0; 1]).await);
        assert!(inlet.push(b"more") && count(&unread) == 0);
    }

    #[tokio::test]
    async fn what_comes_for_a_reader_that_has_gone_is_dropped() {
        let unread = Arc::new(Unread::default());
        let (inlet, inbox) = pipe(&unread);
        assert!(inlet.push(&[0; 100]));
        drop(inbox);
        for _ in 0..2 {
            assert!(inlet.push(&vec![0; MOST]));
        }
        assert_eq!(count(&unread), 0);
    }

    #[tokio::test]
    async fn a_reader_that_waits_is_woken() {
        let unread = Arc::new(Unread::default());
        let (inlet, inbox) = pipe(&unread);
        let reader = tokio::spawn(async move {
            let mut read = [0; 3];
            (inbox.fill(&mut read).await, read, inbox.fill(&mut [0; 1]).await)
        });
        tokio::task::yield_now().await;
        for byte in b"xyz" {
            assert!(inlet.push(&[*byte]));
            tokio::task::yield_now().await;
        }
        inlet.end();
        assert_eq!(reader.await.ok(), Some((true, *b"xyz", false)));
    }
}
