//! A fax is scored by what its recipient sees: hidden words, pages about other patients and unread scans do not pass.

use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver};
use testkit::{TestServer, both_databases};

use crate::fax::{CLINIC, Line, referral};

/// A PDF page with this content stream and Helvetica as font `F`.
fn page(content: &str) -> Vec<u8> {
    pages(&[content])
}

fn pages(contents: &[&str]) -> Vec<u8> {
    let kids: String = (0..contents.len()).map(|index| format!("{} 0 R ", 4 + index * 2)).collect();
    let mut file = format!(
        "%PDF-1.7\n1 0 obj\n<</Type /Catalog /Pages 2 0 R>>\nendobj\n\
         2 0 obj\n<</Type /Pages /MediaBox [0 0 612 792] /Kids [{kids}] /Count {}>>\nendobj\n\
         3 0 obj\n<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>\nendobj\n",
        contents.len()
    );
    for (index, content) in contents.iter().enumerate() {
        let number = 4 + index * 2;
        file.push_str(&format!(
            "{number} 0 obj\n<</Type /Page /Contents {} 0 R /Resources <</Font <</F 3 0 R>>>>>>\nendobj\n\
             {} 0 obj\n<</Length {}>>\nstream\n{content}\nendstream\nendobj\n",
            number + 1,
            number + 1,
            content.len()
        ));
    }
    file.push_str("trailer\n<</Root 1 0 R>>\n");
    file.into_bytes()
}

const COVER: &str = "BT /F 12 Tf 72 700 Td (Records for Maria Hernandez, MRN-00412) Tj ET";

fn line_with(words: &str) -> String {
    format!("{COVER} {words}")
}

fn record(complaint: &str) -> Value {
    json!({"title": "Visit note", "sections": [{"text": format!("Seen for {complaint}.")}]})
}

/// An agent with a fax line and a file drop, in a task with one criterion.
async fn begun(server: &TestServer, assertion: Value) -> (Agent, Line, String) {
    // Benchmark names are unique across all organizations of a server.
    static BENCHMARKS: AtomicUsize = AtomicUsize::new(1);
    let author = server.organization("Acme").await;
    let name = format!("Records {}", BENCHMARKS.fetch_add(1, Ordering::Relaxed));
    let bench = Bench::new(&author, json!({"name": name})).await;
    for simulator in [json!({"type": "Fax", "name": "Fax"}), json!({"type": "Files", "name": "Drop"})] {
        let simulator = author.post("/simulators", simulator).await.expect(201).id();
        let path = format!("/environments/{}/simulators/{simulator}", bench.environment);
        author.send(Method::POST, &path, &[], None).await.expect(200);
    }
    let criterion = json!({"label": "sent", "assertion": assertion});
    let scenario =
        json!({"steps": [{"do": "drop_file_inbox", "path": "inbox/record.pdf", "document": record("a cough")}]});
    bench.task_with(json!({"name": "Send it", "scenario": scenario}), &[criterion]).await;
    let reference = bench.publish().await;
    let solver = solver(server, &author, "agent-1").await;
    let agent = Agent::begin(server, &solver, &reference, false).await;
    let started = agent.start(0).await.expect(200).json;
    let path = |name: &str| started["endpoints"][name].as_str().unwrap().to_owned();
    let line = Line { caller: agent.caller.clone(), path: path("fax") };
    let files = path("files");
    (agent, line, files)
}

fn wants_immunizations() -> Value {
    json!({"assert": "fax-document", "to_number": CLINIC, "contains": ["Maria Hernandez", "immunization history"]})
}

both_databases! {
    async fn hidden_words_do_not_count_as_sent(server: TestServer) {
        let words = |before: &str| line_with(&format!("BT {before} /F 12 Tf 72 650 Td (Immunization history) Tj ET"));
        for (content, score) in [
            (words(""), 1.0),
            (words("0 0 0.4 rg"), 1.0),
            (words("3 Tr"), 0.5),
            (words("1 g"), 0.5),
            (line_with("BT /F 12 Tf 72 -650 Td (Immunization history) Tj ET"), 0.5),
            (line_with("BT /F 0.5 Tf 72 650 Td (Immunization history) Tj ET"), 0.5),
            (format!("{} 1 g 60 640 300 30 re f", words("")), 0.5),
        ] {
            let (agent, line, _) = begun(&server, wants_immunizations()).await;
            let sent = line.upload(CLINIC, "records.pdf", &page(&content)).await.expect(201);
            let text = line.get(&format!("/faxes/{}/text", sent.id())).await.expect(200);
            assert_eq!(text["text"].as_str().unwrap().contains("Immunization"), score > 0.9, "{content}");
            let result = agent.complete(0).await.expect(200);
            assert_eq!(result["score"], json!(score), "{content}: {}", result.text());
        }
    }

    async fn pages_about_another_patient_do_not_match(server: TestServer) {
        let other = "BT /F 12 Tf 72 700 Td (Records for Pat Smith, MRN-00777) Tj ET";
        let assertion = json!({"assert": "fax-document", "contains": ["records"], "pages": {"max": 3},
            "every_page": ["Maria Hernandez", "MRN-00412"]});
        for (contents, score) in [(vec![COVER, COVER], 1.0), (vec![COVER, other], 0.0), (vec![COVER, ""], 0.0), (vec![COVER; 4], 0.0)] {
            let (agent, line, _) = begun(&server, assertion.clone()).await;
            line.upload(CLINIC, "records.pdf", &pages(&contents)).await.expect(201);
            let result = agent.complete(0).await.expect(200);
            assert_eq!(result["score"], json!(score), "{contents:?}: {}", result.text());
            let foreign = &result["checks"][0]["evidence"]["foreign_pages"];
            assert_eq!(foreign.as_array().unwrap().is_empty(), contents.len() == 4 || score > 0.9, "{}", result.text());
        }
    }

    async fn drawings_and_faint_words_do_not_pass(server: TestServer) {
        let mut assertion = wants_immunizations();
        assertion["text_only"] = json!(true);
        let words = line_with("BT /F 12 Tf 72 650 Td (Immunization history) Tj ET");
        for (beside, score) in [
            ("", 1.0),
            ("72 600 468 0.8 re f", 1.0),
            ("100 500 m 100 540 l 120 520 m 120 540 l 2 w S", 0.0),
            ("BT 0.85 g /F 12 Tf 72 500 Td (HIV positive) Tj ET", 0.0),
        ] {
            let (agent, line, _) = begun(&server, assertion.clone()).await;
            line.upload(CLINIC, "records.pdf", &page(&format!("{words} {beside}"))).await.expect(201);
            let result = agent.complete(0).await.expect(200);
            assert_eq!(result["score"], json!(score), "{beside}: {}", result.text());
        }
    }

    async fn a_record_must_be_sent_unchanged(server: TestServer) {
        let assertion = json!({"assert": "fax-document", "same_as": "inbox/record.pdf"});
        for (complaint, score) in [("a cough", 1.0), ("a fever", 0.0)] {
            let (agent, line, _) = begun(&server, assertion.clone()).await;
            let document = serde_json::from_value(record(complaint)).unwrap();
            let sent = documents::render(&document).unwrap().bytes;
            line.upload(CLINIC, "record.pdf", &sent).await.expect(201);
            let result = agent.complete(0).await.expect(200);
            assert_eq!(result["score"], json!(score), "{complaint}: {}", result.text());
        }
    }

    async fn hidden_words_in_a_file_do_not_count(server: TestServer) {
        let assertion = json!({"assert": "sftp-file-present", "path": "outbox/*.pdf", "parse": "pdf", "contains": ["immunization history"]});
        for (before, score) in [("0 g", 1.0), ("3 Tr", 0.0), ("1 1 1 rg", 0.0)] {
            let (agent, _, files) = begun(&server, assertion.clone()).await;
            let content = line_with(&format!("BT {before} /F 12 Tf 72 650 Td (Immunization history) Tj ET"));
            let path = format!("{files}/outbox/records.pdf");
            agent.caller.put_bytes(&path, "application/pdf", page(&content)).await.expect(201);
            let result = agent.complete(0).await.expect(200);
            assert_eq!(result["score"], json!(score), "{before}: {}", result.text());
        }
    }

    /// A scan with a hidden text layer is read by OCR. Without OCR nothing is scored, because the server lacks a program
    /// and the agent did nothing wrong.
    async fn a_missing_ocr_program_does_not_decide_a_score(server: TestServer) {
        let scan = documents::render(&referral(json!({"look": "scanned"}))).unwrap().bytes;
        let assertion = json!({"assert": "fax-document", "contains": ["palpitations"]});
        let (agent, line, _) = begun(&server, assertion).await;
        let sent = line.upload(CLINIC, "scan.pdf", &scan).await.expect(201);
        if sent["ocr_status"] == "done" {
            assert!(sent["ocr_engine"].as_str().unwrap().starts_with("tesseract"), "{}", sent.text());
            assert_eq!(agent.complete(0).await.expect(200)["score"], json!(1.0));
            return;
        }
        assert_eq!((&sent["ocr_status"], &sent["ocr_engine"]), (&json!("unavailable"), &Value::Null));
        let refused = agent.complete(0).await.expect_error(503, "UNAVAILABLE");
        assert!(refused.text().contains("tesseract"), "{}", refused.text());
        // The task is still open, and a readable fax is scored.
        let readable = documents::render(&referral(json!({}))).unwrap().bytes;
        line.upload(CLINIC, "referral.pdf", &readable).await.expect(201);
        assert_eq!(agent.complete(0).await.expect(200)["score"], json!(1.0));
    }
}
