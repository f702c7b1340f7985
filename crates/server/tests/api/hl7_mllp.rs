//! MLLP: one port per sandbox, any framing, and isolation between connections.

use std::time::Duration;

use hl7v2::mllp::{Deframer, Frame, frame};
use serde_json::{Value, json};
use testkit::world::{hl7_sandbox, hl7_update};
use testkit::{Caller, Database, TestResponse, TestServer, both_databases};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::hl7::{begin, events};

/// A timeout that is long enough for any machine.
pub(crate) const LONG: Duration = Duration::from_secs(120);

both_databases! {
    async fn several_messages_are_acknowledged_on_one_connection(server: TestServer) {
        let caller = server.organization("Hospital").await;
        let sandbox = hl7_sandbox(&caller, json!({"strict": true})).await;
        assert_eq!(sandbox["credentials"]["mllp_host"], "127.0.0.1");
        let mut line = Line::to(&sandbox).await;
        assert_eq!(line.send(&hl7_update("1")).await, "AA 1");
        assert_eq!(line.send(&hl7_update("2").replace("PV1|1|O\r", "")).await, "AE 2");
        assert_eq!(line.send(&hl7_update("1")).await, "AA 1", "a resend");
        assert_eq!(line.send("binary \u{0} noise").await, "AR ");
        assert_eq!(line.send(&hl7_update("3").replace("2.5.1\r", "2.5.1|||AL|AL\r")).await, "CA 3");
        assert_eq!(line.next().await, "AA 3");
        let latin = [hl7_update("4").replace("2.5.1\r", "2.5.1||||||8859/1\r").replace("Doe", "M").into_bytes(), b"NTE|1||\xfc\r".to_vec()].concat();
        line.write(&frame(&latin)).await;
        assert_eq!(line.next().await, "AE 4", "NTE has no place there, but was read");
        let told = events(&caller, &sandbox.id()).await;
        let codes: Vec<&Value> = told.iter().map(|event| &event["payload"]["ack_code"]).collect();
        assert_eq!(json!(codes), json!(["AA", "AE", null, "AR", "AA", "AE"]));
        assert!(told.iter().all(|event| event["actor"] == "mllp"));
        // The same state as over HTTP.
        let over_http = crate::hl7::raw(&caller, &sandbox.id(), hl7_update("1").as_bytes()).await.expect(200);
        assert_eq!(over_http["messages"][0]["resend"], true);
    }

    async fn frames_may_be_split_and_have_noise_between_them(server: TestServer) {
        let caller = server.organization("Hospital").await;
        let sandbox = hl7_sandbox(&caller, json!({})).await;
        let mut line = Line::to(&sandbox).await;
        // Byte by byte.
        for byte in frame(hl7_update("1").as_bytes()) {
            line.write(&[byte]).await;
        }
        assert_eq!(line.next().await, "AA 1");
        // Three in one write, with noise before, between and after.
        let glued = [b"noise\r\n".to_vec(), frame(hl7_update("2").as_bytes()), b"\x1c\r\x00".to_vec(),
            frame(hl7_update("3").as_bytes()), frame(hl7_update("4").as_bytes()), b"tail".to_vec()].concat();
        line.write(&glued).await;
        for id in 2..=4 {
            assert_eq!(line.next().await, format!("AA {id}"));
        }
        // A frame interrupted by the next one: only the second is a message.
        let cut = hl7_update("5");
        line.write(&[b"\x0b", &cut.as_bytes()[..60], &frame(hl7_update("6").as_bytes())].concat()).await;
        assert_eq!(line.next().await, "AA 6");
        // A frame interrupted by the end of the connection is not a message.
        let mut gone = Line::to(&sandbox).await;
        gone.write(&[b"\x0b", cut.as_bytes()].concat()).await;
        drop(gone);
        assert_eq!(line.send(&hl7_update("7")).await, "AA 7");
        assert_eq!(events(&caller, &sandbox.id()).await.len(), 6);
    }

    async fn an_endless_frame_is_rejected_and_other_connections_continue(server: TestServer) {
        let caller = server.organization("Hospital").await;
        let sandbox = hl7_sandbox(&caller, json!({})).await;
        let mut endless = Line::to(&sandbox).await;
        let mut other = Line::to(&sandbox).await;
        let _ = endless.stream.write_all(b"\x0bMSH|^~\\&|").await;
        let flood = vec![b'x'; 1 << 20];
        for _ in 0..100 {
            if endless.stream.write_all(&flood).await.is_err() {
                break;
            }
        }
        assert_eq!(other.send(&hl7_update("1")).await, "AA 1");
        endless.expect_end().await;
        assert_eq!(events(&caller, &sandbox.id()).await.len(), 1);
    }

    async fn a_port_belongs_to_one_sandbox_and_closes_with_it(server: TestServer) {
        let caller = server.organization("Hospital").await;
        let (one, other) = (hl7_sandbox(&caller, json!({})).await, hl7_sandbox(&caller, json!({})).await);
        assert_ne!(one["credentials"]["mllp_port"], other["credentials"]["mllp_port"]);
        let again = caller.get(&format!("/sandboxes/{}", one.id())).await.expect(200);
        assert_eq!(again["credentials"], one["credentials"]);
        let (mut first, mut second) = (Line::to(&one).await, Line::to(&other).await);
        first.send(&hl7_update("1")).await;
        second.send(&hl7_update("1")).await;
        for sandbox in [&one, &other] {
            assert_eq!(events(&caller, &sandbox.id()).await.len(), 1);
        }
        caller.post(&format!("/sandboxes/{}/teardown", one.id()), json!({})).await.expect(200);
        first.expect_end().await;
        let refused = TcpStream::connect(Line::address(&one)).await;
        assert!(refused.is_err(), "the port of a sandbox that has ended");
        assert_eq!(second.send(&hl7_update("2")).await, "AA 2");
    }

    async fn the_port_of_a_task_closes_with_the_task(server: TestServer) {
        let author = server.organization("Hospital").await;
        let wanted = json!({"assert": "hl7-structural", "correlate_by": {"message_type": "ADT"}, "count": 2});
        let criteria = [json!({"label": "Sent", "assertion": wanted})];
        let agent = begin(&server, &author, json!({}), json!({"name": "Send"}), &criteria).await;
        let started = agent.start(0).await.expect(200);
        let mut line = Line::at(&started["sandboxes"][0]["credentials"]).await;
        assert_eq!(line.send(&hl7_update("1")).await, "AA 1");
        assert_eq!(line.send(&hl7_update("2")).await, "AA 2");
        let result = agent.complete(0).await.expect(200);
        assert_eq!(result["score"], json!(1.0), "{}", result.text());
        line.expect_end().await;
    }

    async fn thousands_of_messages_are_accepted_on_one_connection(server: TestServer) {
        // Fewer messages where each commit is a round trip.
        let messages = if server.database().kind() == Database::Sqlite { 3_000 } else { 1_000 };
        let caller = server.organization("Hospital").await;
        let sandbox = hl7_sandbox(&caller, json!({})).await;
        let (mut reader, mut writer) = Line::to(&sandbox).await.stream.into_split();
        let writing = tokio::spawn(async move {
            let all: Vec<u8> = (0..messages).flat_map(|number| frame(hl7_update(&number.to_string()).as_bytes())).collect();
            writer.write_all(&all).await.unwrap();
            writer
        });
        let (mut deframer, mut chunk, mut answers) = (Deframer::new(1 << 20), vec![0; 65_536], Vec::new());
        while answers.len() < messages {
            let read = tokio::time::timeout(LONG, reader.read(&mut chunk)).await.unwrap().unwrap();
            assert_ne!(read, 0, "the connection ended after {} answers", answers.len());
            deframer.push(&chunk[..read]);
            while let Some(Frame::Message(bytes)) = deframer.next_frame().unwrap() {
                answers.push(code_and_control_id(&bytes));
            }
        }
        let expected: Vec<String> = (0..messages).map(|number| format!("AA {number}")).collect();
        assert!(answers == expected, "every answer, in order");
        drop(writing.await.unwrap());
        for number in [0, messages / 2, messages - 1] {
            let again = crate::hl7::raw(&caller, &sandbox.id(), hl7_update(&number.to_string()).as_bytes()).await;
            assert_eq!(again.expect(200)["messages"][0]["resend"], true, "{number} was taken");
        }
    }

    async fn five_hundred_concurrent_connections_are_served(server: TestServer) {
        let caller = server.organization("Hospital").await;
        let sandboxes = [hl7_sandbox(&caller, json!({})).await, hl7_sandbox(&caller, json!({})).await];
        let mut lines = Vec::new();
        for number in 0..500 {
            lines.push((number, Line::to(&sandboxes[number % 2]).await));
        }
        // All connections are open before any of them sends.
        let sending = lines.into_iter().map(|(number, mut line)| {
            tokio::spawn(async move {
                for turn in 0..1 {
                    let id = format!("{number}-{turn}");
                    assert_eq!(line.send(&hl7_update(&id)).await, format!("AA {id}"));
                }
                line
            })
        });
        for sent in sending.collect::<Vec<_>>() {
            sent.await.unwrap();
        }
        for (half, sandbox) in sandboxes.iter().enumerate() {
            assert_eq!(kept(&caller, &sandbox.id()).await, 250);
            let rows = caller.get(&format!("/sandboxes/{}/state?limit=100", sandbox.id())).await.expect(200);
            let is_own = |row: &Value| {
                let id = row["value"]["control_id"].as_str().unwrap();
                id.split('-').next().unwrap().parse::<usize>().unwrap() % 2 == half
            };
            assert!(rows.data().iter().all(is_own), "nothing has crossed");
        }
    }
}

/// Records of accepted messages.
pub(crate) async fn kept(caller: &Caller, sandbox: &str) -> usize {
    let mut path = format!("/sandboxes/{sandbox}/state?resource=outbound&limit=100");
    let mut count = 0;
    loop {
        let page = caller.get(&path).await.expect(200);
        count += page.data().len();
        let Some(next) = page["_meta"]["next"].as_str() else { return count };
        path = format!("/sandboxes/{sandbox}/state?resource=outbound&limit=100&cursor={next}");
    }
}

/// An MLLP sender, like an interface engine.
pub(crate) struct Line {
    pub(crate) stream: TcpStream,
    deframer: Deframer,
}

impl Line {
    pub(crate) async fn to(sandbox: &TestResponse) -> Self {
        Self::at(&sandbox["credentials"]).await
    }

    pub(crate) async fn at(credentials: &Value) -> Self {
        let address = address(credentials);
        Self { stream: TcpStream::connect(address).await.unwrap(), deframer: Deframer::new(1 << 20) }
    }

    pub(crate) fn address(sandbox: &TestResponse) -> String {
        address(&sandbox["credentials"])
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn send(&mut self, message: &str) -> String {
        self.write(&frame(message.as_bytes())).await;
        self.next().await
    }

    /// Code and control id of the next acknowledgement.
    pub(crate) async fn next(&mut self) -> String {
        let mut chunk = [0; 4096];
        loop {
            if let Some(Frame::Message(bytes)) = self.deframer.next_frame().unwrap() {
                return code_and_control_id(&bytes);
            }
            let read = tokio::time::timeout(LONG, self.stream.read(&mut chunk)).await.unwrap().unwrap();
            assert_ne!(read, 0, "the connection ended");
            self.deframer.push(&chunk[..read]);
        }
    }

    /// Reads until the server closes the connection.
    pub(crate) async fn expect_end(&mut self) {
        let mut chunk = [0; 4096];
        let ending = async { while matches!(self.stream.read(&mut chunk).await, Ok(1..)) {} };
        tokio::time::timeout(LONG, ending).await.expect("the connection should have ended");
    }
}

fn address(credentials: &Value) -> String {
    let text = |name: &str| credentials[name].as_str().unwrap();
    format!("{}:{}", text("mllp_host"), text("mllp_port"))
}

fn code_and_control_id(ack: &[u8]) -> String {
    let ack = hl7v2::Message::parse(ack, &hl7v2::Limits::default()).unwrap();
    let acknowledged = ack.segments_named("MSA").next().unwrap();
    let field = |number| acknowledged.field(number).map_or(String::new(), |field| field.text().into_owned());
    format!("{} {}", field(1), field(2))
}

/// A server with an MLLP idle timeout of one second.
pub(crate) async fn impatient(server: &TestServer) -> TestServer {
    let limits = app::Limits { mllp_idle_seconds: 1, ..TestServer::unhurried() };
    TestServer::start_with(server.database().kind(), limits).await
}
