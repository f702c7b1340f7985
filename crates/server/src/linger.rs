//! Reads on after an early answer: a client that is still sending would otherwise find its connection broken, and the
//! answer that told why lost.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::{StreamExt, stream};

/// A client that sends longer than this has had time to read.
const LONGEST: Duration = Duration::from_secs(30);

/// Lends the body to the handler and, when that has answered without reading it all, reads the rest into nothing.
pub(crate) async fn read_on(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    if body.is_end_stream() {
        return next.run(Request::from_parts(parts, body)).await;
    }
    let asks_first = parts.headers.contains_key(header::EXPECT);
    let kept = Arc::new(Mutex::new(Lent { body: body.into_data_stream(), was_read: false }));
    let response = next.run(Request::from_parts(parts, Body::from_stream(parts_of(&kept)))).await;
    if lock(&kept).is_worth_reading(asks_first) {
        tokio::spawn(tokio::time::timeout(LONGEST, discard(parts_of(&kept))));
    }
    response
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
