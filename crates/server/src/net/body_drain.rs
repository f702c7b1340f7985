//! Reads the rest of a request body after an early response. A client that is still sending would otherwise see a connection
//! reset and never read the response. Bodies that stop or arrive too slowly are abandoned.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::Request;
use axum::http::header;
use futures_util::{StreamExt, stream};
use tokio::time::{Instant, Sleep, sleep_until};

/// How long the rest of a body is read after the response was sent.
const MAX_DRAIN_TIME: Duration = Duration::from_secs(30);
/// Bodies that arrive more slowly than this, on average, are abandoned once the idle timeout has passed.
const MIN_BYTES_PER_SECOND: u64 = 100;

/// Shares the body with the handler. After the handler's response, the caller must call [`BodyRest::drain`].
pub(crate) fn share(request: Request, idle_timeout: Duration) -> (Request, BodyRest) {
    if request.body().is_end_stream() {
        return (request, BodyRest(None));
    }
    let (parts, body) = request.into_parts();
    let expects_continue = parts.headers.contains_key(header::EXPECT);
    let shared = Arc::new(Mutex::new(SharedBody::new(body, idle_timeout)));
    let body = Body::from_stream(chunks(&shared));
    (Request::from_parts(parts, body), BodyRest(Some((shared, expects_continue))))
}

/// The part of a body that the handler did not read, and whether the client sent `Expect: 100-continue`.
pub(crate) struct BodyRest(Option<(Shared, bool)>);

impl BodyRest {
    /// Reads and discards the rest in the background.
    pub(crate) fn drain(&self) {
        if let Some((shared, expects_continue)) = &self.0
            && lock(shared).needs_draining(*expects_continue)
        {
            tokio::spawn(tokio::time::timeout(MAX_DRAIN_TIME, discard(chunks(shared))));
        }
    }
}

struct SharedBody {
    body: BodyDataStream,
    was_read: bool,
    idle_timeout: Duration,
    started: Instant,
    received: u64,
    /// Set while the next chunk is pending.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl SharedBody {
    fn new(body: Body, idle_timeout: Duration) -> Self {
        let body = body.into_data_stream();
        Self { body, was_read: false, idle_timeout, started: Instant::now(), received: 0, deadline: None }
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Chunk>> {
        self.was_read = true;
        match self.body.poll_next_unpin(context) {
            Poll::Pending => {
                let until = Instant::now() + self.idle_timeout;
                let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep_until(until)));
                ready!(deadline.as_mut().poll(context));
                Poll::Ready(Some(too_slow()))
            }
            Poll::Ready(chunk) => {
                self.deadline = None;
                let bytes = chunk.as_ref().and_then(|chunk| chunk.as_ref().ok()).map_or(0, |chunk| chunk.len() as u64);
                self.received += bytes;
                Poll::Ready(if self.is_too_slow() { Some(too_slow()) } else { chunk })
            }
        }
    }

    fn is_too_slow(&self) -> bool {
        let elapsed = self.started.elapsed();
        elapsed > self.idle_timeout && self.received < MIN_BYTES_PER_SECOND * elapsed.as_secs()
    }

    /// False for a client that still waits for `100 Continue`: reading would make it send a body that nobody needs.
    fn needs_draining(&self, expects_continue: bool) -> bool {
        !self.body.is_end_stream() && (self.was_read || !expects_continue)
    }
}

type Shared = Arc<Mutex<SharedBody>>;
type Chunk = Result<bytes::Bytes, axum::Error>;

fn chunks(shared: &Shared) -> impl stream::Stream<Item = Chunk> + Send + Unpin + use<> {
    let shared = Arc::clone(shared);
    stream::poll_fn(move |context| lock(&shared).poll_chunk(context))
}

fn too_slow() -> Chunk {
    Err(axum::Error::new("the request body arrives too slowly"))
}

async fn discard(mut chunks: impl stream::Stream<Item = Chunk> + Unpin) {
    while let Some(Ok(_)) = chunks.next().await {}
}

fn lock(shared: &Shared) -> std::sync::MutexGuard<'_, SharedBody> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
