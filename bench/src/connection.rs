//! One kept-alive connection that asks and reads JSON.

use std::net::SocketAddr;

use anyhow::Context;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::load::read_answer;

pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(16 * 1024) })
    }

    /// The body of the answer, which must have this status.
    pub(crate) async fn ask(&mut self, request: &str, key: &str, body: &str, status: u16) -> anyhow::Result<Value> {
        let head = format!("{request} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {key}\r\n");
        let length = body.len();
        let text = format!("{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}");
        self.stream.write_all(text.as_bytes()).await?;
        let body = read_answer(&mut self.stream, &mut self.buffer, status).await.with_context(|| request.to_owned())?;
        Ok(serde_json::from_slice(&self.buffer[body]).unwrap_or_default())
    }

    /// The `id` of what a POST makes.
    pub(crate) async fn make(&mut self, path: &str, key: &str, body: &Value) -> anyhow::Result<String> {
        let made = self.ask(&format!("POST {path}"), key, &body.to_string(), 201).await?;
        text(&made, "id")
    }
}

pub(crate) fn text(value: &Value, name: &str) -> anyhow::Result<String> {
    Ok(value[name].as_str().with_context(|| format!("no {name} in {value}"))?.to_owned())
}
