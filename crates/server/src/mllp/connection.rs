//! One MLLP connection: frames in, acknowledgements out, in the order of the frames.

use std::sync::Arc;
use std::time::{Duration, Instant};

use app::sandboxes::Access;
use app::sandboxes::hl7::{self, LIMITS};
use app::{App, AppError};
use hl7v2::mllp::{Deframer, Frame, frame};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Messages that one transaction takes of one connection.
const MOST_AT_ONCE: usize = 256;
const CHUNK_BYTES: usize = 32 * 1024;
/// A frame of more than this needs leave to grow.
const SHORT_FRAME_BYTES: usize = 64 * 1024;
/// A frame that has begun must end in this time, and an answer must be read in it.
const FRAME: Duration = Duration::from_secs(60);
/// How long a client may still send after the connection was ended, so that it can read why.
const FAREWELL: Duration = Duration::from_secs(2);

pub(super) struct Connection<S> {
    app: App,
    access: Access,
    stream: S,
    deframer: Deframer,
    /// Where leave for a long frame is taken, in this order.
    rooms: [Arc<Semaphore>; 2],
    leave: Vec<OwnedSemaphorePermit>,
    /// When the frame that is being received began.
    began: Option<Instant>,
}

/// What a connection does after a step.
enum Next {
    Go,
    End,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(super) fn new(app: App, access: Access, stream: S, rooms: [Arc<Semaphore>; 2]) -> Self {
        let deframer = Deframer::new(LIMITS.bytes);
        Self { app, access, stream, deframer, rooms, leave: Vec::new(), began: None }
    }

    pub(super) async fn serve(&mut self) {
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Some(bytes) = self.read(&mut chunk).await {
            self.deframer.push(bytes);
            if matches!(self.answer_frames().await, Next::End) || !self.may_go_on().await {
                return;
            }
        }
    }

    /// What arrives next. None when the client has gone, says nothing for too long, or does not come to an end.
    async fn read<'c>(&mut self, chunk: &'c mut [u8]) -> Option<&'c [u8]> {
        let idle = Duration::from_secs(self.app.limits().mllp_idle_seconds);
        let patience = match self.began {
            None => idle,
            Some(began) => FRAME.min(idle).saturating_sub(began.elapsed()),
        };
        let read = timeout(patience, self.stream.read(chunk)).await.ok()?.ok()?;
        if read == 0 { None } else { chunk.get(..read) }
    }

    async fn answer_frames(&mut self) -> Next {
        loop {
            let mut frames = Vec::new();
            let mut end = Next::Go;
            while frames.len() < MOST_AT_ONCE {
                match self.deframer.next_frame() {
                    Ok(Some(Frame::Message(bytes))) => frames.push(bytes),
                    // Cut off by the next one: its sender gets no answer and sends it again.
                    Ok(Some(Frame::Broken(_))) => {}
                    Ok(None) => break,
                    Err(fault) => {
                        end = Next::End;
                        frames.clear();
                        self.refuse(&[Vec::new()], &fault.to_string()).await;
                        self.part().await;
                        break;
                    }
                }
            }
            if frames.is_empty() {
                return end;
            }
            if matches!(self.pass_on(frames).await, Next::End) {
                return Next::End;
            }
        }
    }

    async fn pass_on(&mut self, frames: Vec<Vec<u8>>) -> Next {
        // Enough to answer to, should they be refused.
        let heads: Vec<Vec<u8>> = frames.iter().map(|frame| frame.iter().copied().take(4096).collect()).collect();
        match hl7::send_frames(&self.app, &self.access, frames).await {
            Ok(answers) => self.write(&answers).await,
            Err(AppError::Conflict { message, .. }) => {
                self.refuse(&heads, &message).await;
                self.part().await;
                Next::End
            }
            Err(AppError::NotFound(_)) => Next::End,
            Err(error) => {
                tracing::error!(%error, "messages over MLLP could not be taken");
                self.refuse(&heads, "the interface cannot take messages now; send it again").await
            }
        }
    }

    async fn refuse(&mut self, frames: &[Vec<u8>], why: &str) -> Next {
        let answers: Vec<Vec<u8>> = frames.iter().flat_map(|frame| hl7::rejection(&self.app, frame, why)).collect();
        self.write(&answers).await
    }

    async fn write(&mut self, answers: &[Vec<u8>]) -> Next {
        let bytes: Vec<u8> = answers.iter().flat_map(|answer| frame(answer)).collect();
        let patience = FRAME.min(Duration::from_secs(self.app.limits().mllp_idle_seconds));
        match timeout(patience, self.stream.write_all(&bytes)).await {
            Ok(Ok(())) => Next::Go,
            _ => Next::End,
        }
    }

    /// Leave for a frame that grows long; false when there is none in time.
    async fn may_go_on(&mut self) -> bool {
        let held = self.deframer.buffered();
        if held == 0 {
            self.began = None;
        } else if self.began.is_none() {
            self.began = Some(Instant::now());
        }
        if held <= SHORT_FRAME_BYTES {
            self.leave.clear();
            return true;
        }
        if !self.leave.is_empty() {
            return true;
        }
        for room in &self.rooms {
            match timeout(FRAME, Arc::clone(room).acquire_owned()).await {
                Ok(Ok(leave)) => self.leave.push(leave),
                _ => return false,
            }
        }
        // The wait was ours.
        self.began = Some(Instant::now());
        true
    }

    /// A client that is still sending would lose the answer if the connection broke.
    async fn part(&mut self) {
        let parting = async {
            let _ = self.stream.shutdown().await;
            let mut rest = vec![0; CHUNK_BYTES];
            while self.stream.read(&mut rest).await.is_ok_and(|read| read > 0) {}
        };
        let _ = timeout(FAREWELL, parting).await;
    }
}
