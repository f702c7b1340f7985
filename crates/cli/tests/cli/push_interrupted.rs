//! `verial benchmarks push` interrupted at every request: the next push completes it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use testkit::{Caller, Database};

use crate::process::{ServerData, ServerProcess, output, verial};

/// More requests than a push of the small benchmark needs.
const MAX_REQUESTS: usize = 80;

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_push_is_completed_by_the_next_one() {
    let data = ServerData::new(Database::Sqlite);
    let server = data.serve();
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("chest-x-rays");
    output(verial(&["benchmarks", "init"]).arg(&folder));
    let author = server.first_caller();

    // Until the benchmark exists, all attempts together have created each resource once.
    let mut cut_at = 2;
    while count(&author, "/benchmarks").await == 0 {
        assert!(push_interrupted_at(&server, &folder, cut_at).is_none() && cut_at < MAX_REQUESTS);
        cut_at += 1;
    }
    assert!(cut_at > 8, "only {cut_at} requests");
    for path in ["/datasets", "/environments", "/simulators", "/benchmarks"] {
        assert_eq!(count(&author, path).await, 1, "{path}");
    }
    push_until_success(&server, &folder, "chest-x-rays@1");
    assert_eq!((count(&author, "/benchmarks").await, count(&author, "/tasks").await), (1, 2));

    // Repeat with other content: the published version stays, and the draft is complete in the end.
    let task = folder.join("tasks/10-order.yaml");
    let text = std::fs::read_to_string(&task).unwrap();
    std::fs::write(&task, text.replace("tags: [action]", "tags: [action, imaging]")).unwrap();
    push_until_success(&server, &folder, "chest-x-rays@2");
    assert_eq!(count(&author, "/tasks").await, 2);
    let copy = directory.path().join("copy");
    output(with_key(&mut verial(&["benchmarks", "pull", "chest-x-rays"]), &server, &server.base_url).arg(&copy));
    let stdout = output(with_key(&mut verial(&["benchmarks", "push"]), &server, &server.base_url).arg(&copy));
    assert!(stdout.contains("No changes: this is chest-x-rays@2."), "{stdout}");
}

/// Pushes with the connection cut at the second request, then at later ones, until the push succeeds.
fn push_until_success(server: &ServerProcess, folder: &std::path::Path, version: &str) {
    let mut attempts = (2..MAX_REQUESTS).step_by(3);
    let text = attempts.find_map(|cut_at| push_interrupted_at(server, folder, cut_at)).expect("a successful push");
    // If only the last response was lost, there was nothing left to do.
    let is_done = ["Published", "No changes: this is"].iter().any(|how| text.contains(&format!("{how} {version}")));
    assert!(is_done, "{text}");
}

/// The output, if the push succeeded.
fn push_interrupted_at(server: &ServerProcess, folder: &std::path::Path, cut_at: usize) -> Option<String> {
    let url = cutting_proxy(&server.base_url, cut_at);
    let done = with_key(&mut verial(&["benchmarks", "push"]), server, &url).arg(folder).output().unwrap();
    if done.status.success() {
        return Some(String::from_utf8(done.stdout).unwrap());
    }
    assert_eq!(done.status.code(), Some(4), "{cut_at}: {}", String::from_utf8_lossy(&done.stderr));
    None
}

fn with_key<'a>(
    command: &'a mut std::process::Command,
    server: &ServerProcess,
    url: &str,
) -> &'a mut std::process::Command {
    command.env("VERIAL_URL", url).env("VERIAL_API_KEY", server.first_key.as_deref().unwrap())
}

async fn count(author: &Caller, path: &str) -> usize {
    let list = author.get(&format!("{path}?limit=100")).await.expect(200);
    list.data().iter().filter(|one| one.get("owned").is_none_or(|owned| *owned == Value::Bool(true))).count()
}

/// Forwards requests until the one with this number: the server still handles it, but its response is lost, and so is
/// everything after it.
fn cutting_proxy(base_url: &str, cut_at: usize) -> String {
    let server = base_url.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (requests, server) = (Arc::clone(&requests), server.clone());
            std::thread::spawn(move || forward(client, &server, &requests, cut_at));
        }
    });
    url
}

/// Forwards the requests of one connection.
fn forward(mut client: TcpStream, server: &str, requests: &AtomicUsize, cut_at: usize) -> Option<()> {
    let mut upstream = TcpStream::connect(server).ok()?;
    while let Some(request) = message(&mut client) {
        let number = requests.fetch_add(1, Ordering::SeqCst) + 1;
        if number <= cut_at {
            upstream.write_all(&request).ok()?;
        }
        let response = if number <= cut_at { message(&mut upstream)? } else { Vec::new() };
        if number >= cut_at {
            let _ = client.shutdown(Shutdown::Both);
            return None;
        }
        client.write_all(&response).ok()?;
    }
    None
}

/// Reads an HTTP message: the head and `Content-Length` bytes.
fn message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let (mut bytes, mut one) = (Vec::new(), [0]);
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut one).ok()?;
        bytes.push(one[0]);
    }
    let head = String::from_utf8_lossy(&bytes).to_lowercase();
    assert!(!head.contains("transfer-encoding"), "{head}");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    bytes.extend(body);
    Some(bytes)
}
