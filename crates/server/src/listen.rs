//! Accepts HTTP connections, so many and no more, and lets go of clients that hold one without using it: whose request does
//! not come to an end, who ask nothing more, or who do not read what they asked for.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use app::Limits;
use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Body as _;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep, timeout_at};
use tower::Service;

use crate::bell::Bell;
use crate::patient::Patient;

/// After the system could not give a connection, for want of descriptors.
const PAUSE: Duration = Duration::from_millis(100);
/// Between two looks at a connection of which too little has come to tell its version.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// What only HTTP/2 begins with (RFC 9113, 3.4). Waited for as a whole: its handshake has no limit of time.
const SECOND_VERSION: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Serves until `shutdown` resolves, then lets what was accepted come to its end.
pub(crate) async fn serve(listener: TcpListener, router: Router, limits: &Limits, shutdown: impl Future<Output = ()>) {
    let room = Arc::new(Semaphore::new(limits.http_connections));
    let patience = Duration::from_secs(limits.http_idle_seconds);
    let (stop, stopping) = watch::channel(());
    tokio::pin!(shutdown);
    loop {
        let (stream, address, permit) = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &room) => accepted,
        };
        let connection = Connection { stream, address, patience, router: router.clone(), _permit: permit };
        tokio::spawn(connection.serve(stopping.clone()));
    }
    drop((listener, stopping));
    stop.send_replace(());
    stop.closed().await;
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>) {
    // The semaphore is never closed.
    let permit = Arc::clone(room).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, address)) => return (stream, address, permit),
            Err(error) if is_of_the_client(&error) => {}
            Err(error) => {
                tracing::error!(%error, "a connection could not be accepted");
                sleep(PAUSE).await;
            }
        }
    }
}

/// It went away before it was accepted.
fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

struct Connection {
    stream: TcpStream,
    address: SocketAddr,
    patience: Duration,
    router: Router,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Connection {
    async fn serve(self, mut stopping: watch::Receiver<()>) {
        let Self { stream, address, patience, router, _permit } = self;
        // An answer is written as a whole: waiting for more to send only delays it.
        let _ = stream.set_nodelay(true);
        let spoken = tokio::select! {
            version = version(&stream, Instant::now() + patience) => version,
            _ = stopping.changed() => None,
        };
        let Some(version) = spoken else { return };
        let stream = TokioIo::new(Patient::new(stream, patience));
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let mut request: Request =
                request.map(|body| if body.is_end_stream() { Body::empty() } else { Body::new(body) });
            request.extensions_mut().insert(ConnectInfo(address));
            router.clone().call(request)
        });
        // Whatever ends a connection early is the client's doing, and it is gone.
        match version {
            Version::First => {
                let mut builder = http1::Builder::new();
                builder.timer(Bell::default()).header_read_timeout(patience);
                let connection = builder.serve_connection(stream, service).with_upgrades();
                let _ = to_the_end(connection, stopping, |connection| connection.graceful_shutdown()).await;
            }
            Version::Second => {
                let mut builder = http2::Builder::new(TokioExecutor::new());
                builder.timer(TokioTimer::new()).keep_alive_interval(patience).keep_alive_timeout(patience);
                let connection = builder.serve_connection(stream, service);
                let _ = to_the_end(connection, stopping, |connection| connection.graceful_shutdown()).await;
            }
        }
    }
}

/// When the server stops, a connection answers what it was asked and takes no more.
async fn to_the_end<C: Future>(
    connection: C,
    mut stopping: watch::Receiver<()>,
    stop: impl FnOnce(Pin<&mut C>),
) -> C::Output {
    tokio::pin!(connection);
    tokio::select! {
        ended = &mut connection => return ended,
        _ = stopping.changed() => stop(connection.as_mut()),
    }
    connection.await
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    First,
    Second,
}

/// Which HTTP the client speaks; none when it has gone or says nothing.
async fn version(stream: &TcpStream, until: Instant) -> Option<Version> {
    let mut begun = [0; SECOND_VERSION.len()];
    loop {
        let seen = timeout_at(until, stream.peek(&mut begun)).await.ok()?.ok()?;
        let begun = begun.get(..seen)?;
        if begun.is_empty() {
            return None;
        }
        if begun == SECOND_VERSION {
            return Some(Version::Second);
        }
        if !SECOND_VERSION.starts_with(begun) {
            return Some(Version::First);
        }
        timeout_at(until, sleep(LOOK_AGAIN)).await.ok()?;
    }
}
