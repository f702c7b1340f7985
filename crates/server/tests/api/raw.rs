//! Raw connections, for requests that no HTTP client would send.

use testkit::TestServer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The status and body of the response to a request whose path is sent unchanged.
pub(crate) async fn request(server: &TestServer, key: &str, method: &str, path: &str, body: &[u8]) -> (u16, String) {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
         content-type: text/plain\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let response = exchange(server, &[head.as_bytes(), body].concat()).await;
    let status = response.split(' ').nth(1).and_then(|status| status.parse().ok());
    let body = response.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    (status.unwrap_or_else(|| panic!("no status in {response:?}")), body.unwrap_or_default())
}

/// The complete response to the bytes, until the server closes the connection.
pub(crate) async fn exchange(server: &TestServer, bytes: &[u8]) -> String {
    let mut connection = connect(server).await;
    connection.write_all(bytes).await.unwrap();
    read_to_close(&mut connection).await
}

/// Sends the bytes, closes the sending side, and waits until the server closes the connection.
pub(crate) async fn cut_off(server: &TestServer, bytes: &[u8]) -> String {
    let mut connection = connect(server).await;
    connection.write_all(bytes).await.unwrap();
    connection.shutdown().await.unwrap();
    read_to_close(&mut connection).await
}

async fn connect(server: &TestServer) -> TcpStream {
    TcpStream::connect(server.base_url.trim_start_matches("http://")).await.unwrap()
}

async fn read_to_close(connection: &mut TcpStream) -> String {
    let mut response = Vec::new();
    // A reset also closes the connection.
    let _ = connection.read_to_end(&mut response).await;
    String::from_utf8_lossy(&response).into_owned()
}
