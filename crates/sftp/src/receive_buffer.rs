//! Buffers of bytes that a client has sent and its session has not read yet, in bounded memory. The SSH library reopens a
//! client's window as soon as bytes arrive, whether or not they were read. So the socket of a connection with many unread
//! bytes is not read until the session has caught up. The exception is a connection with a pending response: its socket must
//! be read, because the client opens its own window with a message.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use tokio::sync::Notify;

use crate::connection::MAX_CHANNELS;
use crate::packets::MAX_PACKET_BYTES;

/// The SSH window of a channel: what the client may send ahead.
pub(crate) const WINDOW_BYTES: u32 = 1024 * 1024;
/// With this many unread bytes, the socket of a connection is not read until its sessions have caught up. One packet of the
/// maximum size fits for every channel.
const HIGH_WATER_BYTES: usize = MAX_CHANNELS * MAX_PACKET_BYTES as usize;
/// A client with more unread bytes than this sends without reading its responses.
const MAX_UNREAD_BYTES: usize = HIGH_WATER_BYTES + 2 * MAX_CHANNELS * WINDOW_BYTES as usize;
/// The limit for all connections together. Beyond it, connections above their high-water mark are closed.
const MAX_TOTAL_UNREAD_BYTES: usize = 256 * 1024 * 1024;

/// Counts the unread bytes of one connection, over all its channels.
#[derive(Default)]
pub(crate) struct UnreadBytes {
    bytes: AtomicUsize,
    /// UnreadBytes bytes of all connections.
    total: Arc<AtomicUsize>,
    /// Responses that are being sent to the client.
    pending_responses: AtomicUsize,
    /// Wakes the task that reads the socket.
    socket_reader: AtomicWaker,
}

impl UnreadBytes {
    pub(crate) fn new(total: Arc<AtomicUsize>) -> Self {
        Self { total, ..Self::default() }
    }

    /// Ready when the socket may be read.
    pub(crate) fn poll_capacity(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.has_capacity() {
            return Poll::Ready(());
        }
        self.socket_reader.register(context.waker());
        // Checked again, because bytes may have been read before the waker was registered.
        if self.has_capacity() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn has_capacity(&self) -> bool {
        self.bytes.load(Ordering::SeqCst) < HIGH_WATER_BYTES || self.pending_responses.load(Ordering::SeqCst) > 0
    }

    /// Marks a response as being sent, until the guard is dropped.
    pub(crate) fn response_guard(&self) -> ResponseGuard<'_> {
        self.pending_responses.fetch_add(1, Ordering::SeqCst);
        self.socket_reader.wake();
        ResponseGuard(self)
    }

    /// False, and nothing is counted, if that exceeds a limit.
    fn add(&self, count: usize) -> bool {
        let before = self.bytes.fetch_add(count, Ordering::SeqCst);
        let total = self.total.fetch_add(count, Ordering::Relaxed);
        let is_over_limit = before + count > MAX_UNREAD_BYTES
            || (before + count > HIGH_WATER_BYTES && total + count > MAX_TOTAL_UNREAD_BYTES);
        if is_over_limit {
            self.remove(count);
        }
        !is_over_limit
    }

    fn remove(&self, count: usize) {
        self.total.fetch_sub(count, Ordering::Relaxed);
        if self.bytes.fetch_sub(count, Ordering::SeqCst) >= HIGH_WATER_BYTES {
            self.socket_reader.wake();
        }
    }
}

/// Marks a response that is being sent to the client.
pub(crate) struct ResponseGuard<'a>(&'a UnreadBytes);

impl Drop for ResponseGuard<'_> {
    fn drop(&mut self) {
        self.0.pending_responses.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The buffer of one channel, shared by its writer and its reader.
struct Buffer {
    unread: Arc<UnreadBytes>,
    state: Mutex<State>,
    changed: Notify,
    /// Notified once, when the client has closed the channel.
    channel_closed: Notify,
}

#[derive(Default)]
struct State {
    bytes: VecDeque<u8>,
    /// No more bytes will be received.
    has_ended: bool,
    /// The reader was dropped.
    is_reader_gone: bool,
}

impl State {
    /// Frees the memory of a large burst once it was read.
    fn shrink(&mut self) {
        if self.bytes.is_empty() && self.bytes.capacity() > MAX_PACKET_BYTES as usize {
            self.bytes = VecDeque::new();
        }
    }
}

impl Buffer {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the unread bytes.
    fn discard(&self) {
        let left = std::mem::take(&mut self.lock().bytes);
        self.unread.remove(left.len());
    }
}

/// The end of a channel's buffer that receives bytes. Dropping it closes the channel.
pub(crate) struct BufferWriter(Arc<Buffer>);

/// The end of a channel's buffer that is read. After it was dropped, unread and later bytes are discarded.
pub(crate) struct BufferReader(Arc<Buffer>);

/// The buffer of a new channel.
pub(crate) fn channel_buffer(unread: &Arc<UnreadBytes>) -> (BufferWriter, BufferReader) {
    let (state, changed, channel_closed) = (Mutex::default(), Notify::new(), Notify::new());
    let buffer = Arc::new(Buffer { unread: Arc::clone(unread), state, changed, channel_closed });
    (BufferWriter(Arc::clone(&buffer)), BufferReader(buffer))
}

impl BufferWriter {
    /// False, and nothing is stored, if that exceeds a limit.
    pub(crate) fn push(&self, bytes: &[u8]) -> bool {
        let buffer = &self.0;
        if !buffer.unread.add(bytes.len()) {
            return false;
        }
        let mut state = buffer.lock();
        if state.is_reader_gone || state.has_ended {
            buffer.unread.remove(bytes.len());
        } else {
            state.bytes.extend(bytes);
            buffer.changed.notify_one();
        }
        true
    }

    /// No more bytes will be received. UnreadBytes bytes can still be read.
    pub(crate) fn end(&self) {
        self.0.lock().has_ended = true;
        self.0.changed.notify_one();
    }

    /// The client has closed the channel: unread bytes are dropped, and the session ends.
    pub(crate) fn close(&self) {
        self.end();
        self.0.discard();
        self.0.channel_closed.notify_one();
    }

    /// Whether the reader still exists.
    pub(crate) fn has_reader(&self) -> bool {
        !self.0.lock().is_reader_gone
    }
}

impl Drop for BufferWriter {
    fn drop(&mut self) {
        self.close();
    }
}

impl BufferReader {
    /// Fills the buffer with the next bytes. False if the channel ends first.
    pub(crate) async fn fill(&self, buffer: &mut [u8]) -> bool {
        loop {
            {
                let mut state = self.0.lock();
                if state.bytes.len() >= buffer.len() {
                    let is_filled = state.bytes.read_exact(buffer).is_ok();
                    state.shrink();
                    drop(state);
                    self.0.unread.remove(buffer.len());
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
    pub(crate) async fn channel_closed(&self) {
        self.0.channel_closed.notified().await;
    }

    /// Marks a response as being sent, until the guard is dropped.
    pub(crate) fn response_guard(&self) -> ResponseGuard<'_> {
        self.0.unread.response_guard()
    }
}

impl Drop for BufferReader {
    fn drop(&mut self) {
        self.0.lock().is_reader_gone = true;
        self.0.discard();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    fn has_capacity(unread: &UnreadBytes) -> bool {
        unread.poll_capacity(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    fn count(unread: &UnreadBytes) -> usize {
        assert_eq!(unread.bytes.load(Ordering::SeqCst), unread.total.load(Ordering::SeqCst));
        unread.bytes.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn the_socket_is_not_read_until_unread_bytes_were_read() {
        let unread = Arc::new(UnreadBytes::default());
        let (writer, reader) = channel_buffer(&unread);
        assert!(has_capacity(&unread));
        assert!(writer.push(&vec![7; HIGH_WATER_BYTES]));
        assert!(!has_capacity(&unread));
        let socket_reader = tokio::spawn({
            let unread = Arc::clone(&unread);
            async move { std::future::poll_fn(|context| unread.poll_capacity(context)).await }
        });
        tokio::task::yield_now().await;
        let mut read = vec![0; HIGH_WATER_BYTES];
        assert!(reader.fill(&mut read).await);
        assert!(read.iter().all(|byte| *byte == 7));
        socket_reader.await.unwrap();
        assert!(has_capacity(&unread));
    }

    #[tokio::test]
    async fn the_socket_is_read_while_a_response_is_pending() {
        let unread = Arc::new(UnreadBytes::default());
        let (writer, reader) = channel_buffer(&unread);
        assert!(writer.push(&vec![7; HIGH_WATER_BYTES]));
        let socket_reader = tokio::spawn({
            let unread = Arc::clone(&unread);
            async move { std::future::poll_fn(|context| unread.poll_capacity(context)).await }
        });
        tokio::task::yield_now().await;
        let guard = reader.response_guard();
        socket_reader.await.unwrap();
        drop(guard);
        assert!(!has_capacity(&unread));
    }

    #[tokio::test]
    async fn bytes_over_the_limit_are_rejected_and_not_stored() {
        let unread = Arc::new(UnreadBytes::default());
        let (first, _first_reader) = channel_buffer(&unread);
        let (second, second_reader) = channel_buffer(&unread);
        assert!(first.push(&vec![0; MAX_UNREAD_BYTES - 10]));
        assert!(!second.push(&[1; 11]));
        assert!(second.push(&[2; 10]));
        let mut read = [0; 10];
        assert!(second_reader.fill(&mut read).await);
        assert_eq!(read, [2; 10]);
        assert_eq!(count(&unread), MAX_UNREAD_BYTES - 10);
    }

    #[tokio::test]
    async fn the_total_limit_only_affects_connections_above_the_high_water_mark() {
        let total = Arc::new(AtomicUsize::new(MAX_TOTAL_UNREAD_BYTES - 5));
        let unread = Arc::new(UnreadBytes::new(Arc::clone(&total)));
        let (writer, _reader) = channel_buffer(&unread);
        assert!(writer.push(&[0; 10]));
        assert!(!writer.push(&vec![0; HIGH_WATER_BYTES]));
        assert_eq!(total.load(Ordering::SeqCst), MAX_TOTAL_UNREAD_BYTES + 5);
    }

    #[tokio::test]
    async fn bytes_before_the_end_can_be_read() {
        let unread = Arc::new(UnreadBytes::default());
        let (writer, reader) = channel_buffer(&unread);
        assert!(writer.push(b"abcde"));
        writer.end();
        let mut read = [0; 4];
        assert!(reader.fill(&mut read).await);
        assert_eq!(&read, b"abcd");
        assert!(!reader.fill(&mut read).await);
        assert!(writer.has_reader());
        drop(reader);
        assert!(!writer.has_reader());
        assert_eq!(count(&unread), 0);
    }

    #[tokio::test]
    async fn closing_a_channel_drops_its_unread_bytes() {
        let unread = Arc::new(UnreadBytes::default());
        let (writer, reader) = channel_buffer(&unread);
        assert!(writer.push(b"abcde"));
        writer.close();
        assert_eq!(count(&unread), 0);
        reader.channel_closed().await;
        assert!(!reader.fill(&mut [0; 1]).await);
        assert!(writer.push(b"more") && count(&unread) == 0);
    }

    #[tokio::test]
    async fn bytes_are_dropped_after_the_reader() {
        let unread = Arc::new(UnreadBytes::default());
        let (writer, reader) = channel_buffer(&unread);
        assert!(writer.push(&[0; 100]));
        drop(reader);
        for _ in 0..2 {
            assert!(writer.push(&vec![0; MAX_UNREAD_BYTES]));
        }
        assert_eq!(count(&unread), 0);
    }

    #[tokio::test]
    async fn a_waiting_reader_is_woken() {
        let unread = Arc::new(UnreadBytes::default());
        let (writer, reader) = channel_buffer(&unread);
        let read_task = tokio::spawn(async move {
            let mut read = [0; 3];
            (reader.fill(&mut read).await, read, reader.fill(&mut [0; 1]).await)
        });
        tokio::task::yield_now().await;
        for byte in b"xyz" {
            assert!(writer.push(&[*byte]));
            tokio::task::yield_now().await;
        }
        writer.end();
        assert_eq!(read_task.await.ok(), Some((true, *b"xyz", false)));
    }
}
