//! Clients that hold a connection without using it are let go; others are served meanwhile.

use std::time::Duration;

use app::Limits;
use testkit::{Caller, Database, TestServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::raw;

/// More than any of these waits on a machine that does much else.
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

/// Over a connection of its own: one that is kept may be let go in the very moment in which it is used again.
async fn body_of(server: &TestServer, caller: &Caller, path: &str) -> String {
    let (status, body) = raw::request(server, caller.key(), "GET", path, b"").await;
    assert_eq!(status, 200, "{body}");
    body
}

/// What comes until the server lets go.
async fn until_let_go(mut connection: TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = timeout(LONG, connection.read_to_end(&mut answer)).await.expect("the server holds the connection");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_says_nothing_or_half_is_let_go() {
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
async fn who_has_been_answered_and_asks_nothing_more_is_let_go() {
    let (server, _) = impatient(TestServer::unhurried()).await;
    let mut connection = connect(&server).await;
    connection.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let answer = until_let_go(connection).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_may_come_in_pieces() {
    let server = TestServer::start(Database::Sqlite).await;
    let mut connection = connect(&server).await;
    connection.set_nodelay(true).unwrap();
    for piece in ["P", "U", "T /healthz HTT", "P/1.1\r\nhost: x\r\nconnec", "tion: close\r\n\r\n"] {
        connection.write_all(piece.as_bytes()).await.unwrap();
        tokio::task::yield_now().await;
    }
    let answer = until_let_go(connection).await;
    assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_does_not_go_on_is_refused_and_nothing_is_made() {
    let (server, caller) = impatient(TestServer::unhurried()).await;
    let before = body_of(&server, &caller, "/environments").await;
    let head = format!(
        "POST /environments HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: 100\r\n\r\n{{\"name\": \"half",
        caller.key()
    );
    let answer = timeout(LONG, raw::exchange(&server, head.as_bytes())).await.expect("the server waits for more");
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("too slowly"), "{answer}");
    assert_eq!(body_of(&server, &caller, "/environments").await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_read_is_let_go() {
    let (server, caller) = impatient(TestServer::unhurried()).await;
    let mut connection = connect(&server).await;
    // Asks again and again until nothing more is taken: first the answers fill what is between, then the requests.
    let asking =
        async { while connection.write_all(b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n").await.is_ok() {} };
    timeout(LONG, asking).await.expect("the server holds a client that does not read");
    body_of(&server, &caller, "/organization").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_house_has_room_again_when_the_idle_are_let_go() {
    let (server, _) = impatient(Limits { http_connections: 3, ..TestServer::unhurried() }).await;
    let idle = [connect(&server).await, connect(&server).await, connect(&server).await];
    let asked = raw::exchange(&server, b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    let answer = timeout(LONG, asked).await.expect("no room");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(idle);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_does_not_wait_for_idle_clients() {
    let server = TestServer::start(Database::Sqlite).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let told = async move {
        let _ = stopped.await;
    };
    let serving = tokio::spawn(verial_server::serve(listener, server.app.clone(), None, told));
    let silent = TcpStream::connect(address).await.unwrap();
    let mut answered = TcpStream::connect(address).await.unwrap();
    answered.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    answered.read_exact(&mut [0; 15]).await.unwrap();
    stop.send(()).unwrap();
    // Half of what an idle client has.
    timeout(Duration::from_secs(30), serving).await.expect("the server waits for idle clients").unwrap();
    drop((silent, answered));
}
