//! `verial benchmarks push` that is cut off, at every request that it makes: the next one takes it up.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use testkit::{Caller, Database};

use crate::process::{Serving, Site, output, verial};

/// More than a push of the small benchmark asks for.
const MOST_REQUESTS: usize = 80;

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_was_cut_off_anywhere_is_taken_up_by_the_next() {
    let site = Site::new(Database::Sqlite);
    let serving = site.serve();
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("chest-x-rays");
    output(verial(&["benchmarks", "init"]).arg(&folder));
    let author = serving.first_caller();

    // As long as there is no benchmark, all attempts together have made one of each.
    let mut cut_at = 2;
    while count(&author, "/benchmarks").await == 0 {
        assert!(push_cut_at(&serving, &folder, cut_at).is_none() && cut_at < MOST_REQUESTS);
        cut_at += 1;
    }
    assert!(cut_at > 8, "only {cut_at} requests");
    for path in ["/datasets", "/environments", "/simulators", "/benchmarks"] {
        assert_eq!(count(&author, path).await, 1, "{path}");
    }
    push_until_it_comes_through(&serving, &folder, "chest-x-rays@1");
    assert_eq!((count(&author, "/benchmarks").await, count(&author, "/tasks").await), (1, 2));

    // The same again with another content: what was published stays, and the draft is whole in the end.
    let task = folder.join("tasks/10-order.yaml");
    let text = std::fs::read_to_string(&task).unwrap();
    std::fs::write(&task, text.replace("tags: [action]", "tags: [action, imaging]")).unwrap();
    push_until_it_comes_through(&serving, &folder, "chest-x-rays@2");
    assert_eq!(count(&author, "/tasks").await, 2);
    let copy = place.path().join("copy");
    output(with_key(&mut verial(&["benchmarks", "pull", "chest-x-rays"]), &serving, &serving.base_url).arg(&copy));
    let words = output(with_key(&mut verial(&["benchmarks", "push"]), &serving, &serving.base_url).arg(&copy));
    assert!(words.contains("Nothing new: this is chest-x-rays@2."), "{words}");
}

/// Pushes with the connection cut at the second request, at a later one, and so on until it is not reached.
fn push_until_it_comes_through(serving: &Serving, folder: &std::path::Path, version: &str) {
    let mut attempts = (2..MOST_REQUESTS).step_by(3);
    let words = attempts.find_map(|cut_at| push_cut_at(serving, folder, cut_at)).expect("it comes through");
    // When only the last answer was lost, there was nothing left to do.
    let is_done = ["Published", "Nothing new: this is"].iter().any(|how| words.contains(&format!("{how} {version}")));
    assert!(is_done, "{words}");
}

/// What it said, if it came through.
fn push_cut_at(serving: &Serving, folder: &std::path::Path, cut_at: usize) -> Option<String> {
    let url = cutting_proxy(&serving.base_url, cut_at);
    let done = with_key(&mut verial(&["benchmarks", "push"]), serving, &url).arg(folder).output().unwrap();
    if done.status.success() {
        return Some(String::from_utf8(done.stdout).unwrap());
    }
    assert_eq!(done.status.code(), Some(4), "{cut_at}: {}", String::from_utf8_lossy(&done.stderr));
    None
}

fn with_key<'a>(command: &'a mut std::process::Command, serving: &Serving, url: &str) -> &'a mut std::process::Command {
    command.env("VERIAL_URL", url).env("VERIAL_API_KEY", serving.first_key.as_deref().unwrap())
}

async fn count(author: &Caller, path: &str) -> usize {
    let list = author.get(&format!("{path}?limit=100")).await.expect(200);
    list.data().iter().filter(|one| one.get("owned").is_none_or(|owned| *owned == Value::Bool(true))).count()
}

/// Passes requests on until the one with this number: that one the server still does, but its answer is lost, and so is
/// everything after it.
fn cutting_proxy(base_url: &str, cut_at: usize) -> String {
    let server = base_url.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (requests, server) = (Arc::clone(&requests), server.clone());
            std::thread::spawn(move || pass_on(client, &server, &requests, cut_at));
        }
    });
    url
}

/// One connection, on which a client asks one thing after the other.
fn pass_on(mut client: TcpStream, server: &str, requests: &AtomicUsize, cut_at: usize) -> Option<()> {
    let mut upstream = TcpStream::connect(server).ok()?;
    while let Some(request) = message(&mut client) {
        let number = requests.fetch_add(1, Ordering::SeqCst) + 1;
        if number <= cut_at {
            upstream.write_all(&request).ok()?;
        }
        let answer = if number <= cut_at { message(&mut upstream)? } else { Vec::new() };
        if number >= cut_at {
            let _ = client.shutdown(Shutdown::Both);
            return None;
        }
        client.write_all(&answer).ok()?;
    }
    None
}

/// A message with a head and as many bytes as its head says.
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
