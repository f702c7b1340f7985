//! One MLLP connection: reads frames and writes their acknowledgements in order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use app::sandboxes::Access;
use app::sandboxes::hl7::{self, LIMITS};
use app::{App, AppError};
use hl7v2::mllp::{Deframer, Frame, frame};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Messages of one connection that are handled in one transaction.
const MAX_BATCH: usize = 256;
const CHUNK_BYTES: usize = 32 * 1024;
/// A longer frame needs a permit.
const SHORT_FRAME_BYTES: usize = 64 * 1024;
/// A frame must be complete within this time, and a response must be read within it.
const FRAME_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the connection is drained after an error, so that the client can read the response.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) struct Connection<S> {
    app: App,
    access: Access,
    stream: S,
    deframer: Deframer,
    /// Semaphores for long frames, acquired in this order.
    long_frames: [Arc<Semaphore>; 2],
    permits: Vec<OwnedSemaphorePermit>,
    /// When the first bytes of the incomplete frame arrived.
    frame_started: Option<Instant>,
}

/// Whether the connection stays open.
enum Next {
    Continue,
    Close,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(super) fn new(app: App, access: Access, stream: S, long_frames: [Arc<Semaphore>; 2]) -> Self {
        let deframer = Deframer::new(LIMITS.bytes);
        Self { app, access, stream, deframer, long_frames, permits: Vec::new(), frame_started: None }
    }

    pub(super) async fn serve(&mut self) {
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Some(bytes) = self.read(&mut chunk).await {
            self.deframer.push(bytes);
            if matches!(self.respond_to_frames().await, Next::Close) || !self.acquire_permits().await {
                return;
            }
        }
    }

    /// The next bytes. None if the client disconnected, was idle for too long, or did not complete a frame in time.
    async fn read<'c>(&mut self, chunk: &'c mut [u8]) -> Option<&'c [u8]> {
        let idle = Duration::from_secs(self.app.limits().mllp_idle_seconds);
        let limit = match self.frame_started {
            None => idle,
            Some(started) => FRAME_TIMEOUT.min(idle).saturating_sub(started.elapsed()),
        };
        let read = timeout(limit, self.stream.read(chunk)).await.ok()?.ok()?;
        if read == 0 { None } else { chunk.get(..read) }
    }

    async fn respond_to_frames(&mut self) -> Next {
        loop {
            let mut frames = Vec::new();
            let mut next = Next::Continue;
            while frames.len() < MAX_BATCH {
                match self.deframer.next_frame() {
                    Ok(Some(Frame::Message(bytes))) => frames.push(bytes),
                    // Interrupted by the start of another frame. It gets no response, so its sender retries.
                    Ok(Some(Frame::Broken(_))) => {}
                    Ok(None) => break,
                    Err(error) => {
                        next = Next::Close;
                        frames.clear();
                        self.reject(&[Vec::new()], &error.to_string()).await;
                        self.drain_and_close().await;
                        break;
                    }
                }
            }
            if frames.is_empty() {
                return next;
            }
            if matches!(self.deliver(frames).await, Next::Close) {
                return Next::Close;
            }
        }
    }

    async fn deliver(&mut self, frames: Vec<Vec<u8>>) -> Next {
        // The beginnings suffice for a negative acknowledgement if the messages are rejected.
        let heads: Vec<Vec<u8>> = frames.iter().map(|frame| frame.iter().copied().take(4096).collect()).collect();
        match hl7::send_frames(&self.app, &self.access, frames).await {
            Ok(responses) => self.write(&responses).await,
            Err(AppError::Conflict { message, .. }) => {
                self.reject(&heads, &message).await;
                self.drain_and_close().await;
                Next::Close
            }
            Err(AppError::NotFound(_)) => Next::Close,
            Err(error) => {
                tracing::error!(%error, "MLLP messages could not be processed");
                self.reject(&heads, "the interface cannot accept messages now; send the message again").await
            }
        }
    }

    async fn reject(&mut self, frames: &[Vec<u8>], reason: &str) -> Next {
        let responses: Vec<Vec<u8>> =
            frames.iter().flat_map(|frame| hl7::rejection(&self.app, frame, reason)).collect();
        self.write(&responses).await
    }

    async fn write(&mut self, responses: &[Vec<u8>]) -> Next {
        let bytes: Vec<u8> = responses.iter().flat_map(|response| frame(response)).collect();
        let limit = FRAME_TIMEOUT.min(Duration::from_secs(self.app.limits().mllp_idle_seconds));
        match timeout(limit, self.stream.write_all(&bytes)).await {
            Ok(Ok(())) => Next::Continue,
            _ => Next::Close,
        }
    }

    /// Acquires the permits for a long frame; false if that takes too long.
    async fn acquire_permits(&mut self) -> bool {
        let buffered = self.deframer.buffered();
        if buffered == 0 {
            self.frame_started = None;
        } else if self.frame_started.is_none() {
            self.frame_started = Some(Instant::now());
        }
        if buffered <= SHORT_FRAME_BYTES {
            self.permits.clear();
            return true;
        }
        if !self.permits.is_empty() {
            return true;
        }
        for semaphore in &self.long_frames {
            match timeout(FRAME_TIMEOUT, Arc::clone(semaphore).acquire_owned()).await {
                Ok(Ok(permit)) => self.permits.push(permit),
                _ => return false,
            }
        }
        // The server waited, not the client, so the frame's time starts again.
        self.frame_started = Some(Instant::now());
        true
    }

    /// Closes the connection after reading what the client still sends. A reset would lose the response.
    async fn drain_and_close(&mut self) {
        let drain = async {
            let _ = self.stream.shutdown().await;
            let mut rest = vec![0; CHUNK_BYTES];
            while self.stream.read(&mut rest).await.is_ok_and(|read| read > 0) {}
        };
        let _ = timeout(DRAIN_TIMEOUT, drain).await;
    }
}
