//! Inbound messages that are pushed to the agent's own MLLP listener.

use std::time::Duration;

use hl7v2::mllp::{Deframer, Frame, frame};
use serde_json::{Value, json};
use testkit::world::hl7_update;
use testkit::{Caller, TestServer, both_databases};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::hl7::{begin, events};
use crate::hl7_mllp::LONG;

both_databases! {
    async fn a_message_is_pushed_to_the_agents_listener(server: TestServer) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let near = server.stranger(vec![format!("127.0.0.1:{port}")]).await;
        let heard = tokio::spawn(async move { (hear(&listener, "AA").await, hear(&listener, "AE").await) });
        let (author, sandbox, start) = started(&near, port, &[("P1", None), ("P2", Some(1))]).await;
        assert_eq!(start, 200);
        let (first, second) = tokio::time::timeout(LONG, heard).await.unwrap().unwrap();
        assert_eq!((first, second), (hl7_update("P1"), hl7_update("P2")), "the second came by itself, when it was due");
        let pushes = pushes(&author, &sandbox, 2).await;
        assert_eq!((&pushes[0]["delivered"], &pushes[0]["ack_code"]), (&json!(true), &json!("AA")));
        assert_eq!(pushes[1]["ack_code"], "AE");
    }

    async fn a_failed_push_is_recorded_and_breaks_nothing(server: TestServer) {
        // Nothing listens on a port that was just released.
        let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        for (allowed, why) in [(vec![], "not allowed"), (vec!["127.0.0.1".to_owned()], "nobody listens")] {
            let near = server.stranger(allowed).await;
            let (author, sandbox, start) = started(&near, port, &[("P1", None)]).await;
            assert_eq!(start, 200);
            let pushes = pushes(&author, &sandbox, 1).await;
            assert_eq!(pushes[0]["delivered"], false);
            assert!(pushes[0]["why"].as_str().unwrap().contains(why), "{pushes:?}");
        }
    }
}

async fn started(server: &TestServer, port: u16, messages: &[(&str, Option<i64>)]) -> (Caller, String, u16) {
    let author = server.organization("Hospital").await;
    let step = |(id, after): &(&str, Option<i64>)| json!({"do": "hl7_inbound", "message": hl7_update(id), "after_seconds": after.unwrap_or(0)});
    let steps: Vec<Value> = messages.iter().map(step).collect();
    let config = json!({"mllp": {"host": "127.0.0.1", "port": port}});
    let task = json!({"name": "Listen", "scenario": {"steps": steps}});
    let agent = begin(server, &author, config, task, &[]).await;
    let started = agent.start(0).await;
    (author, started["sandboxes"][0]["id"].as_str().unwrap().to_owned(), started.status)
}

/// Waits for the events of this many pushes.
async fn pushes(author: &Caller, sandbox: &str, count: usize) -> Vec<Value> {
    let waiting = async {
        loop {
            let events = events(author, sandbox).await;
            let payloads = events.into_iter().map(|event| event["payload"].clone());
            let pushes: Vec<Value> = payloads.filter(|payload| payload["action"] == "push").collect();
            if pushes.len() >= count {
                return pushes;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG, waiting).await.expect("a push is told")
}

/// Receives one message and acknowledges it.
async fn hear(listener: &TcpListener, code: &str) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let (mut deframer, mut chunk) = (Deframer::new(1 << 20), [0; 4096]);
    loop {
        let read = stream.read(&mut chunk).await.unwrap();
        assert_ne!(read, 0, "no message came");
        deframer.push(&chunk[..read]);
        if let Some(Frame::Message(bytes)) = deframer.next_frame().unwrap() {
            let message = hl7v2::Message::parse(&bytes, &hl7v2::Limits::default()).unwrap();
            let ack = format!("MSH|^~\\&|A|B|C|D|20260401||ACK|1|P|2.5.1\rMSA|{code}|{}\r", message.control_id());
            stream.write_all(&frame(ack.as_bytes())).await.unwrap();
            return message.text().to_owned();
        }
    }
}
