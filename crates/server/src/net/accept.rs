//! Accepts a limited number of HTTP connections, and closes those that are idle, send a request too slowly, or do not read
//! the response.

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

use super::write_timeout::WriteTimeout;

/// Pause after `accept` failed, for example because the process is out of file descriptors.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(100);
/// How often a connection is polled whose first bytes do not yet show the HTTP version.
const VERSION_POLL_INTERVAL: Duration = Duration::from_millis(10);
/// The connection preface of HTTP/2 (RFC 9113, 3.4). We wait for all of it because the handshake itself has no timeout.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Serves until `shutdown` resolves, then finishes the requests that are in progress.
pub(crate) async fn serve(listener: TcpListener, router: Router, limits: &Limits, shutdown: impl Future<Output = ()>) {
    let slots = Arc::new(Semaphore::new(limits.http_connections));
    let idle_timeout = Duration::from_secs(limits.http_idle_seconds);
    let (stop, stopping) = watch::channel(());
    tokio::pin!(shutdown);
    loop {
        let (stream, address, permit) = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &slots) => accepted,
        };
        let connection = Connection { stream, address, idle_timeout, router: router.clone(), _permit: permit };
        tokio::spawn(connection.serve(stopping.clone()));
    }
    drop((listener, stopping));
    stop.send_replace(());
    stop.closed().await;
}

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>) {
    // The semaphore is never closed.
    let permit = Arc::clone(slots).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, address)) => return (stream, address, permit),
            Err(error) if is_client_error(&error) => {}
            Err(error) => {
                tracing::error!(%error, "a connection could not be accepted");
                sleep(ACCEPT_RETRY_PAUSE).await;
            }
        }
    }
}

/// The client disconnected before the connection was accepted.
fn is_client_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

struct Connection {
    stream: TcpStream,
    address: SocketAddr,
    idle_timeout: Duration,
    router: Router,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Connection {
    async fn serve(self, mut stopping: watch::Receiver<()>) {
        let Self { stream, address, idle_timeout, router, _permit } = self;
        // Responses are written in one piece, so Nagle's algorithm only adds delay.
        let _ = stream.set_nodelay(true);
        let version = tokio::select! {
            version = http_version(&stream, Instant::now() + idle_timeout) => version,
            _ = stopping.changed() => None,
        };
        let Some(version) = version else { return };
        let stream = TokioIo::new(WriteTimeout::new(stream, idle_timeout));
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let mut request: Request =
                request.map(|body| if body.is_end_stream() { Body::empty() } else { Body::new(body) });
            request.extensions_mut().insert(ConnectInfo(address));
            router.clone().call(request)
        });
        // Errors of a connection are caused by its client, which is gone: nobody is left to report them to.
        match version {
            HttpVersion::One => {
                let mut builder = http1::Builder::new();
                builder.timer(TokioTimer::new()).header_read_timeout(idle_timeout);
                let connection = builder.serve_connection(stream, service).with_upgrades();
                let _ = run_to_end(connection, stopping, |connection| connection.graceful_shutdown()).await;
            }
            HttpVersion::Two => {
                let mut builder = http2::Builder::new(TokioExecutor::new());
                builder.timer(TokioTimer::new()).keep_alive_interval(idle_timeout).keep_alive_timeout(idle_timeout);
                let connection = builder.serve_connection(stream, service);
                let _ = run_to_end(connection, stopping, |connection| connection.graceful_shutdown()).await;
            }
        }
    }
}

/// Drives a connection. When the server stops, the connection finishes its current requests and accepts no more.
async fn run_to_end<C: Future>(
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
enum HttpVersion {
    One,
    Two,
}

/// The HTTP version that the client speaks; none if it disconnects or sends nothing in time.
async fn http_version(stream: &TcpStream, until: Instant) -> Option<HttpVersion> {
    let mut first_bytes = [0; HTTP2_PREFACE.len()];
    loop {
        let seen = timeout_at(until, stream.peek(&mut first_bytes)).await.ok()?.ok()?;
        let received = first_bytes.get(..seen)?;
        if received.is_empty() {
            return None;
        }
        if received == HTTP2_PREFACE {
            return Some(HttpVersion::Two);
        }
        if !HTTP2_PREFACE.starts_with(received) {
            return Some(HttpVersion::One);
        }
        timeout_at(until, sleep(VERSION_POLL_INTERVAL)).await.ok()?;
    }
}
