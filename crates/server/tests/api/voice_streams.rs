//! The WebSocket of a call: the same state as REST, hostile frames, and idle connections.

use futures_util::SinkExt;
use serde_json::json;
use testkit::world::voice_sandbox;
use testkit::{TestServer, both_databases};
use tokio_tungstenite::tungstenite::{Bytes, Message};

use crate::dice::Dice;
use crate::voice_kit::{Phone, Socket};

fn line() -> serde_json::Value {
    json!({"ivr": {"start": "desk", "nodes": {"desk": {"type": "representative", "prompt": "This is Dana.",
        "beats": [{"phrases": ["question"], "answer": "Answer."}], "fallback": "Pardon?"}}}})
}

both_databases! {
    async fn rest_and_websocket_share_one_call(server: TestServer) {
        let author = server.organization("Acme").await;
        let sandbox = voice_sandbox(&author, line()).await.id();
        let calls = format!("/sandboxes/{sandbox}/voice/calls");
        let (phone, _) = Phone::dial(&author, &calls).await;
        let mut socket = Socket::open(&author, &format!("{calls}/{}/stream", phone.call), None).await.unwrap();
        assert_eq!(socket.expect("call").await["call"]["id"], phone.call);
        assert_eq!(socket.expect("turn").await["turn"]["text"], "This is Dana.");
        phone.says("I have a question").await;
        assert_eq!(socket.expect("turn").await["turn"]["text"], "I have a question");
        assert_eq!(socket.expect("turn").await["turn"]["text"], "Answer.");
        socket.send(json!({"say": "Another question"})).await;
        assert_eq!(socket.expect("turn").await["turn"]["index"], 3);
        assert_eq!(socket.expect("turn").await["turn"]["index"], 4);
        assert_eq!(phone.transcript().await.len(), 5);
        // Errors are reported and do not end the connection.
        for (message, code) in [(json!({"speak": "x"}), "BAD_REQUEST"), (json!({"say": " "}), "VALIDATION_ERROR"), (json!({"answer": true}), "CONFLICT")] {
            socket.send(message).await;
            assert_eq!(socket.expect("error").await["error"]["code"], code);
        }
        socket.send(json!({"hangup": true})).await;
        assert_eq!(socket.expect("ended").await["call"]["ended_by"], "agent");
        assert!(socket.next().await.is_none());
        let mut late = Socket::open(&author, &format!("{calls}/{}/stream", phone.call), None).await.unwrap();
        late.expect("call").await;
        for _ in 0..5 {
            late.expect("turn").await;
        }
        late.expect("ended").await;
    }

    async fn a_stream_requires_a_credential_and_a_call(server: TestServer) {
        let (author, other) = (server.organization("Acme").await, server.organization("Other").await);
        let sandbox = voice_sandbox(&author, line()).await.id();
        let voice = format!("/sandboxes/{sandbox}/voice");
        let status = async |caller: &testkit::Caller, path: &str| Socket::open(caller, path, None).await.err();
        assert_eq!(status(&other, &format!("{voice}/stream")).await, Some(404));
        assert_eq!(status(&server.caller("vk_nothing"), &format!("{voice}/stream")).await, Some(401));
        assert_eq!(status(&author, &format!("{voice}/calls/call_1/stream")).await, Some(404));
        assert_eq!(status(&author, &format!("{voice}/stream?protocol=sip")).await, Some(400));
        let mut open = Socket::open(&author, &format!("{voice}/stream"), None).await.unwrap();
        open.expect("call").await;
        open.expect("turn").await;
        author.send(reqwest::Method::POST, &format!("/sandboxes/{sandbox}/teardown"), &[], None).await.expect(200);
        open.send(json!({"say": "Hello"})).await;
        assert_eq!(open.expect("error").await["error"]["code"], "CONFLICT");
        assert_eq!(status(&author, &format!("{voice}/stream")).await, Some(409));
    }

    /// S6: no panic, no server error, and the line stays available.
    async fn malformed_frames_do_not_break_the_line(server: TestServer) {
        let author = server.organization("Acme").await;
        let sandbox = voice_sandbox(&author, line()).await.id();
        let voice = format!("/sandboxes/{sandbox}/voice");
        let mut dice = Dice(11);
        let mut told = 0;
        for number in 0..25 {
            let protocol = if number % 2 == 0 { "verial.voice.v1" } else { "conversation-relay" };
            let mut socket = Socket::open(&author, &format!("{voice}/stream"), Some(protocol)).await.unwrap();
            socket.next().await.unwrap();
            socket.next().await.unwrap();
            for _ in 0..40 {
                let sound = if number % 2 == 0 { r#"{"say": "I have a question", "interrupts": true}"# } else { r#"{"type":"text","token":"a question","last":true}"# };
                let bytes = dice.mutate(sound.as_bytes().to_vec(), &ODD);
                let frame = match (String::from_utf8(bytes.clone()), dice.below(10)) {
                    (_, 0) => Message::Binary(bytes.into()),
                    (_, 1) => Message::Ping(Bytes::copy_from_slice(&bytes[..bytes.len().min(100)])),
                    (Ok(text), _) => Message::Text(text.into()),
                    (Err(_), _) => Message::Binary(bytes.into()),
                };
                // The frame may have ended the call.
                if socket.0.send(frame).await.is_err() {
                    break;
                }
            }
            let _ = socket.0.send(Message::Close(None)).await;
            while let Some(message) = socket.next().await {
                assert_ne!(message["error"]["code"], "INTERNAL_ERROR", "{message}");
                told += 1;
            }
        }
        assert!(told > 100, "{told} answers");
        // A frame that is too long only ends its connection.
        let mut long = Socket::open(&author, &format!("{voice}/stream"), None).await.unwrap();
        let _ = long.0.send(Message::Text("x".repeat(70_000).into())).await;
        while long.next().await.is_some() {}
        let (phone, _) = Phone::dial(&author, &format!("{voice}/calls")).await;
        assert_eq!(phone.says("a question").await, "Answer.");
    }

    /// R11: connections that are idle or do not read are closed without affecting others.
    async fn idle_and_non_reading_connections_are_closed(server: TestServer) {
        let limits = app::Limits { voice_idle_seconds: 10, ..TestServer::unhurried() };
        let server = TestServer::start_with(server.database().kind(), limits).await;
        let author = server.organization("Acme").await;
        let (held, other) = (voice_sandbox(&author, line()).await.id(), voice_sandbox(&author, line()).await.id());
        let (held, other) = (format!("/sandboxes/{held}/voice"), format!("/sandboxes/{other}/voice"));
        let (phone, _) = Phone::dial(&author, &format!("{held}/calls")).await;
        let path = format!("{held}/calls/{}/stream", phone.call);
        let mut silent = Vec::new();
        let wanted = affordable();
        while silent.len() < wanted {
            let opening = (0..50).map(|_| Socket::open(&author, &path, None));
            silent.extend(futures_util::future::join_all(opening).await.into_iter().map(Result::unwrap));
        }
        eprintln!("{} connections are held", silent.len());
        let (working, _) = Phone::dial(&author, &format!("{other}/calls")).await;
        assert_eq!(working.says("a question").await, "Answer.");
        assert_eq!(phone.says("a question").await, "Answer.", "those who listen do not hinder");
        for mut socket in silent {
            while socket.next().await.is_some() {}
        }
        let mut after = Socket::open(&author, &path, None).await.unwrap();
        after.expect("call").await;
    }

    async fn the_number_of_connections_is_limited(server: TestServer) {
        let limits = app::Limits { voice_sandbox_streams: 3, voice_streams: 4, ..TestServer::unhurried() };
        let server = TestServer::start_with(server.database().kind(), limits).await;
        let author = server.organization("Acme").await;
        let path = async || format!("/sandboxes/{}/voice/stream", voice_sandbox(&author, line()).await.id());
        let (first, second) = (path().await, path().await);
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(Socket::open(&author, &first, None).await.unwrap());
        }
        assert_eq!(Socket::open(&author, &first, None).await.err(), Some(429));
        held.push(Socket::open(&author, &second, None).await.unwrap());
        assert_eq!(Socket::open(&author, &second, None).await.err(), Some(429));
        drop(held);
        // Their slots become free when the server notices the disconnect.
        while Socket::open(&author, &first, None).await.is_err() {
            tokio::task::yield_now().await;
        }
    }
}

/// A thousand, or as many as the file descriptor limit of one process allows for both ends.
fn affordable() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let files = limits.lines().find(|line| line.starts_with("Max open files"));
    let most = files.and_then(|line| line.split_whitespace().nth(3)?.parse::<usize>().ok()).unwrap_or(1024);
    (most.saturating_sub(400) / 2).clamp(50, 1000)
}

/// What mutations insert.
const ODD: [&[u8]; 8] = [b"\"", b"{", b"]", b"\x00", b"\xff", b"\\u0000", b"true", b"hangup"];
