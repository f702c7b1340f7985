//! An agent uses a fax line: documents are sent and received as files, failed calls are retried, and sent faxes are
//! read and scored.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use documents::Document;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver};
use testkit::world::pdf;
use testkit::{Caller, TestResponse, TestServer, both_databases};

pub(crate) const CLINIC: &str = "+15550100177";

/// A fax line at one of its addresses.
pub(crate) struct Line {
    pub(crate) caller: Caller,
    /// The base path; ends with `fax`.
    pub(crate) path: String,
}

impl Line {
    /// A line in its own playground, reached with an organization key.
    pub(crate) async fn open(author: &Caller, config: Value) -> Self {
        let simulator = json!({"type": "Fax", "name": "Fax line", "config": config});
        let simulator = author.post("/simulators", simulator).await.expect(201).id();
        let sandbox = author.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201).id();
        Self { caller: author.clone(), path: format!("/sandboxes/{sandbox}/fax") }
    }

    pub(crate) async fn get(&self, path: &str) -> TestResponse {
        self.caller.get(&format!("{}{path}", self.path)).await
    }

    pub(crate) async fn send(&self, fax: Value) -> TestResponse {
        self.caller.post(&format!("{}/faxes", self.path), fax).await
    }

    /// Sends a form.
    pub(crate) async fn upload(&self, to: &str, name: &str, document: &[u8]) -> TestResponse {
        let (kind, body) = form(&[("to_number", to)], &[(name, document)]);
        self.caller.send_bytes(Method::POST, &format!("{}/faxes", self.path), &[], Some((&kind, body))).await
    }
}

/// A multipart form with fields and files.
pub(crate) fn form(fields: &[(&str, &str)], files: &[(&str, &[u8])]) -> (String, Vec<u8>) {
    let boundary = "------------------------d74496d66958873e";
    let mut body = Vec::new();
    for (name, value) in fields {
        let head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(head.as_bytes());
    }
    for (name, bytes) in files {
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"document\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}

/// A referral with the given changes.
pub(crate) fn referral(change: Value) -> Document {
    let mut referral = json!({
        "title": "Referral to Cardiology",
        "letterhead": {"name": "Lakeside Family Medicine", "lines": ["1420 Harbor Street, Madison, WI 53703"]},
        "date": "April 1, 2026",
        "header": {"Patient": "Maria Hernandez", "Date of birth": "1957-03-12", "MRN": "MRN-00412", "Insurance": "Blue Shield"},
        "sections": [
            {"heading": "Reason for referral", "text": "Evaluation of palpitations and shortness of breath for two weeks. \
                The electrocardiogram of March 28 shows atrial fibrillation with a controlled rate."},
            {"heading": "Medications", "table": {"columns": ["Drug", "Dose"], "rows": [["Metoprolol", "25 mg daily"], ["Aspirin", "81 mg daily"]]}},
            {"heading": "Request", "text": "Please see the patient within ten days and advise on anticoagulation."},
        ],
        "signer": "Jordan Lee, MD", "signed_on": "2026-04-01",
    });
    if let Value::Object(changes) = change {
        referral.as_object_mut().unwrap().extend(changes);
    }
    serde_json::from_value(referral).unwrap()
}

fn rendered(change: Value) -> Vec<u8> {
    documents::render(&referral(change)).unwrap().bytes
}

/// The word error rate: insertions, deletions and substitutions per word of the first text.
fn word_error_rate(truth: &str, read: &str) -> f64 {
    let words = |text: &str| -> Vec<String> {
        let kept = |c: char| c.is_alphanumeric().then(|| c.to_ascii_lowercase());
        text.split_whitespace()
            .map(|word| word.chars().filter_map(kept).collect())
            .filter(|word: &String| !word.is_empty())
            .collect()
    };
    let (truth, read) = (words(truth), words(read));
    let mut row: Vec<usize> = (0..=read.len()).collect();
    for (index, word) in truth.iter().enumerate() {
        let mut above = row[0];
        row[0] = index + 1;
        for (place, other) in read.iter().enumerate() {
            let replaced = above + usize::from(word != other);
            above = row[place + 1];
            row[place + 1] = replaced.min(above + 1).min(row[place] + 1);
        }
    }
    row[read.len()] as f64 / truth.len() as f64
}

/// A benchmark over an EHR, a file drop and a fax line; `scenario` is that of its one task.
async fn begun(server: &TestServer, config: Value, steps: Value, criteria: &[Value]) -> (Caller, Agent, Value) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({"name": "Referrals"})).await;
    for simulator in [json!({"type": "Fax", "name": "Fax", "config": config}), json!({"type": "Files", "name": "Drop"})]
    {
        let simulator = author.post("/simulators", simulator).await.expect(201).id();
        let path = format!("/environments/{}/simulators/{simulator}", bench.environment);
        author.send(Method::POST, &path, &[], None).await.expect(200);
    }
    bench.task_with(json!({"name": "Fax it", "scenario": {"steps": steps}}), criteria).await;
    let reference = bench.publish().await;
    let solver = solver(server, &author, "agent-1").await;
    let agent = Agent::begin(server, &solver, &reference, false).await;
    let started = agent.start(0).await.expect(200).json;
    (author, agent, started)
}

fn line_of(agent: &Agent, started: &Value) -> Line {
    Line { caller: agent.caller.clone(), path: started["endpoints"]["fax"].as_str().unwrap().to_owned() }
}

fn says(specification: Value) -> Value {
    let mut assertion = specification;
    assertion["assert"] = json!("fax-document");
    json!({"label": assertion.to_string().chars().take(60).collect::<String>(), "assertion": assertion})
}

both_databases! {
    async fn a_referral_is_faxed_and_scored(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let criteria = [
            says(json!({"to_number": "(555) 010-0177", "contains": ["Maria Hernandez", ["MRN 00412", "MRN-00412"]], "not_contains": ["draft"], "pages": 1, "count": 1})),
            says(json!({"to_number": CLINIC, "contains": ["psychotherapy"]})),
            says(json!({"contains": ["psychotherapy"], "count": {"max": 0}})),
            says(json!({"to_number": "+15550100199", "count": {"max": 0}})),
            json!({"label": "budget", "assertion": {"assert": "interaction-budget", "max": {"fax_outbound": 2}}}),
            json!({"label": "only there", "assertion": {"assert": "no-side-effects", "allow": [format!("fax/{CLINIC}"), "fax/+15550100199"]}}),
            json!({"label": "nothing", "assertion": {"assert": "no-side-effects", "allow": []}}),
        ];
        let config = json!({"default_outcome": {"status": "sent", "delay_seconds": 10},
            "outcomes": [{"number": "+15550100199", "status": "failed", "reason": "busy"}]});
        let (author, agent, started) = begun(&server, config, json!([]), &criteria).await;
        let line = line_of(&agent, &started);
        let sandbox = started["sandboxes"].as_array().unwrap().iter().find(|one| one["type"] == "Fax").unwrap();
        assert!(sandbox["credentials"]["upload_url"].as_str().unwrap().ends_with("/fax/faxes"));
        let own = sandbox["credentials"]["fax_number"].clone();
        let sent = line.upload("(555) 010-0177", "referral.pdf", &rendered(json!({}))).await.expect(201);
        assert_eq!((&sent["status"], &sent["to_number"], &sent["from_number"]), (&json!("queued"), &json!(CLINIC), &own));
        assert_eq!((&sent["pages"], &sent["ocr_status"]), (&json!(1), &json!("not_needed")));
        let failed = line.upload("+15550100199", "referral.pdf", &rendered(json!({}))).await.expect(201);
        assert_eq!((&failed["status"], &failed["reason"]), (&json!("failed"), &json!("busy")));
        server.clock.advance(10_000);
        let id = sent.id();
        assert_eq!(line.get(&format!("/faxes/{id}")).await.expect(200)["status"], "sent");
        assert_eq!(line.get("/faxes?status=sent").await.expect(200).data().len(), 1);
        assert_eq!(line.get("/faxes?to_number=555-010-0177").await.expect(200).data()[0]["id"], json!(id));
        let document = line.get(&format!("/faxes/{id}/document")).await.expect(200);
        assert_eq!((document.body, document.headers["content-type"].to_str().unwrap()), (rendered(json!({})), "application/pdf"));
        let picture = line.get(&format!("/faxes/{id}/pages/1.png")).await.expect(200);
        assert!(picture.body.starts_with(b"\x89PNG") && picture.headers["content-type"] == "image/png");
        line.get(&format!("/faxes/{id}/pages/2.png")).await.expect_error(404, "NOT_FOUND");
        let result = agent.complete(0).await.expect(200);
        let checks = result["checks"].as_array().unwrap();
        let results: Vec<&Value> = checks.iter().map(|check| &check["result"]).collect();
        assert_eq!(results, ["pass", "fail", "pass", "pass", "pass", "pass", "fail"], "{}", result.text());
        assert_eq!(checks[0]["evidence"]["matched"], json!([id]));
        let phrases: Vec<(&Value, &Value)> = checks[0]["evidence"]["phraseResults"].as_array().unwrap().iter().map(|one| (&one["phrase"], &one["found"])).collect();
        assert_eq!(phrases, [(&json!("Maria Hernandez"), &json!(true)), (&json!(["MRN 00412", "MRN-00412"]), &json!(true)), (&json!("draft"), &json!(false))]);
        assert_eq!(checks[1]["evidence"]["matched"], json!([]));
        assert_eq!(checks[1]["evidence"]["phraseResults"][0]["found"], json!(false));
        let unexpected = &checks[6]["evidence"]["unexpected"][0];
        assert_eq!((&unexpected["resource"], &unexpected["change"]), (&json!(format!("fax/{CLINIC}")), &json!("send")));
        // Scoring again from the stored evidence gives the same result.
        let again = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
        assert_eq!(again["score"], result["score"]);
        line.get("/faxes").await.expect_error(409, "CONFLICT");
    }

    async fn a_scan_is_read_by_ocr_once_and_scored(server: TestServer) {
        let criteria = [says(json!({"contains": ["Maria Hernandez", "palpitations", "Metoprolol"]}))];
        let (_, agent, started) = begun(&server, json!({}), json!([]), &criteria).await;
        let line = line_of(&agent, &started);
        let mut truth = String::new();
        let mut is_read = true;
        for (name, change) in [("text layer", json!({})), ("image-only PDF", json!({"text_layer": false})),
            ("crooked scan", json!({"look": "scanned", "text_layer": false})), ("G4 TIFF", json!({"format": "tiff"}))] {
            let sent = line.upload(CLINIC, "referral", &rendered(change)).await.expect(201);
            let text = line.get(&format!("/faxes/{}/text", sent.id())).await.expect(200);
            if sent["ocr_status"] == "unavailable" {
                assert_eq!(text["text"], Value::Null);
                eprintln!("{name}: no OCR on this machine");
                is_read = false;
                continue;
            }
            let expected = if name == "text layer" { ("not_needed", "text_layer") } else { ("done", "ocr") };
            assert_eq!((&text["ocr_status"], &text["pages"][0]["source"]), (&json!(expected.0), &json!(expected.1)), "{name}");
            if name == "text layer" {
                truth = text["text"].as_str().unwrap().to_owned();
                let written = referral(json!({})).text();
                let lost: Vec<&str> = written.split_whitespace().filter(|word| !truth.contains(word)).collect();
                assert!(lost.is_empty(), "{lost:?} in {truth}");
            }
            let rate = word_error_rate(&truth, text["text"].as_str().unwrap());
            eprintln!("{name}: word error rate {:.1} %", rate * 100.0);
            assert!(rate <= if name == "text layer" { 0.0 } else { 0.25 }, "{name}: {rate} {}", text["text"]);
        }
        let result = agent.complete(0).await.expect(200);
        assert_eq!(result["score"], json!(1.0), "{}", result.text());
        let expected = if is_read { 4 } else { 1 };
        assert_eq!(result["checks"][0]["evidence"]["matched"].as_array().unwrap().len(), expected, "{}", result.text());
    }

    async fn a_document_can_be_sent_by_reference_to_the_playground(server: TestServer) {
        let (_, agent, started) = begun(&server, json!({}), json!([]), &[]).await;
        let line = line_of(&agent, &started);
        let document = pdf("From the file drop");
        let files = started["endpoints"]["files"].as_str().unwrap();
        agent.caller.put_bytes(&format!("{files}/outbox/letter.pdf"), "application/pdf", document.clone()).await.expect(201);
        let data = STANDARD.encode(pdf("From the record"));
        let write = async |path: &str, resource: Value| agent.fhir(Method::PUT, path, Some(resource)).await.expect(201);
        write("Binary/b1", json!({"resourceType": "Binary", "id": "b1", "contentType": "application/pdf", "data": data})).await;
        let reference = |id: &str, attachment: Value| json!({"resourceType": "DocumentReference", "id": id, "status": "current", "content": [{"attachment": attachment}]});
        write("DocumentReference/d1", reference("d1", json!({"data": data}))).await;
        write("DocumentReference/d2", reference("d2", json!({"url": "Binary/b1"}))).await;
        write("DocumentReference/d3", reference("d3", json!({"url": "http://127.0.0.1:1/letter.pdf"}))).await;
        for (from, words) in [("files/outbox/letter.pdf", "From the file drop"), ("Binary/b1", "From the record"),
            ("DocumentReference/d1", "From the record"), ("DocumentReference/d2", "From the record")] {
            let sent = line.send(json!({"to_number": CLINIC, "content_reference": from})).await.expect(201);
            assert_eq!((&sent["status"], &sent["content_reference"]), (&json!("sent"), &json!(from)));
            assert_eq!(line.get(&format!("/faxes/{}/text", sent.id())).await.expect(200)["text"], words, "{from}");
        }
        for from in ["files/outbox/none.pdf", "files/../../etc/passwd", "files/outbox", "Binary/none", "Binary/b1/../b1", "DocumentReference/d3",
            "Patient/p1", "http://127.0.0.1/x", "", "files/"] {
            let refused = line.send(json!({"to_number": CLINIC, "content_reference": from})).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), ["content_reference"], "{from}");
        }
        assert_eq!(line.get("/faxes").await.expect(200).data().len(), 4);
    }

    async fn a_busy_line_is_retried(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let config = json!({"retries": {"count": 2, "after_seconds": 60}, "outcomes": [
            {"number": "+15550100198", "status": "sent", "failing_attempts": 1, "reason": "busy", "delay_seconds": 30},
            {"number": "+15550100199", "status": "failed", "reason": "no_answer", "delay_seconds": 30}]});
        let line = Line::open(&server.organization("Acme").await, config).await;
        let (reached, lost) = (line.upload("+15550100198", "a", &pdf("x")).await.expect(201).id(), line.upload("+15550100199", "a", &pdf("x")).await.expect(201).id());
        let told = async |id: &str| {
            let fax = line.get(&format!("/faxes/{id}")).await.expect(200).json;
            (fax["status"].as_str().unwrap().to_owned(), fax["attempts"].as_i64().unwrap(), fax["reason"].as_str().unwrap_or_default().to_owned())
        };
        let is = |status: &str, attempts: i64, reason: &str| (status.to_owned(), attempts, reason.to_owned());
        assert_eq!(told(&reached).await, is("queued", 0, ""));
        server.clock.advance(30_000);
        assert_eq!((told(&reached).await, told(&lost).await), (is("queued", 1, "busy"), is("queued", 1, "no_answer")));
        server.clock.advance(89_999);
        assert_eq!(told(&reached).await, is("queued", 1, "busy"));
        // Without any read for an hour, every attempt still happened at its own time.
        server.clock.advance(3_600_000);
        assert_eq!((told(&reached).await, told(&lost).await), (is("sent", 2, ""), is("failed", 3, "no_answer")));
        let path = line.path.replace("/fax", "/events?type=fax_status");
        let events = line.caller.get(&path).await.expect(200);
        let statuses: Vec<&str> = events.data().iter().map(|event| event["payload"]["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["queued", "queued", "sent", "queued", "failed"]);
    }

    async fn faxes_arrive_and_are_read(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let arrives = |change: Value, after: u64| json!({"do": "fax_inbound", "from_number": "+15550100142", "document": serde_json::to_value(referral(change).json()).unwrap(), "after_seconds": after});
        let steps = json!([arrives(json!({}), 0), arrives(json!({"text_layer": false, "signature": "missing"}), 0), arrives(json!({"format": "tiff"}), 60)]);
        let (author, agent, started) = begun(&server, json!({}), steps, &[]).await;
        let line = line_of(&agent, &started);
        assert_eq!(line.get("/inbox").await.expect(200).data().len(), 2);
        server.clock.advance(60_000);
        let inbox = line.get("/inbox?read=false&from_number=(555)010-0142").await.expect(200);
        let kinds: Vec<&Value> = inbox.data().iter().map(|fax| &fax["content_type"]).collect();
        assert_eq!(kinds, ["image/tiff", "application/pdf", "application/pdf"]);
        for fax in inbox.data() {
            let path = format!("/inbox/{}", fax["id"].as_str().unwrap());
            let bytes = line.get(&format!("{path}/document")).await.expect(200).body;
            assert_eq!(bytes.len() as u64, fax["size"].as_u64().unwrap());
            assert!(line.get(&format!("{path}/pages/1.png")).await.expect(200).body.starts_with(b"\x89PNG"));
            assert!(fax.get("base64").is_none() && fax.get("document").is_none() && fax.get("text").is_none());
        }
        // OCR reads a scan once, when its text is first requested.
        let scan = format!("/inbox/{}", inbox.data()[1]["id"].as_str().unwrap());
        assert_eq!(line.get(&scan).await.expect(200)["ocr_status"], "on_request");
        let text = line.get(&format!("{scan}/text")).await.expect(200);
        assert_eq!(line.get(&format!("{scan}/text")).await.expect(200).json, text.json);
        assert_eq!(line.get(&scan).await.expect(200)["ocr_status"], text["ocr_status"]);
        assert!(["done", "unavailable"].contains(&text["ocr_status"].as_str().unwrap()), "{}", text.text());
        // Getting a fax does not mark it as read.
        assert_eq!(line.get(&scan).await.expect(200)["read"], json!(false));
        let marked = line.caller.patch(&format!("{}{scan}", line.path), json!({"read": true})).await.expect(200);
        assert_eq!(marked["read"], json!(true));
        assert_eq!(line.get("/inbox?read=true").await.expect(200).data().len(), 1);
        line.caller.patch(&format!("{}{scan}", line.path), json!({"read": "yes"})).await.expect_error(400, "VALIDATION_ERROR");
        line.get(&scan.replace("inbox", "faxes")).await.expect_error(404, "NOT_FOUND");
        // The same at the organization's own address, and nowhere else.
        let sandbox = started["sandboxes"].as_array().unwrap().iter().find(|one| one["type"] == "Fax").unwrap()["id"].as_str().unwrap();
        assert_eq!(author.get(&format!("/sandboxes/{sandbox}/fax/inbox")).await.expect(200).data().len(), 3);
        assert_eq!(author.get(&format!("/services/{sandbox}/fax/inbox")).await.expect(200).data().len(), 3);
        server.organization("Other").await.get(&format!("/sandboxes/{sandbox}/fax/inbox")).await.expect_error(404, "NOT_FOUND");
    }

    async fn two_lines_of_a_playground_reach_each_other(server: TestServer) {
        let author = server.organization("Acme").await;
        let line = Line::open(&author, json!({"fax_number": "555 010 0100"})).await;
        let sandbox = author.get(&line.path.replace("/fax", "")).await.expect(200);
        assert_eq!(sandbox["credentials"]["fax_number"], "+15550100100");
        let simulator = author.post("/simulators", json!({"type": "Fax", "name": "Other line"})).await.expect(201).id();
        let beside = json!({"simulator_id": simulator, "playground_id": sandbox["own_playground_id"]});
        let beside = author.post("/sandboxes", beside).await.expect(201);
        let number = beside["credentials"]["fax_number"].as_str().unwrap();
        let sent = line.upload(number, "a.pdf", &pdf("To the other clinic")).await.expect(201);
        let path = format!("/sandboxes/{}/fax/inbox", beside.id());
        let arrived = author.get(&path).await.expect(200).data()[0].clone();
        assert_eq!((&arrived["from_number"], &arrived["sha256"]), (&json!("+15550100100"), &sent["sha256"]));
        let text = author.get(&format!("{path}/{}/text", arrived["id"].as_str().unwrap())).await.expect(200);
        assert_eq!(text["text"], "To the other clinic");
        assert!(line.get("/inbox").await.expect(200).data().is_empty());
    }

    async fn invalid_sends_are_rejected_and_change_nothing(server: TestServer) {
        let line = Line::open(&server.organization("Acme").await, json!({})).await;
        let base64 = STANDARD.encode(pdf("x"));
        for (fax, fields) in [
            (json!({"base64": base64}), vec!["to_number"]),
            (json!({"to_number": CLINIC}), vec!["base64"]),
            (json!({"to_number": "911", "base64": base64}), vec!["to_number"]),
            (json!({"to_number": "555-0100", "base64": base64}), vec!["to_number"]),
            (json!({"to_number": "the clinic", "base64": base64, "subject": "a\u{7}b"}), vec!["subject", "to_number"]),
            (json!({"to_number": CLINIC, "base64": "?"}), vec!["base64"]),
            (json!({"to_number": CLINIC, "base64": ""}), vec!["document"]),
            (json!({"to_number": CLINIC, "base64": STANDARD.encode("hello")}), vec!["document"]),
            (json!({"to_number": CLINIC, "base64": STANDARD.encode(b"\x89PNG\r\n\x1a\n")}), vec!["document"]),
            (json!({"to_number": CLINIC, "base64": base64, "content_reference": "files/a.pdf"}), vec!["content_reference"]),
            (json!({"to_number": CLINIC, "base64": base64, "status": "sent"}), vec!["status"]),
        ] {
            let refused = line.send(fax.clone()).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), fields, "{fax}");
        }
        let document = pdf("x");
        for (fields, files, faulty) in [
            (vec![("to_number", CLINIC)], vec![], "document"),
            (vec![], vec![("a.pdf", &document[..])], "to_number"),
            (vec![("to_number", CLINIC)], vec![("a.pdf", &document[..]), ("b.pdf", &document[..])], "document"),
            (vec![("to_number", CLINIC), ("from_number", CLINIC)], vec![("a.pdf", &document[..])], "from_number"),
        ] {
            let (kind, body) = form(&fields, &files);
            let path = format!("{}/faxes", line.path);
            let refused = line.caller.send_bytes(Method::POST, &path, &[], Some((&kind, body))).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), [faulty]);
        }
        for query in ["?status=lost", "?limit=0", "?to=1"] {
            line.get(&format!("/faxes{query}")).await.expect_error(400, "VALIDATION_ERROR");
        }
        line.get("/inbox?read=maybe").await.expect_error(400, "VALIDATION_ERROR");
        assert!(line.get("/faxes").await.expect(200).data().is_empty());
        // A retry with the same idempotency key is one fax; another body with that key is rejected.
        let once = [("idempotency-key", "a")];
        let path = format!("{}/faxes", line.path);
        let fax = |words: &str| Some(json!({"to_number": CLINIC, "base64": STANDARD.encode(pdf(words))}));
        let first = line.caller.send(Method::POST, &path, &once, fax("once")).await.expect(201);
        let again = line.caller.send(Method::POST, &path, &once, fax("once")).await.expect(201);
        assert_eq!((first.json.clone(), again.header("idempotent-replayed")), (again.json.clone(), Some("true")));
        assert!(first.header("location").unwrap().ends_with(&format!("/fax/faxes/{}", first.id())));
        line.caller.send(Method::POST, &path, &once, fax("other")).await.expect_error(409, "CONFLICT");
        assert_eq!(line.get("/faxes").await.expect(200).data().len(), 1);
        for page in ["0.png", "2.png", "1.gif", "-1", "1.png.png", "99999"] {
            line.get(&format!("/faxes/{}/pages/{page}", first.id())).await.expect_error(404, "NOT_FOUND");
        }
    }
}
