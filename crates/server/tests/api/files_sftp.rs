//! A file drop over SFTP: the same tree as over HTTP, complete files only, and sessions that end with their sandbox.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::traversal::{SECRET, attempts};
use testkit::{Database, OpenFlags, SftpClient, SftpError, StatusCode, TestServer, both_databases};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use crate::files_http::{Drop, drop_of};

both_databases! {
    async fn sftp_and_http_share_one_file_tree(server: TestServer) {
        let drop = drop_of(&server, json!({"folders": ["outbox/returns"]}), &[("inbox/a.txt", "alpha")]).await;
        let client = connect(&drop).await;
        assert_eq!(names(&client, "/").await, ["inbox", "outbox"]);
        assert_eq!(client.files.read("inbox/a.txt").await.unwrap(), b"alpha");
        write(&client, "outbox/returns/r.json", b"{}").await;
        assert_eq!(drop.read("outbox/returns/r.json").await, "{}");
        drop.put("outbox/b", "beta").await.expect(201);
        assert_eq!(client.files.metadata("/outbox/b").await.unwrap().size, Some(4));
        client.files.rename("outbox/b", "outbox/returns/c").await.unwrap();
        assert_eq!(names(&client, "outbox/returns").await, ["c", "r.json"]);
        client.files.remove_file("outbox/returns/c").await.unwrap();
        client.files.remove_file("inbox/a.txt").await.unwrap();
        assert_eq!(names(&client, "inbox").await, Vec::<String>::new(), "a directory stays when its last file is gone");
        client.files.create_dir("work").await.unwrap();
        client.files.remove_dir("work").await.unwrap();
        assert_eq!(drop.events("file_write").await, ["write", "write", "move", "mkdir"]);
        assert_eq!(drop.events("file_delete").await, ["delete", "delete", "rmdir"]);
        assert_eq!(drop.events("auth_token").await, ["login"]);
        for (code, refused) in [
            (StatusCode::NoSuchFile, client.files.read("nothing").await.err()),
            (StatusCode::NoSuchFile, client.files.create_dir("no/where").await.err()),
            (StatusCode::Failure, client.files.create_dir("inbox").await.err()),
            (StatusCode::PermissionDenied, client.files.remove_dir("inbox").await.err()),
            (StatusCode::OpUnsupported, client.files.symlink("x", "/etc/passwd").await.err()),
            (StatusCode::OpUnsupported, client.files.read_link("inbox").await.err()),
        ] {
            assert_eq!(status(refused), Some(code));
        }
    }

    async fn an_upload_appears_when_it_is_closed(server: TestServer) {
        let drop = drop_of(&server, json!({}), &[("a", "old")]).await;
        let client = connect(&drop).await;
        let mut file = client.files.open_with_flags("a", OpenFlags::WRITE | OpenFlags::TRUNCATE).await.unwrap();
        file.write_all(b"new content").await.unwrap();
        file.flush().await.unwrap();
        assert_eq!(drop.read("a").await, "old");
        file.shutdown().await.unwrap();
        assert_eq!(drop.read("a").await, "new content");
        // Resumes an upload, in the middle and at the end.
        let mut file = client.files.open_with_flags("a", OpenFlags::WRITE).await.unwrap();
        file.seek(std::io::SeekFrom::Start(4)).await.unwrap();
        file.write_all(b"C").await.unwrap();
        file.shutdown().await.unwrap();
        let mut file = client.files.open_with_flags("a", OpenFlags::WRITE | OpenFlags::APPEND).await.unwrap();
        file.write_all(b"!").await.unwrap();
        file.shutdown().await.unwrap();
        assert_eq!(drop.read("a").await, "new Content!");
        // A file that is never closed is not stored.
        let mut file = client.files.create("half").await.unwrap();
        file.write_all(b"half").await.unwrap();
        file.flush().await.unwrap();
        std::mem::forget(file);
        let client = connect(&drop).await;
        assert_eq!(names(&client, "/").await, ["a", "inbox", "outbox"]);
    }

    async fn a_large_file_is_uploaded_and_downloaded(server: TestServer) {
        let drop = drop_of(&server, json!({}), &[]).await;
        let client = connect(&drop).await;
        let bytes: Vec<u8> = (0..3_300_000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        write(&client, "outbox/large", &bytes).await;
        assert!(client.files.read("outbox/large").await.unwrap() == bytes);
        let mut file = client.files.open("outbox/large").await.unwrap();
        file.seek(std::io::SeekFrom::Start(2_097_000)).await.unwrap();
        let mut part = vec![0; 1000];
        file.read_exact(&mut part).await.unwrap();
        assert!(part == bytes[2_097_000..2_098_000]);
    }

    async fn sessions_end_with_their_sandbox(server: TestServer) {
        let drop = drop_of(&server, json!({}), &[]).await;
        let client = connect(&drop).await;
        drop.caller.post(&format!("/sandboxes/{}/teardown", drop.sandbox), json!({})).await.expect(200);
        until(|| client.is_closed()).await;
    }

    async fn only_the_right_password_of_a_running_sandbox_logs_in(server: TestServer) {
        let (drop, other) = (drop_of(&server, json!({}), &[]).await, drop_of(&server, json!({}), &[]).await);
        let (good, foreign) = (credentials(&drop).await, credentials(&other).await);
        for (member, value) in [("password", &json!("wrong")), ("password", &json!("")), ("password", &foreign["password"]), ("username", &foreign["username"]), ("username", &json!("root"))] {
            let mut bad = good.clone();
            bad[member] = value.clone();
            assert!(SftpClient::connect(&bad).await.is_none(), "{bad}");
        }
        assert!(drop.events("auth_token").await.is_empty(), "what a stranger tries is no event");
        let first = SftpClient::connect(&good).await.unwrap();
        if server.database().kind() == Database::Postgres {
            // Another node has the same host key and accepts the same password.
            let node = server.another_node().await;
            let key = node.caller(drop.caller.key());
            let there = key.get(&format!("/sandboxes/{}", drop.sandbox)).await.expect(200)["credentials"].clone();
            assert_ne!(there["sftp_port"], good["sftp_port"]);
            assert_eq!(SftpClient::connect(&there).await.unwrap().host_key, first.host_key);
        }
    }

    async fn an_account_is_locked_after_wrong_passwords_if_configured(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let faults = json!({"faults": {"locked_account": {"after_failures": 2, "for_seconds": 60}}});
        let drop = drop_of(&server, faults, &[]).await;
        let good = credentials(&drop).await;
        let mut bad = good.clone();
        bad["password"] = json!("wrong");
        assert!(SftpClient::connect(&bad).await.is_none());
        assert!(SftpClient::connect(&good).await.is_some(), "one is not too many");
        for _ in 0..2 {
            assert!(SftpClient::connect(&bad).await.is_none());
        }
        assert!(SftpClient::connect(&good).await.is_none(), "locked");
        server.clock.advance(60_000);
        assert!(SftpClient::connect(&good).await.is_some());
    }

    async fn an_upload_is_cut_off_if_configured(server: TestServer) {
        let drop = drop_of(&server, json!({"faults": {"short_write": {"after_bytes": 10}}}), &[]).await;
        let client = connect(&drop).await;
        let mut file = client.files.create("outbox/a").await.unwrap();
        let mut written = file.write_all(b"0123456789ABCDEF").await;
        if written.is_ok() {
            written = file.flush().await;
        }
        let closed = file.shutdown().await;
        assert!(written.is_err() || closed.is_err(), "the client is told");
        // This client closes failed handles when it drops them.
        std::mem::drop(file);
        for _ in 0..600 {
            if drop.get("outbox/a").await.status == 200 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(drop.read("outbox/a").await, "0123456789");
        // Only once: the client can resume the upload.
        let mut file = client.files.open_with_flags("outbox/a", OpenFlags::WRITE | OpenFlags::APPEND).await.unwrap();
        file.write_all(b"ABCDEF").await.unwrap();
        file.shutdown().await.unwrap();
        assert_eq!(drop.read("outbox/a").await, "0123456789ABCDEF");
    }

    async fn many_concurrent_sessions_are_served(server: TestServer) {
        let drop = drop_of(&server, json!({}), &[]).await;
        let credentials = credentials(&drop).await;
        let sessions = (0..50).map(|number: u8| {
            let credentials = credentials.clone();
            tokio::spawn(async move {
                let client = SftpClient::connect(&credentials).await.expect("a session");
                let (name, content) = (format!("outbox/{number:02}"), vec![number; 50_000]);
                write(&client, &name, &content).await;
                assert!(client.files.read(&name).await.unwrap() == content);
                client
            })
        });
        let mut clients = Vec::new();
        for session in sessions.collect::<Vec<_>>() {
            clients.push(session.await.unwrap());
        }
        assert!(clients.iter().all(|client| !client.is_closed()));
        assert_eq!(names(&clients[0], "outbox").await.len(), 50);
    }
}

/// R11: with too many silent connections, the oldest is closed, and others can connect.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_connections_do_not_block_others() {
    let server = TestServer::start(Database::Sqlite).await;
    let drop = drop_of(&server, json!({}), &[("a", "alpha")]).await;
    let port: u16 = credentials(&drop).await["sftp_port"].as_str().unwrap().parse().unwrap();
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap());
    }
    let client = connect(&drop).await;
    assert_eq!(client.files.read("a").await.unwrap(), b"alpha");
    // The first of them was closed: the stream ends after the server's greeting.
    let mut greeting = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(60), silent[0].read_to_end(&mut greeting)).await;
    assert!(ended.is_ok(), "it is still open");
}

/// S8 over SFTP. On one database, because paths are resolved before the database is used.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_path_escapes_the_file_tree() {
    let server = TestServer::start(Database::Sqlite).await;
    let own = drop_of(&server, json!({}), &[("inbox/own.txt", "own")]).await;
    let foreign = drop_of(&server, json!({}), &[("inbox/secret.txt", SECRET)]).await;
    let client = connect(&own).await;
    let mut tried = 0;
    for attempt in attempts(&foreign.sandbox) {
        let name = String::from_utf8_lossy(&attempt).into_owned();
        tried += 1;
        if let Ok(found) = client.files.read(&name).await {
            let found = String::from_utf8_lossy(&found).into_owned();
            assert!(!found.contains(SECRET) && !found.contains("root:"), "{name:?}: {found:?}");
        }
        let real = client.files.canonicalize(&name).await;
        assert!(real.is_err() || real.is_ok_and(|real| real.starts_with('/') && !real.contains("/../")), "{name:?}");
        if tried % 8 == 0 {
            let _ = client.files.write(&name, b"x").await;
            let _ = client.files.rename("inbox/own.txt", &name).await;
            let _ = client.files.symlink("link", &name).await;
            let _ = client.files.hardlink("inbox/own.txt", &name).await;
            own.put("inbox/own.txt", "own").await;
        }
    }
    assert!(tried >= 2000, "{tried}");
    assert_eq!(foreign.paths("").await, ["inbox/secret.txt"]);
    assert_eq!(foreign.read("inbox/secret.txt").await, SECRET);
}

async fn credentials(drop: &Drop) -> Value {
    drop.caller.send(Method::GET, &format!("/sandboxes/{}", drop.sandbox), &[], None).await.expect(200)["credentials"]
        .clone()
}

async fn connect(drop: &Drop) -> SftpClient {
    SftpClient::connect(&credentials(drop).await).await.expect("a session")
}

async fn write(client: &SftpClient, path: &str, bytes: &[u8]) {
    let mut file = client.files.create(path).await.unwrap();
    file.write_all(bytes).await.unwrap();
    file.shutdown().await.unwrap();
}

async fn names(client: &SftpClient, path: &str) -> Vec<String> {
    let mut names: Vec<String> = client.files.read_dir(path).await.unwrap().map(|entry| entry.file_name()).collect();
    names.sort();
    names
}

fn status(error: Option<SftpError>) -> Option<StatusCode> {
    match error {
        Some(SftpError::Status(status)) => Some(status.status_code),
        _ => None,
    }
}

/// Waits for something that must happen.
async fn until(happened: impl Fn() -> bool) {
    for _ in 0..600 {
        if happened() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it did not happen");
}
