//! A TCP stream that the server can close at any time, and that is read only while there is room for more unread bytes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::receive_buffer::UnreadBytes;

pub(crate) struct ClosableStream {
    stream: TcpStream,
    unread: Arc<UnreadBytes>,
    closed: Pin<Box<dyn Future<Output = ()> + Send>>,
    is_closed: bool,
}

impl ClosableStream {
    /// The stream ends when `closed` resolves.
    pub(crate) fn new(
        stream: TcpStream,
        unread: Arc<UnreadBytes>,
        closed: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        Self { stream, unread, closed: Box::pin(closed), is_closed: false }
    }

    fn is_closed(&mut self, context: &mut Context<'_>) -> bool {
        self.is_closed = self.is_closed || self.closed.as_mut().poll(context).is_ready();
        self.is_closed
    }
}

impl AsyncRead for ClosableStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_closed(context) {
            return Poll::Ready(Ok(()));
        }
        ready!(self.unread.poll_capacity(context));
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for ClosableStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_closed(context) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
