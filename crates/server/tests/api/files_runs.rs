//! Files in a run: files of the scenario, at the start and later, files of the agent, and the check that reads them.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, solver};
use testkit::{Caller, TestResponse, TestServer, both_databases};

both_databases! {
    async fn the_check_reads_the_files_of_the_agent(server: TestServer) {
        let hl7 = "MSH|^~\\&|A|B|C|D|20260101||ADT^A01|1|P|2.5\rPID|1||12345^^^MRN||Stone^Ada\r";
        let x12 = concat!(
            "ISA*00*          *00*          *ZZ*A              *ZZ*B              *260101*1200*^*00501*000000001*0*T*:~",
            "GS*HB*A*B*20260101*1200*1*X*005010X279A1~ST*271*0001*005010X279A1~BHT*0022*11*1*20260101*1200~",
            "HL*1**20*1~NM1*PR*2*PAYER*****PI*1~EB*1~SE*6*0001~GE*1*1~IEA*1*000000001~",
        );
        let criteria = [
            wants(json!({"path": "outbox/returns/*.json", "fields": [{"path": "reason", "expected": "missing_signature"}], "count": 1})),
            wants(json!({"path": "outbox/list.csv", "parse": "csv", "fields": [{"path": "[mrn=7].status", "expected": "ok"}]})),
            wants(json!({"path": "outbox/note.txt", "contains": ["approved"]})),
            wants(json!({"path": "outbox/*.hl7", "parse": "hl7", "fields": [{"path": "PID.3.1", "expected": "12345"}]})),
            wants(json!({"path": "outbox/*.edi", "parse": "x12", "fields": [{"path": "EB.1", "expected": "1"}]})),
            wants(json!({"path": "outbox/letter.pdf", "parse": "pdf", "contains": ["palpitations for two weeks"]})),
            wants(json!({"path": "inbox/**", "count": 0})),
            wants(json!({"path": "given/*.txt", "contains": ["from the dataset"]})),
            json!({"label": "Nothing else", "assertion": {"assert": "no-side-effects", "allow": ["files/outbox/**", "files/inbox/*:delete"]}}),
        ];
        let agent = begin(&server, json!({"name": "Return", "scenario": {"steps": [
            {"do": "drop_file_inbox", "path": "inbox/referral.txt", "content": "Referral without a signature"},
            {"do": "drop_file_inbox", "path": "inbox/letter.pdf", "document": {"title": "Referral",
                "sections": [{"text": "Palpitations for two weeks."}]}},
        ]}}), &criteria).await;
        let started = agent.start(0).await.expect(200);
        let endpoints = &started["endpoints"];
        assert!(endpoints["files"].as_str().unwrap().ends_with("/sandbox/files"), "{endpoints}");
        assert!(endpoints["files_inbox"].as_str().unwrap().ends_with("/sandbox/files/inbox"), "{endpoints}");
        let inbox = ask(&agent, Method::GET, "inbox", None).await.expect(200);
        assert_eq!((&inbox.json[0]["path"], &inbox.json[1]["path"]), (&json!("inbox/letter.pdf"), &json!("inbox/referral.txt")));
        let letter = ask(&agent, Method::GET, "inbox/letter.pdf", None).await.expect(200);
        assert!(letter.body.starts_with(b"%PDF-") && inbox.json[0]["size"] == letter.body.len());
        let copied = format!("/v1/benchmark-runs/{}/files/outbox/letter.pdf", agent.run);
        agent.caller.put_bytes(&copied, "application/pdf", letter.body).await.expect(201);
        let referral = ask(&agent, Method::GET, "inbox/referral.txt", None).await.expect(200);
        assert_eq!(referral.text(), "Referral without a signature");
        for (path, text) in [
            ("outbox/returns/1.json", r#"{"reason": "missing_signature"}"#),
            ("outbox/list.csv", "\u{feff}mrn,status\n7,ok\n"),
            ("outbox/note.txt", "The request was APPROVED."),
            ("outbox/m.hl7", hl7),
            ("outbox/e.edi", x12),
        ] {
            ask(&agent, Method::PUT, path, Some(text)).await.expect(201);
        }
        for path in ["inbox/referral.txt", "inbox/letter.pdf"] {
            ask(&agent, Method::DELETE, path, None).await.expect(204);
        }
        let result = agent.complete(0).await.expect(200).json;
        assert_eq!(result["score"], json!(1.0), "{result:#}");
        // Scoring again gives the same result.
        let rescored = server_author(&agent, &server, &result).await;
        assert_eq!(rescored["identical"], true, "{rescored:#}");
    }

    async fn missing_or_wrong_files_fail(server: TestServer) {
        let criteria = [
            wants(json!({"path": "outbox/*.json", "fields": [{"path": "reason", "expected": "x"}]})),
            wants(json!({"path": "outbox/bad.json", "parse": "json"})),
            wants(json!({"path": "outbox/binary", "contains": ["x"]})),
            wants(json!({"path": "outbox/none"})),
            wants(json!({"path": "outbox/empty", "contains": ["x"]})),
        ];
        let agent = begin(&server, json!({"name": "Nothing"}), &criteria).await;
        agent.start(0).await.expect(200);
        ask(&agent, Method::PUT, "outbox/bad.json", Some("{\"reason\": \"x\"")).await.expect(201);
        ask(&agent, Method::PUT, "outbox/binary", Some("x\0x")).await.expect(201);
        ask(&agent, Method::PUT, "outbox/empty", Some("")).await.expect(201);
        let result = agent.complete(0).await.expect(200).json;
        assert_eq!(result["score"], json!(0.0), "{result:#}");
    }

    async fn later_drops_appear_when_they_are_due(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let agent = begin(&server, json!({"name": "Wait", "timeout": 600, "scenario": {"steps": [
            {"do": "drop_file_inbox", "path": "inbox/now.txt", "content": "now"},
            {"do": "drop_file_inbox", "path": "inbox/later.pdf", "base64": "JVBERi0xLjQAAQ==", "after_seconds": 60},
            {"do": "drop_file_inbox", "path": "inbox/given.txt", "dataset_file": "given/a.txt", "after_seconds": 60},
            {"do": "file_delete", "path": "inbox/now.txt", "after_seconds": 120},
            {"do": "file_delete", "path": "given/a.txt", "after_seconds": 120},
        ]}}), &[wants(json!({"path": "inbox/later.pdf"}))]).await;
        agent.start(0).await.expect(200);
        assert_eq!(inbox(&agent).await, ["inbox/now.txt"]);
        server.clock.advance(60_000);
        assert_eq!(inbox(&agent).await, ["inbox/given.txt", "inbox/later.pdf", "inbox/now.txt"]);
        assert_eq!(ask(&agent, Method::GET, "inbox/later.pdf", None).await.expect(200).body, b"%PDF-1.4\0\x01");
        assert_eq!(ask(&agent, Method::GET, "inbox/given.txt", None).await.expect(200).text(), "from the dataset");
        server.clock.advance(60_000);
        assert_eq!(inbox(&agent).await, ["inbox/given.txt", "inbox/later.pdf"]);
        ask(&agent, Method::GET, "given/a.txt", None).await.expect_error(404, "NOT_FOUND");
        assert_eq!(agent.complete(0).await.expect(200)["score"], json!(1.0));
        ask(&agent, Method::PUT, "outbox/late", Some("x")).await.expect_error(409, "CONFLICT");
    }

    async fn two_nodes_share_one_file_tree(server: TestServer) {
        let agent = begin(&server, json!({"name": "Share"}), &[wants(json!({"path": "outbox/b", "contains": ["second"]}))]).await;
        agent.start(0).await.expect(200);
        if server.database().kind() == testkit::Database::Postgres {
            let other = server.another_node().await;
            let there = Agent { caller: other.caller(agent.caller.key()), run: agent.run.clone(), created: agent.created.clone(), task_runs: agent.task_runs.clone() };
            ask(&agent, Method::PUT, "outbox/a", Some("first")).await.expect(201);
            assert_eq!(ask(&there, Method::GET, "outbox/a", None).await.expect(200).text(), "first");
            ask(&there, Method::PUT, "outbox/b", Some("second")).await.expect(201);
        } else {
            ask(&agent, Method::PUT, "outbox/b", Some("second")).await.expect(201);
        }
        assert_eq!(agent.complete(0).await.expect(200)["score"], json!(1.0));
    }
}

fn wants(specification: Value) -> Value {
    let mut assertion = specification;
    assertion["assert"] = json!("sftp-file-present");
    json!({"label": assertion["path"], "assertion": assertion})
}

/// A run of one task in a file drop over a dataset.
async fn begin(server: &TestServer, task: Value, criteria: &[Value]) -> Agent {
    let author = server.organization("Acme").await;
    let dataset = author.post("/datasets", json!({"name": "Files", "type": "files"})).await.expect(201).id();
    let path = format!("/datasets/{dataset}/files/given/a.txt");
    author.put_bytes(&path, "text/plain", "from the dataset").await.expect(200);
    let simulator = author.post("/simulators", json!({"type": "Sftp", "name": "Drop"})).await.expect(201).id();
    let environment = author.post("/environments", json!({"name": "Clinic"})).await.expect(201).id();
    for path in [
        format!("/simulators/{simulator}/datasets/{dataset}"),
        format!("/environments/{environment}/simulators/{simulator}"),
    ] {
        author.send(Method::POST, &path, &[], None).await.expect(200);
    }
    let benchmark = json!({"name": "Returns", "environment_id": environment});
    let benchmark = author.post("/benchmarks", benchmark).await.expect(201).id();
    let mut task = task;
    task["benchmark_id"] = json!(benchmark);
    let task = author.post("/tasks", task).await.expect(201).id();
    for criterion in criteria {
        let mut criterion = criterion.clone();
        criterion["task_id"] = json!(task);
        author.post("/criteria", criterion).await.expect(201);
    }
    let version = author.post(&format!("/benchmarks/{benchmark}/publish"), json!({})).await.expect(201).json;
    let reference = format!("{}@{}", version["slug"].as_str().unwrap(), version["version"]);
    let solver = solver(server, &author, "agent-1").await;
    let mut agent = Agent::begin(server, &solver, &reference, true).await;
    agent.created["author"] = json!(author.key());
    agent
}

async fn ask(agent: &Agent, method: Method, path: &str, text: Option<&str>) -> TestResponse {
    let body = text.map(|text| ("", text.as_bytes().to_vec()));
    let path = format!("/v1/benchmark-runs/{}/files/{path}", agent.run);
    agent.caller.send_bytes(method, &path, &[], body).await
}

async fn inbox(agent: &Agent) -> Vec<String> {
    let listed = ask(agent, Method::GET, "inbox", None).await.expect(200).json;
    listed.as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap().to_owned()).collect()
}

async fn server_author(agent: &Agent, server: &TestServer, _: &Value) -> Value {
    let author: Caller = server.caller(agent.created["author"].as_str().unwrap());
    author.post(&format!("/benchmark-runs/{}/rescore", agent.run), json!({})).await.expect(200).json
}
