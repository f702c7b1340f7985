//! Documents of a scenario: real files that checks can read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench};
use testkit::{Caller, both_databases};

both_databases! {
    async fn a_referral_arrives_as_a_file_and_as_a_fax(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        simulator(&author, &bench, "Files").await;
        simulator(&author, &bench, "Fax").await;
        let referral = |change: &str, value: Value| {
            let mut referral = json!({"title": "Referral", "header": {"Patient": "Đặng Müller", "MRN": 7},
                "sections": [{"text": "Palpitations for two weeks."}], "signer": "Maria Lee, MD"});
            referral[change] = value;
            referral
        };
        let drop = |path: &str, document: Value| json!({"do": "drop_file_inbox", "path": path, "document": document});
        let steps = json!([
            drop("inbox/text.pdf", referral("signature", json!("missing"))),
            drop("inbox/scan.pdf", referral("text_layer", json!(false))),
            drop("inbox/fax.tif", referral("format", json!("tiff"))),
            {"do": "fax_inbound", "from_number": "+15550100142", "document": referral("signature", json!("scanned"))},
        ]);
        let reads = |path: &str| json!({"label": path, "assertion": {"assert": "sftp-file-present",
            "path": format!("inbox/{path}"), "parse": "pdf", "contains": ["Đặng Müller", "palpitations"]}});
        let criteria = [reads("text.pdf"), reads("scan.pdf"), reads("fax.tif")];
        bench.task_with(json!({"name": "Read it", "scenario": {"steps": steps}}), &criteria).await;
        let created = author.post("/benchmark-runs", json!({"benchmark_id": bench.benchmark})).await.expect(201);
        let agent = Agent::from(&server, &created);
        let started = agent.start(0).await.expect(200).json;
        let sandbox = |simulator: &str| {
            let found = started["sandboxes"].as_array().unwrap().iter().find(|one| one["type"] == simulator).unwrap();
            found["id"].as_str().unwrap().to_owned()
        };
        let rows = author.get(&format!("/sandboxes/{}/state?resource=files", sandbox("Files"))).await.expect(200).json;
        assert_eq!(rows["data"].as_array().unwrap().len(), 3, "{rows}");
        for row in rows["data"].as_array().unwrap() {
            is_whole(&row["value"]);
        }
        let faxes = author.get(&format!("/sandboxes/{}/state?resource=faxes", sandbox("Fax"))).await.expect(200).json;
        is_whole(&faxes["data"][0]["value"]);
        let completed = agent.complete(0).await.expect(200).json;
        let results: Vec<&Value> = completed["checks"].as_array().unwrap().iter().map(|check| &check["result"]).collect();
        assert_eq!(results, ["pass", "fail", "fail"], "{completed}");
    }

    async fn an_invalid_document_is_rejected_when_the_task_is_saved(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        simulator(&author, &bench, "Files").await;
        for (path, document, place) in [
            ("a.tif", json!({"title": "x"}), "scenario.steps.0.path"),
            ("a.tif", json!({"title": "x", "format": "tiff", "text_layer": true}), "scenario.steps.0.document.text_layer"),
            ("a.pdf", json!({"title": "x", "look": "worn"}), "scenario.steps.0.document.look"),
        ] {
            let step = json!({"do": "drop_file_inbox", "path": path, "document": document});
            let task = json!({"benchmark_id": bench.benchmark, "name": "Read", "scenario": {"steps": [step]}});
            let refused = author.post("/tasks", task).await.expect_error(400, "VALIDATION_ERROR").json.to_string();
            assert!(refused.contains(place), "{refused}");
        }
    }
}

async fn simulator(author: &Caller, bench: &Bench, kind: &str) {
    let simulator = author.post("/simulators", json!({"type": kind, "name": kind})).await.expect(201).id();
    let path = format!("/environments/{}/simulators/{simulator}", bench.environment);
    author.send(reqwest::Method::POST, &path, &[], None).await.expect(200);
}

/// Checks that the bytes exist and match the size and type of the row.
fn is_whole(row: &Value) {
    let bytes = STANDARD.decode(row["base64"].as_str().unwrap()).unwrap();
    assert_eq!((&row["size"], &row["pages"]), (&json!(bytes.len()), &json!(1)), "{row}");
    let start: &[u8] = if row["content_type"] == "image/tiff" { b"II*\0" } else { b"%PDF-1.7" };
    assert!(bytes.starts_with(start));
}
