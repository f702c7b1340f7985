//! A closed loop of requests over kept-alive connections, with as little work as possible on the client's side.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Rate;
use crate::resident::cpu_microseconds;

/// The bytes of one request, and the status that its answer must have.
#[derive(Clone)]
pub struct Request {
    bytes: Arc<[u8]>,
    status: u16,
}

impl Request {
    pub fn get(path: &str, key: Option<&str>) -> Self {
        Self::new("GET", path, key, "", 200)
    }

    pub fn post(path: &str, key: &str, body: &str) -> Self {
        Self::new("POST", path, Some(key), body, 201)
    }

    /// A request whose answer is 200 although it writes: a transaction.
    pub fn post_ok(path: &str, key: &str, body: &str) -> Self {
        Self::new("POST", path, Some(key), body, 200)
    }

    fn new(method: &str, path: &str, key: Option<&str>, body: &str, status: u16) -> Self {
        let authorization = key.map(|key| format!("authorization: Bearer {key}\r\n")).unwrap_or_default();
        let head = format!("{method} {path} HTTP/1.1\r\nhost: bench\r\n{authorization}");
        let text = match body {
            "" => format!("{head}\r\n"),
            body => format!("{head}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len()),
        };
        Self { bytes: text.into_bytes().into(), status }
    }
}

pub struct Load {
    pub address: SocketAddr,
    pub connections: usize,
    pub duration: Duration,
}

impl Load {
    pub async fn run(&self, request: &Request) -> anyhow::Result<Rate> {
        let answered = Arc::new(AtomicU64::new(0));
        let (begun, cpu) = (Instant::now(), cpu_microseconds()?);
        let mut clients = Vec::new();
        for _ in 0..self.connections {
            let (stream, request) = (TcpStream::connect(self.address).await?, request.clone());
            clients.push(tokio::spawn(ask_until(stream, request, begun + self.duration, Arc::clone(&answered))));
        }
        for client in clients {
            client.await??;
        }
        let answers = answered.load(Ordering::Relaxed) as f64;
        let per_second = answers / begun.elapsed().as_secs_f64();
        Ok(Rate { per_second, cpu_microseconds: (cpu_microseconds()? - cpu) / answers })
    }
}

async fn ask_until(
    mut stream: TcpStream,
    request: Request,
    end: Instant,
    answered: Arc<AtomicU64>,
) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(16 * 1024);
    while Instant::now() < end {
        stream.write_all(&request.bytes).await?;
        read_answer(&mut stream, &mut buffer, request.status).await?;
        answered.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Where the body is in the buffer.
pub(crate) async fn read_answer(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    status: u16,
) -> anyhow::Result<std::ops::Range<usize>> {
    buffer.clear();
    loop {
        if stream.read_buf(buffer).await? == 0 {
            bail!("the server closed the connection");
        }
        let Some(head) = buffer.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let text = str::from_utf8(&buffer[..head])?;
        if text.get(9..12) != Some(status.to_string().as_str()) {
            bail!("not {status}: {}", String::from_utf8_lossy(buffer));
        }
        let length =
            text.lines().find_map(|line| line.strip_prefix("content-length: ")).context("no content-length")?;
        let whole = head + 4 + length.parse::<usize>()?;
        while buffer.len() < whole {
            stream.read_buf(buffer).await?;
        }
        return Ok(head + 4..whole);
    }
}
