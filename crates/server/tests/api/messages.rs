//! Messages to patients: scripted replies, opting out, and scoring.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver};
use testkit::{Caller, TestResponse, TestServer, both_databases};

const NUMBER: &str = "+15550100123";

/// A benchmark over an EHR and messages; `scenario` is that of its one task.
async fn published(server: &TestServer, scenario: Value, criteria: &[Value]) -> (Caller, Caller, String) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({"name": "Outreach"})).await;
    let config = json!({"unreachable": ["gone@example.org"], "personas": [{"name": "Ada Stone", "patient_id": "p1",
        "replies": [{"phrases": ["tuesday"], "reply": "Tuesday works for me.", "delay_seconds": 60}],
        "default_reply": "Sorry, who is this?"}]});
    let simulator = json!({"type": "Message", "name": "Texts", "config": config});
    let simulator = author.post("/simulators", simulator).await.expect(201).id();
    let path = format!("/environments/{}/simulators/{simulator}", bench.environment);
    author.send(Method::POST, &path, &[], None).await.expect(200);
    bench.task_with(json!({"name": "Write", "scenario": scenario}), criteria).await;
    let reference = bench.publish().await;
    let solver = solver(server, &author, "agent-1").await;
    (author, solver, reference)
}

struct Texts {
    agent: Agent,
    path: String,
}

impl Texts {
    async fn begin(server: &TestServer, solver: &Caller, reference: &str) -> Self {
        let agent = Agent::begin(server, solver, reference, false).await;
        let started = agent.start(0).await.expect(200);
        let path = started["endpoints"]["messages"].as_str().unwrap().to_owned();
        let credentials = started["sandboxes"].as_array().unwrap().iter().find(|sandbox| sandbox["type"] == "Message");
        assert!(credentials.unwrap()["credentials"]["messages_url"].as_str().unwrap().ends_with(&path));
        Self { agent, path }
    }

    async fn send(&self, message: Value) -> TestResponse {
        self.agent.caller.post(&self.path, message).await
    }

    async fn bodies(&self, query: &str) -> Vec<String> {
        let listed = self.agent.caller.get(&format!("{}{query}", self.path)).await.expect(200);
        listed.data().iter().map(|row| row["body"].as_str().unwrap().to_owned()).collect()
    }
}

fn text(body: &str) -> Value {
    json!({"channel": "sms", "patient_id": "p1", "to": NUMBER, "body": body})
}

fn says(specification: Value) -> Value {
    let mut assertion = specification;
    assertion["assert"] = json!("message-transcript");
    json!({"label": assertion.to_string().chars().take(60).collect::<String>(), "assertion": assertion})
}

both_databases! {
    async fn a_conversation_is_held_and_scored(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let criteria = [
            says(json!({"channel": "sms", "direction": "outbound", "contains": ["Tuesday", "10:30"], "not_contains": ["diagnosis"]})),
            says(json!({"direction": "inbound", "contains": ["Tuesday works for me"]})),
            says(json!({"direction": "outbound", "count": 1})),
            json!({"label": "budget", "assertion": {"assert": "interaction-budget", "max": {"message_outbound": 1}}}),
        ];
        let scenario = json!({"steps": [{"do": "message_inbound", "channel": "sms", "from": NUMBER, "patient_id": "p1", "body": "When can I come?"}]});
        let (author, solver, reference) = published(&server, scenario, &criteria).await;
        let texts = Texts::begin(&server, &solver, &reference).await;
        assert_eq!(texts.bodies("?direction=inbound").await, ["When can I come?"]);
        // To the number of an earlier message, without a patient id.
        let sent = texts.send(json!({"channel": "sms", "to": "(555) 010-0123", "body": "Tuesday at 10:30?"})).await.expect(201);
        assert_eq!((&sent["status"], &sent["patient_id"]), (&json!("delivered"), &json!("p1")));
        assert_eq!(texts.bodies("").await, ["When can I come?", "Tuesday at 10:30?"], "the answer takes a minute");
        server.clock.advance(60_000);
        let listed = texts.agent.caller.get(&format!("{}?patient_id=p1&limit=100", texts.path)).await.expect(200);
        let last = listed.data().last().unwrap();
        assert_eq!((&last["body"], &last["read"]), (&json!("Tuesday works for me."), &json!(false)));
        let id = last["id"].as_str().unwrap();
        assert_eq!(texts.agent.caller.get(&format!("{}/{id}", texts.path)).await.expect(200)["read"], json!(true));
        texts.agent.caller.get(&format!("{}/msg_1", texts.path)).await.expect_error(404, "NOT_FOUND");
        let result = texts.agent.complete(0).await.expect(200);
        assert_eq!(result["score"], json!(1.0), "{}", result.text());
        // The messages stay readable for the organization, and the agent cannot continue.
        texts.send(text("Are you there?")).await.expect_error(409, "CONFLICT");
        let sandbox = author.get("/sandboxes").await.expect(200);
        let sandbox = sandbox.data().iter().find(|sandbox| sandbox["type"] == "Message").unwrap()["id"].clone();
        let path = format!("/sandboxes/{}/events?type=message_outbound", sandbox.as_str().unwrap());
        assert_eq!(author.get(&path).await.expect(200).data().len(), 1);
    }

    async fn a_patient_who_says_stop_gets_no_texts_until_start(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let arrives = |body: &str, after: u64| json!({"do": "message_inbound", "channel": "sms", "from": NUMBER, "patient_id": "p1", "body": body, "after_seconds": after});
        let scenario = json!({"steps": [arrives("STOP", 10), arrives("Start", 20)]});
        let criteria = [says(json!({"direction": "outbound", "contains": ["unheard"]})), says(json!({"direction": "outbound", "contains": ["heard again"]}))];
        let (_, solver, reference) = published(&server, scenario, &criteria).await;
        let texts = Texts::begin(&server, &solver, &reference).await;
        assert_eq!(texts.send(text("first")).await.expect(201)["status"], "delivered");
        server.clock.advance(10_000);
        let unheard = texts.send(text("unheard")).await.expect(201);
        assert_eq!((&unheard["status"], &unheard["error"]), (&json!("undelivered"), &json!("the recipient has opted out of text messages")));
        let mail = json!({"channel": "email", "patient_id": "p1", "to": "ada@example.org", "subject": "Visit", "body": "hello"});
        assert_eq!(texts.send(mail.clone()).await.expect(201)["status"], "delivered", "only of texts");
        let mut gone = mail;
        gone["to"] = json!("Gone@example.org");
        assert_eq!(texts.send(gone).await.expect(201)["error"], "the recipient cannot be reached");
        server.clock.advance(10_000);
        assert_eq!(texts.send(text("heard again")).await.expect(201)["status"], "delivered");
        let asked = texts.bodies("?direction=inbound&channel=sms").await;
        assert_eq!(asked, ["Sorry, who is this?", "STOP", "Start", "Sorry, who is this?"]);
        let result = texts.agent.complete(0).await.expect(200);
        let results: Vec<&Value> = result["checks"].as_array().unwrap().iter().map(|check| &check["result"]).collect();
        assert_eq!(results, ["fail", "pass"], "{}", result.text());
    }

    async fn invalid_sends_are_rejected_and_change_nothing(server: TestServer) {
        let (author, solver, reference) = published(&server, json!({"steps": []}), &[]).await;
        let texts = Texts::begin(&server, &solver, &reference).await;
        for (message, fields) in [
            (json!({"channel": "sms", "body": "x"}), vec!["patient_id"]),
            (json!({"channel": "sms", "patient_id": "p1", "body": "x"}), vec!["to"]),
            (json!({"channel": "sms", "patient_id": "nobody", "to": NUMBER, "body": "x"}), vec!["patient_id"]),
            (json!({"channel": "sms", "patient_id": "p1", "to": "a@example.org", "body": "x"}), vec!["to"]),
            (json!({"channel": "email", "patient_id": "p1", "to": NUMBER, "body": "x"}), vec!["to"]),
            (json!({"channel": "sms", "patient_id": "p1", "to": NUMBER, "body": " "}), vec!["body"]),
            (json!({"channel": "sms", "patient_id": "p1", "to": NUMBER, "subject": "x", "body": "x".repeat(1601)}), vec!["body", "subject"]),
            (json!({"channel": "fax", "patient_id": "p1", "to": NUMBER, "body": "x"}), vec!["channel"]),
            (json!({"channel": "sms", "patient_id": "p1", "to": NUMBER, "body": "x", "status": "read"}), vec!["status"]),
        ] {
            let refused = texts.send(message.clone()).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), fields, "{message}");
        }
        for query in ["?channel=fax", "?direction=up", "?limit=0", "?patient=1"] {
            texts.agent.caller.get(&format!("{}{query}", texts.path)).await.expect_error(400, "VALIDATION_ERROR");
        }
        assert!(texts.bodies("").await.is_empty());
        // A retry with the same idempotency key is one message; another body with that key is rejected.
        let once = [("idempotency-key", "a")];
        let first = texts.agent.caller.send(Method::POST, &texts.path, &once, Some(text("once"))).await.expect(201);
        let again = texts.agent.caller.send(Method::POST, &texts.path, &once, Some(text("once"))).await.expect(201);
        assert_eq!(first.json, again.json);
        texts.agent.caller.send(Method::POST, &texts.path, &once, Some(text("other"))).await.expect_error(409, "CONFLICT");
        assert_eq!(texts.bodies("?direction=outbound").await, ["once"]);
        // The organization sees the same at its own address; others do not.
        let sandboxes = author.get("/sandboxes").await.expect(200);
        let id = |kind: &str| sandboxes.data().iter().find(|sandbox| sandbox["type"] == kind).unwrap()["id"].as_str().unwrap().to_owned();
        let direct = format!("/sandboxes/{}/messages", id("Message"));
        assert_eq!(author.get(&format!("{direct}?direction=outbound")).await.expect(200).data().len(), 1);
        assert_eq!(author.get(&direct.replace("sandboxes", "services")).await.expect(200).data().len(), 2);
        author.get(&format!("/sandboxes/{}/messages", id("Fhir"))).await.expect_error(404, "NOT_FOUND");
        server.organization("Other").await.get(&direct).await.expect_error(404, "NOT_FOUND");
        texts.agent.caller.get(&direct).await.expect_error(403, "FORBIDDEN");
    }
}
