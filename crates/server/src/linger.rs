//! Reads on after an early answer: a client that is still sending would otherwise find its connection broken, and the
//! answer that told why lost.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::Request;
use axum::http::header;
use futures_util::{StreamExt, stream};

/// A client that sends longer than this has had time to read.
const LONGEST: Duration = Duration::from_secs(30);

/// Lends the body to the handler. When that has answered, whoever called this must read on.
pub(crate) fn lend(request: Request) -> (Request, Rest) {
    if request.body().is_end_stream() {
        return (request, Rest(None));
    }
    let (parts, body) = request.into_parts();
    let asks_first = parts.headers.contains_key(header::EXPECT);
    let kept = Arc::new(Mutex::new(Lent { body: body.into_data_stream(), was_read: false }));
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
}

impl Lent {
    /// Not for a client that waits for a go-ahead: reading would tell it to send what nobody wants.
    fn is_worth_reading(&self, asks_first: bool) -> bool {
        !self.body.is_end_stream() && (self.was_read || !asks_first)
    }
}

type Kept = Arc<Mutex<Lent>>;
type Part = Result<bytes::Bytes, axum::Error>;

fn parts_of(kept: &Kept) -> impl stream::Stream<Item = Part> + Send + Unpin + use<> {
    let kept = Arc::clone(kept);
    stream::poll_fn(move |context| {
        let mut lent = lock(&kept);
        lent.was_read = true;
        lent.body.poll_next_unpin(context)
    })
}

async fn discard(mut parts: impl stream::Stream<Item = Part> + Unpin) {
    while let Some(Ok(_)) = parts.next().await {}
}

fn lock(kept: &Kept) -> std::sync::MutexGuard<'_, Lent> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
