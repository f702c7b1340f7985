//! A data directory that an earlier version of the server wrote: its results stay, and its open run can be finished.
//!
//! `fixtures/earlier_version` was written by the version of 2026-11-19 before `app::live` became the crate `runtime`. Its run has
//! three tasks: the first is completed, the second is started and half done, the third is not started.

use std::path::Path;

use app::Clock;
use app::runs::ENGINE;
use model::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Caller, TestServer};

/// The engine that scored the first task.
const EARLIER_ENGINE: &str = "verify/8";

const ORDER: &str = "MSH|^~\\&|INTAKE|CLINIC|RAD|HOSP|20260407070000||ORM^O01^ORM_O01|B1|P|2.5.1\rPID|1||MRN-100^^^CLINIC^MR||Stone^Ada||19610203|F\rORC|NW|P-1\rOBR|1|P-1||36643-5^Chest X-ray^LN\r";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_of_an_earlier_version_is_finished() {
    let (server, written) = earlier_server().await;
    let text = |member: &str| written[member].as_str().unwrap().to_owned();
    let owner = server.caller(&text("organization_key"));
    let agent = server.caller(&text("run_token"));
    let tasks: Vec<&str> = written["task_runs"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();

    let first = owner.get(&format!("/task-runs/{}", tasks[0])).await.expect(200).json;
    for member in ["verdict", "score", "axes", "critical_failures", "completed_at", "playground_id", "snapshot"] {
        assert_eq!(first[member], written["first"][member], "{member}");
    }

    // What the agent did before the upgrade is still there, and it goes on.
    let second = format!("/v1/task-runs/{}", tasks[1]);
    let orders = agent.get(&format!("{second}/sandbox/fhir/ServiceRequest?subject=Patient/ada")).await.expect(200).json;
    assert_eq!(orders["total"], 1);
    let mut order = orders["entry"][0]["resource"].clone();
    assert_eq!((&order["priority"], &order["meta"]["versionId"]), (&json!("routine"), &json!("1")));
    order["priority"] = json!("stat");
    let id = order["id"].as_str().unwrap().to_owned();
    agent.send(Method::PUT, &format!("{second}/sandbox/fhir/ServiceRequest/{id}"), &[], Some(order)).await.expect(200);
    assert_eq!(agent.get(&format!("{second}/sandbox/hl7/inbox")).await.expect(200).data().len(), 1);
    assert_eq!(agent.get(&format!("{second}/sandbox/messages")).await.expect(200).data().len(), 1);
    send_order_and_fax(&agent, &second).await;
    let completed = agent.post(&format!("{second}/complete"), json!({})).await.expect(200).json;
    assert_eq!(failed(&completed), ["Nothing else"], "an update of the order was not allowed: {completed:#}");

    let third = format!("/v1/task-runs/{}", tasks[2]);
    agent.post(&format!("{third}/start"), json!({})).await.expect(200);
    let order = json!({"resourceType": "ServiceRequest", "status": "active", "intent": "order", "priority": "stat",
        "subject": {"reference": "Patient/ada"},
        "code": {"coding": [{"system": "http://loinc.org", "code": "36643-5"}]}});
    agent.post(&format!("{third}/sandbox/fhir/ServiceRequest"), order).await.expect(201);
    let message = json!({"channel": "sms", "patient_id": "ada", "body": "Your X-ray is ordered."});
    agent.post(&format!("{third}/sandbox/messages"), message).await.expect(201);
    agent
        .put_bytes(&format!("{third}/sandbox/files/outbox/report.txt"), "text/plain", "For MRN-100.")
        .await
        .expect(201);
    send_order_and_fax(&agent, &third).await;
    let completed = agent.post(&format!("{third}/complete"), json!({})).await.expect(200).json;
    assert_eq!((&completed["score"], failed(&completed).len()), (&json!(1.0), 0), "{completed:#}");

    let run = owner.get(&format!("/benchmark-runs/{}", text("run"))).await.expect(200).json;
    assert_eq!((&run["phase"], &run["status"]), (&json!("completed"), &json!("completed")));
    let score = run["score"].as_f64().unwrap();
    assert!((score - (6.0 / 7.0 * 2.0 + 1.0) / 3.0).abs() < 1e-12, "{score}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_evidence_of_an_earlier_version_scores_the_same() {
    let (server, written) = earlier_server().await;
    let owner = server.caller(written["organization_key"].as_str().unwrap());
    let run = written["run"].as_str().unwrap();
    owner.post(&format!("/benchmark-runs/{run}/cancel"), json!({})).await.expect(200);
    let rescored = owner.post(&format!("/benchmark-runs/{run}/rescore"), json!({})).await.expect(200).json;
    assert_eq!(rescored["engine_before"], EARLIER_ENGINE);
    assert_eq!(rescored["engine_after"], ENGINE);
    let first = &rescored["task_runs"][0];
    assert_eq!(first["score_after"], written["first"]["score"], "{rescored:#}");
}

async fn earlier_server() -> (TestServer, Value) {
    let stored = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/earlier_version"));
    let written: Value = serde_json::from_slice(&std::fs::read(stored.join("written.json")).unwrap()).unwrap();
    let at: Timestamp = serde_json::from_value(written["at"].clone()).unwrap();
    let clock = Clock::fixed(at.plus_milliseconds(60_000));
    (TestServer::on_copy_of(stored, clock).await, written)
}

async fn send_order_and_fax(agent: &Caller, task: &str) {
    let sent = agent
        .send_bytes(
            Method::POST,
            &format!("{task}/sandbox/hl7/outbound"),
            &[],
            Some(("application/hl7-v2", ORDER.into())),
        )
        .await;
    assert_eq!(sent.expect(200)["ack_code"], "AA");
    let document = testkit::world::pdf("Chest X-ray ordered for MRN-100.");
    agent.put_bytes(&format!("{task}/sandbox/files/outbox/order.pdf"), "application/pdf", document).await.expect(201);
    let fax = json!({"to_number": "+16085550199", "content_reference": "files/outbox/order.pdf"});
    agent.post(&format!("{task}/sandbox/fax/faxes"), fax).await.expect(201);
}

fn failed(completed: &Value) -> Vec<&str> {
    let checks = completed["checks"].as_array().unwrap().iter();
    checks.filter(|check| check["passed"] == false).map(|check| check["label"].as_str().unwrap()).collect()
}
