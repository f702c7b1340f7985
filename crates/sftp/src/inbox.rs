//! What a client has sent and nobody has read yet, in bounded memory. The SSH library opens a client's window again as
//! soon as bytes arrive, whether or not they were read; here a connection of which much lies unread gets a window of two
//! bytes until it was read. The loop that moves packets never waits for a reader, so answers always go out.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::connection::MOST_CHANNELS;
use crate::packets::LONGEST;

/// What a channel may send ahead.
pub(crate) const WINDOW: u32 = 1024 * 1024;
/// The least window that the library still renews.
const TRICKLE: u32 = 2;
/// Unread bytes of a connection from which on its windows trickle: a whole packet of every channel has room.
const MUCH: usize = MOST_CHANNELS * LONGEST as usize;
/// More is unread only when a client does not keep to its windows.
const MOST: usize = MUCH + 2 * MOST_CHANNELS * WINDOW as usize;

/// The unread bytes of one connection, over all its channels.
#[derive(Default)]
pub(crate) struct Unread(AtomicUsize);

impl Unread {
    /// The window that a channel gets next.
    pub(crate) fn window(&self) -> u32 {
        if self.0.load(Ordering::Relaxed) < MUCH { WINDOW } else { TRICKLE }
    }
}

/// A channel's bytes, between the one who receives them and the one who reads them.
struct Pipe {
    unread: Arc<Unread>,
    state: Mutex<State>,
    changed: Notify,
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
}

/// Where bytes come in. Dropping it ends them.
pub(crate) struct Inlet(Arc<Pipe>);

/// Where bytes are read. When it is dropped, what was not read counts no more, and neither does what still comes.
pub(crate) struct Inbox(Arc<Pipe>);

pub(crate) fn pipe(unread: &Arc<Unread>) -> (Inlet, Inbox) {
    let pipe = Pipe { unread: Arc::clone(unread), state: Mutex::default(), changed: Notify::new() };
    let pipe = Arc::new(pipe);
    (Inlet(Arc::clone(&pipe)), Inbox(pipe))
}

impl Inlet {
    /// False, and nothing kept, when that is more than any window allowed.
    pub(crate) fn push(&self, bytes: &[u8]) -> bool {
        let pipe = &self.0;
        let before = pipe.unread.0.fetch_add(bytes.len(), Ordering::Relaxed);
        if before + bytes.len() > MOST {
            pipe.unread.0.fetch_sub(bytes.len(), Ordering::Relaxed);
            return false;
        }
        let mut state = pipe.lock();
        if state.is_closed {
            pipe.unread.0.fetch_sub(bytes.len(), Ordering::Relaxed);
        } else {
            state.bytes.extend(bytes);
            pipe.changed.notify_one();
        }
        true
    }

    pub(crate) fn end(&self) {
        self.0.lock().has_ended = true;
        self.0.changed.notify_one();
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        self.end();
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
                    self.0.unread.0.fetch_sub(buffer.len(), Ordering::Relaxed);
                    return is_filled;
                }
                if state.has_ended {
                    return false;
                }
            }
            self.0.changed.notified().await;
        }
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        let left = std::mem::take(&mut state.bytes);
        self.0.unread.0.fetch_sub(left.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn windows_trickle_until_what_came_was_read() {
        let unread = Arc::new(Unread::default());
        let (inlet, inbox) = pipe(&unread);
        assert_eq!(unread.window(), WINDOW);
        assert!(inlet.push(&vec![7; MUCH]));
        assert_eq!(unread.window(), TRICKLE);
        let mut read = vec![0; MUCH];
        assert!(inbox.fill(&mut read).await);
        assert!(read.iter().all(|byte| *byte == 7));
        assert_eq!(unread.window(), WINDOW);
    }

    #[tokio::test]
    async fn who_ignores_the_window_is_told_and_nothing_is_kept() {
        let unread = Arc::new(Unread::default());
        let (first, _one) = pipe(&unread);
        let (second, two) = pipe(&unread);
        assert!(first.push(&vec![0; MOST - 10]));
        assert!(!second.push(&[1; 11]));
        assert!(second.push(&[2; 10]));
        let mut read = [0; 10];
        assert!(two.fill(&mut read).await);
        assert_eq!(read, [2; 10]);
    }

    #[tokio::test]
    async fn what_came_before_the_end_is_read_and_a_closed_channel_counts_no_more() {
        let unread = Arc::new(Unread::default());
        let (inlet, inbox) = pipe(&unread);
        assert!(inlet.push(b"abcde"));
        drop(inlet);
        let mut read = [0; 4];
        assert!(inbox.fill(&mut read).await);
        assert_eq!(&read, b"abcd");
        assert!(!inbox.fill(&mut read).await);
        drop(inbox);
        assert_eq!(unread.0.load(Ordering::Relaxed), 0);
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
        assert_eq!(unread.0.load(Ordering::Relaxed), 0);
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
        drop(inlet);
        assert_eq!(reader.await.ok(), Some((true, *b"xyz", false)));
    }
}
