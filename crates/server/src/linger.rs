//! Bodies that are lent to handlers. After an early answer the rest is read: a client that is still sending would otherwise
//! find its connection broken, and the answer that told why lost. One that stops sending, or sends next to nothing, is not
//! waited for.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::Request;
use axum::http::header;
use futures_util::{StreamExt, stream};
use tokio::time::{Instant, Sleep, sleep_until};

/// A client that sends longer than this has had time to read.
const LONGEST: Duration = Duration::from_secs(30);
/// After the first while, a body that comes more slowly than this on the whole is not meant to end.
const LEAST_BYTES_PER_SECOND: u64 = 100;

/// Lends the body to the handler. When that has answered, whoever called this must read on.
pub(crate) fn lend(request: Request, patience: Duration) -> (Request, Rest) {
    if request.body().is_end_stream() {
        return (request, Rest(None));
    }
    let (parts, body) = request.into_parts();
    let asks_first = parts.headers.contains_key(header::EXPECT);
    let kept = Arc::new(Mutex::new(Lent::new(body, patience)));
    let lent = Body::from_stream(parts_of(&kept));
    (Request::from_parts(parts, lent), Rest(Some((kept, asks_first))))
}

/// What the handler may have left of a body, and whether the client asked before it sent it.
pub(crate) struct Rest(Option<(Kept, bool)>);

impl Rest {
    /// Reads what is left into nothing.
    pub(crate) fn read_on(&self) {
        if let Some((kept, asks_first)) = &self.0
            && lock(kept).is_worth_reading(*asks_first)
        {
            tokio::spawn(tokio::time::timeout(LONGEST, discard(parts_of(kept))));
        }
    }
}

struct Lent {
    body: BodyDataStream,
    was_read: bool,
    patience: Duration,
    begun: Instant,
    received: u64,
    /// While nothing comes.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Lent {
    fn new(body: Body, patience: Duration) -> Self {
        let body = body.into_data_stream();
        Self { body, was_read: false, patience, begun: Instant::now(), received: 0, waiting: None }
    }

    fn poll_part(&mut self, context: &mut Context<'_>) -> Poll<Option<Part>> {
        self.was_read = true;
        match self.body.poll_next_unpin(context) {
            Poll::Pending => {
                let until = Instant::now() + self.patience;
                let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep_until(until)));
                ready!(waiting.as_mut().poll(context));
                Poll::Ready(Some(too_slow()))
            }
            Poll::Ready(part) => {
                self.waiting = None;
                self.received += part.as_ref().and_then(|part| part.as_ref().ok()).map_or(0, |part| part.len() as u64);
                Poll::Ready(if self.is_dripping() { Some(too_slow()) } else { part })
            }
        }
    }

    fn is_dripping(&self) -> bool {
        let elapsed = self.begun.elapsed();
        elapsed > self.patience && self.received < LEAST_BYTES_PER_SECOND * elapsed.as_secs()
    }

    /// Not for a client that waits for a go-ahead: reading would tell it to send what nobody wants.
    fn is_worth_reading(&self, asks_first: bool) -> bool {
        !self.body.is_end_stream() && (self.was_read || !asks_first)
    }
}

type Kept = Arc<Mutex<Lent>>;
type Part = Result<bytes::Bytes, axum::Error>;

fn parts_of(kept: &Kept) -> impl stream::Stream<Item = Part> + Send + Unpin + use<> {
    let kept = Arc::clone(kept);
    stream::poll_fn(move |context| lock(&kept).poll_part(context))
}

fn too_slow() -> Part {
    Err(axum::Error::new("the body comes too slowly"))
}

async fn discard(mut parts: impl stream::Stream<Item = Part> + Unpin) {
    while let Some(Ok(_)) = parts.next().await {}
}

fn lock(kept: &Kept) -> std::sync::MutexGuard<'_, Lent> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
