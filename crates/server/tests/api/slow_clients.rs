//! Clients that hold a connection without using it are disconnected; others are served meanwhile.

use std::time::Duration;

use app::Limits;
use testkit::{Caller, Database, TestServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::raw;

/// A timeout that is longer than all waits on a busy machine.
const LONG: Duration = Duration::from_secs(120);

async fn impatient(limits: Limits) -> (TestServer, Caller) {
    let limits = Limits { http_idle_seconds: 3, ..limits };
    let server = TestServer::start_with(Database::Sqlite, limits).await;
    let caller = server.organization("Clinic").await;
    (server, caller)
}

async fn connect(server: &TestServer) -> TcpStream {
    TcpStream::connect(server.base_url.trim_start_matches("http://")).await.unwrap()
}

/// Uses a new connection, because a kept one may be closed at the moment it is used again.
async fn body_of(server: &TestServer, caller: &Caller, path: &str) -> String {
    let (status, body) = raw::request(server, caller.key(), "GET", path, b"").await;
    assert_eq!(status, 200, "{body}");
    body
}

/// Everything received until the server closes the connection.
async fn until_let_go(mut connection: TcpStream) -> String {
    let mut response = Vec::new();
    let _ = timeout(LONG, connection.read_to_end(&mut response)).await.expect("the server holds the connection");
    String::from_utf8_lossy(&response).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_with_incomplete_requests_are_disconnected() {
    let (server, caller) = impatient(TestServer::unhurried()).await;
    let mut connections = Vec::new();
    for beginning in ["", "P", "PRI", "GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ", "PRI * HTTP/2.0\r\n\r\nSM"] {
        let mut connection = connect(&server).await;
        connection.write_all(beginning.as_bytes()).await.unwrap();
        connections.push((beginning, connection));
    }
    body_of(&server, &caller, "/organization").await;
    for (beginning, connection) in connections {
        assert_eq!(until_let_go(connection).await, "", "after {beginning:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_keep_alive_connections_are_closed() {
    let (server, _) = impatient(TestServer::unhurried()).await;
    let mut connection = connect(&server).await;
    connection.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let response = until_let_go(connection).await;
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_may_arrive_in_pieces() {
    let server = TestServer::start(Database::Sqlite).await;
    let mut connection = connect(&server).await;
    connection.set_nodelay(true).unwrap();
    for piece in ["P", "U", "T /healthz HTT", "P/1.1\r\nhost: x\r\nconnec", "tion: close\r\n\r\n"] {
        connection.write_all(piece.as_bytes()).await.unwrap();
        tokio::task::yield_now().await;
    }
    let response = until_let_go(connection).await;
    assert!(response.starts_with("HTTP/1.1 405"), "{response}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stalled_body_is_rejected_and_creates_nothing() {
    let (server, caller) = impatient(TestServer::unhurried()).await;
    let before = body_of(&server, &caller, "/environments").await;
    let head = format!(
        "POST /environments HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: 100\r\n\r\n{{\"name\": \"half",
        caller.key()
    );
    let response = timeout(LONG, raw::exchange(&server, head.as_bytes())).await.expect("the server waits for more");
    assert!(response.starts_with("HTTP/1.1 400") && response.contains("too slowly"), "{response}");
    assert_eq!(body_of(&server, &caller, "/environments").await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_do_not_read_are_disconnected() {
    let (server, caller) = impatient(TestServer::unhurried()).await;
    let mut connection = connect(&server).await;
    // Sends requests until writing blocks: first the responses fill the buffers, then the requests.
    let asking =
        async { while connection.write_all(b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n").await.is_ok() {} };
    timeout(LONG, asking).await.expect("the server holds a client that does not read");
    body_of(&server, &caller, "/organization").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_free_their_slots() {
    let (server, _) = impatient(Limits { http_connections: 3, ..TestServer::unhurried() }).await;
    let idle = [connect(&server).await, connect(&server).await, connect(&server).await];
    let asked = raw::exchange(&server, b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    let response = timeout(LONG, asked).await.expect("no room");
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    drop(idle);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_does_not_wait_for_idle_clients() {
    let server = TestServer::start(Database::Sqlite).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async move {
        let _ = stopped.await;
    };
    let serving = tokio::spawn(verial_server::serve(
        listener,
        server.app.clone(),
        verial_server::ServerOptions::default(),
        shutdown,
    ));
    let silent = TcpStream::connect(address).await.unwrap();
    let mut answered = TcpStream::connect(address).await.unwrap();
    answered.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    answered.read_exact(&mut [0; 15]).await.unwrap();
    stop.send(()).unwrap();
    // Half of the idle timeout.
    timeout(Duration::from_secs(30), serving).await.expect("the server waits for idle clients").unwrap();
    drop((silent, answered));
}
