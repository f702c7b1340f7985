//! An HL7 v2 interface over HTTP: its inbox, sent messages, and the check that reads them.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, solver};
use testkit::world::{hl7_sandbox, hl7_update};
use testkit::{Caller, TestResponse, TestServer, both_databases};

pub(crate) const ER7: &str = "x-application/hl7-v2+er7";

both_databases! {
    async fn a_message_is_acknowledged_and_recorded(server: TestServer) {
        let caller = server.organization("Hospital").await;
        let sandbox = hl7_sandbox(&caller, json!({"strict": true})).await;
        let base = format!("/sandboxes/{}/hl7", sandbox.id());
        let credentials = &sandbox["credentials"];
        assert_eq!(credentials["inbox_url"], format!("{}{base}/inbox", server.base_url));
        assert_eq!(credentials["outbound_url"], format!("{}{base}/outbound", server.base_url));
        let response = caller.post(&format!("{base}/outbound"), json!({"payload": hl7_update("12345")})).await.expect(200);
        assert_eq!((&response["ack_code"], &response["control_id"]), (&json!("AA"), &json!("12345")));
        assert!(response["ack"].as_str().unwrap().ends_with("MSA|AA|12345\r"), "{}", response.text());
        let events = events(&caller, &sandbox.id()).await;
        assert_eq!(events.len(), 1);
        assert_eq!((&events[0]["id"], &events[0]["type"]), (&response["event_id"], &json!("hl7_outbound")));
        assert_eq!(events[0]["payload"]["payload"], hl7_update("12345"));
        // The same message at the alias, as a raw body, and with other line endings.
        let path = format!("/services/{}/hl7/outbound", sandbox.id());
        let again = caller.send_bytes(Method::POST, &path, &[("accept", ER7)], Some((ER7, hl7_update("12345").replace('\r', "\n").into_bytes()))).await;
        assert_eq!(again.expect(200).text(), response["ack"].as_str().unwrap());
        let faulty = raw(&caller, &sandbox.id(), hl7_update("2").replace("PV1|1|O\r", "").as_bytes()).await.expect(200);
        assert_eq!(faulty["ack_code"], "AE");
        assert!(faulty["ack"].as_str().unwrap().contains("ERR||PV1^1|100^Segment sequence error^HL70357|E"), "{}", faulty.text());
        let silent = hl7_update("3").replace("2.5.1\r", "2.5.1|||NE|NE\r");
        let silent = caller.send_bytes(Method::POST, &path, &[("accept", ER7)], Some((ER7, silent.into_bytes()))).await;
        assert_eq!(silent.expect(204).text(), "");
    }

    async fn the_inbox_contains_messages_of_config_and_scenario(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let author = server.organization("Hospital").await;
        let steps = json!({"steps": [
            {"do": "hl7_inbound", "message": hl7_update("S1")},
            {"do": "hl7_inbound", "message": hl7_update("S2"), "after_seconds": 60},
        ]});
        let config = json!({"inbox": [{"message": hl7_update("C1")}, {"message": hl7_update("C2"), "after_seconds": 30}]});
        let agent = begin(&server, &author, config, json!({"name": "Read", "timeout": 600, "scenario": steps}), &[]).await;
        let started = agent.start(0).await.expect(200);
        let inbox = started["endpoints"]["hl7_inbox"].as_str().unwrap().to_owned();
        assert_eq!(inbox, format!("/v1/task-runs/{}/sandbox/hl7/inbox", agent.task_runs[0]));
        assert_eq!(started["sandboxes"][0]["credentials"]["inbox_url"], format!("{}{inbox}", server.base_url));
        let control_ids = |page: &TestResponse| -> Vec<String> {
            page.data().iter().map(|row| row["control_id"].as_str().unwrap().to_owned()).collect()
        };
        let mut seen = control_ids(&agent.caller.get(&inbox).await.expect(200));
        seen.sort_unstable();
        assert_eq!(seen, ["C1", "S1"]);
        server.clock.advance(30_000);
        assert_eq!(agent.caller.get(&inbox).await.expect(200).data().len(), 3);
        server.clock.advance(30_000);
        let page = agent.caller.get(&inbox).await.expect(200);
        assert_eq!(control_ids(&page)[..2], ["S2", "C2"], "newest first");
        let newest = &page.data()[0];
        assert_eq!((&newest["message_type"], &newest["read"]), (&json!("ADT^A08"), &json!(false)));
        assert_eq!(newest["payload"], hl7_update("S2"));
        for row in [&page.data()[0], &page.data()[1]] {
            let one = format!("{inbox}/{}", row["id"].as_str().unwrap());
            assert_eq!(agent.caller.get(&one).await.expect(200).json, *row);
            let marked = agent.caller.patch(&one, json!({"read": true})).await.expect(200);
            assert_eq!(marked["read"], true);
        }
        assert_eq!(agent.caller.get(&format!("{inbox}?read=false")).await.expect(200).data().len(), 2);
        assert_eq!(agent.caller.get(&format!("{inbox}?read=true")).await.expect(200).data().len(), 2);
        agent.caller.get(&format!("{inbox}?read=maybe")).await.expect_error(400, "VALIDATION_ERROR");
        agent.caller.get(&format!("{inbox}/hl7_seed_0009")).await.expect_error(404, "NOT_FOUND");
        agent.caller.patch(&format!("{inbox}/nothing"), json!({"read": true})).await.expect_error(404, "NOT_FOUND");
        agent.caller.patch(&format!("{inbox}/hl7_seed_0001"), json!({"read": "yes"})).await.expect_error(400, "VALIDATION_ERROR");
        agent.complete(0).await.expect(200);
        agent.caller.get(&inbox).await.expect_error(409, "CONFLICT");
    }

    async fn the_check_finds_sent_messages(server: TestServer) {
        let author = server.organization("Hospital").await;
        let criterion = |label: &str, assertion: Value| json!({"label": label, "assertion": assertion});
        let sent = json!({"assert": "hl7-structural", "correlate_by": {"message_type": "ADT^A08", "PID.3.1": "77"},
            "fields": [{"path": "PID.5.1", "expected": "Doe"}, {"path": "PV1.2", "expected": "O"}], "count": 1});
        let none = json!({"assert": "hl7-structural", "correlate_by": {"PID.5.1": "Roe"}, "count": {"max": 0}});
        let clean = json!({"assert": "no-side-effects", "allow": ["hl7/ADT^A08"]});
        let criteria = [criterion("Sent", sent), criterion("No Roe", none), criterion("Nothing else", clean)];
        let agent = begin(&server, &author, json!({"strict": true}), json!({"name": "Send"}), &criteria).await;
        agent.start(0).await.expect(200);
        let path = format!("/v1/benchmark-runs/{}/hl7/outbound", agent.run);
        let send = async |text: String| agent.caller.post(&path, json!({"payload": text})).await;
        send("hello".to_owned()).await.expect_error(400, "BAD_REQUEST");
        // Rejected, so it does not count as sent.
        for refused in [hl7_update("1").replace("PID|1||77", "PID|1||77|").replace("|Doe^Ann", "|"), hl7_update("1").replace("Doe", "Roe").replace("A08", "A99")] {
            assert_ne!(send(refused).await.expect(200)["ack_code"], "AA");
        }
        for _ in 0..3 {
            assert_eq!(send(hl7_update("1")).await.expect(200)["ack_code"], "AA");
        }
        let result = agent.complete(0).await.expect(200);
        assert_eq!((&result["score"], &result["verdict"]), (&json!(1.0), &json!("pass")), "{}", result.text());
    }

    async fn an_invalid_message_is_rejected_and_only_recorded_as_an_event(server: TestServer) {
        let caller = server.organization("Hospital").await;
        let sandbox = hl7_sandbox(&caller, json!({})).await.id();
        let path = format!("/sandboxes/{sandbox}/hl7/outbound");
        let bodies: [&[u8]; 6] = [b"", b"not HL7", b"\xff\x00\x0b", b"PID|1\r", b"MSH", b"MSHx^~\\&|A"];
        for body in bodies {
            raw(&caller, &sandbox, body).await.expect_error(400, "BAD_REQUEST");
        }
        caller.post(&path, json!({})).await.expect_error(400, "VALIDATION_ERROR");
        caller.post(&path, json!({"payload": 5})).await.expect_error(400, "VALIDATION_ERROR");
        caller.post(&path, json!({"message": "MSH|"})).await.expect_error(400, "VALIDATION_ERROR");
        caller.send_bytes(Method::POST, &path, &[], Some(("text/csv", b"MSH|^~\\&|".to_vec()))).await.expect_error(415, "UNSUPPORTED_MEDIA_TYPE");
        raw(&caller, &sandbox, &vec![b'x'; (16 << 20) + 1]).await.expect_error(413, "PAYLOAD_TOO_LARGE");
        let events = events(&caller, &sandbox).await;
        assert_eq!(events.len(), bodies.len());
        assert!(events.iter().all(|event| event["payload"]["accepted"] == false));
        assert!(caller.get(&format!("/sandboxes/{sandbox}/state")).await.expect(200).data().is_empty());
    }

    async fn nothing_is_accepted_after_the_end(server: TestServer) {
        let caller = server.organization("Hospital").await;
        let sandbox = hl7_sandbox(&caller, json!({})).await.id();
        raw(&caller, &sandbox, hl7_update("1").as_bytes()).await.expect(200);
        caller.post(&format!("/sandboxes/{sandbox}/teardown"), json!({})).await.expect(200);
        raw(&caller, &sandbox, hl7_update("2").as_bytes()).await.expect_error(409, "CONFLICT");
        assert_eq!(events(&caller, &sandbox).await.len(), 1);
    }
}

pub(crate) async fn raw(caller: &Caller, sandbox: &str, body: &[u8]) -> TestResponse {
    let path = format!("/sandboxes/{sandbox}/hl7/outbound");
    caller.send_bytes(Method::POST, &path, &[], Some((ER7, body.to_vec()))).await
}

pub(crate) async fn events(caller: &Caller, sandbox: &str) -> Vec<Value> {
    caller.get(&format!("/sandboxes/{sandbox}/events?limit=100")).await.expect(200).data().to_vec()
}

/// A run over one HL7 interface.
pub(crate) async fn begin(
    server: &TestServer,
    author: &Caller,
    config: Value,
    mut task: Value,
    criteria: &[Value],
) -> Agent {
    let simulator = json!({"type": "Hl7", "name": "Interface", "config": config});
    let simulator = author.post("/simulators", simulator).await.expect(201).id();
    let environment = author.post("/environments", json!({"name": "Ward"})).await.expect(201).id();
    author
        .send(Method::POST, &format!("/environments/{environment}/simulators/{simulator}"), &[], None)
        .await
        .expect(200);
    let benchmark = json!({"name": "Interfaces", "environment_id": environment});
    let benchmark = author.post("/benchmarks", benchmark).await.expect(201).id();
    task["benchmark_id"] = json!(benchmark);
    let task = author.post("/tasks", task).await.expect(201).id();
    let nothing = [json!({"label": "Quiet", "assertion": {"assert": "interaction-budget", "max": 1000}})];
    for criterion in if criteria.is_empty() { &nothing } else { criteria } {
        let mut criterion = criterion.clone();
        criterion["task_id"] = json!(task);
        author.post("/criteria", criterion).await.expect(201);
    }
    let version = author.post(&format!("/benchmarks/{benchmark}/publish"), json!({})).await.expect(201).json;
    let reference = format!("{}@{}", version["slug"].as_str().unwrap(), version["version"]);
    Agent::begin(server, &solver(server, author, "agent-1").await, &reference, false).await
}
