//! The playground of a task run: its organization may read and use it, but not reset, end or change it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, solver, wants_code};
use testkit::world::voice_sandbox;
use testkit::{Caller, TestServer, both_databases};

use crate::voice_kit::Socket;

both_databases! {
    async fn the_playground_of_a_task_run_cannot_be_reset_ended_or_changed(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Only", &[wants_code("a")]).await;
        let agent = bench.begin(&server).await;
        let started = agent.start(0).await.expect(200).json;
        let sandbox = started["sandboxes"][0]["id"].as_str().unwrap();
        let task_run = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
        let playground = task_run["playground_id"].as_str().unwrap();
        agent.write(basic("a")).await.expect(201);
        let environment = author.get(&format!("/environments/{}", bench.environment)).await.expect(200);
        let simulator = environment["simulators"][0]["id"].clone();
        let more = author.post("/datasets", json!({"name": "More", "type": "fhir"})).await.expect(201).id();
        author
            .put_bytes(
                &format!("/datasets/{more}/data"),
                "application/fhir+ndjson",
                "{\"resourceType\":\"Patient\",\"id\":\"more\"}\n",
            )
            .await
            .expect(200);
        let attempts = [
            (Method::POST, format!("/playgrounds/{playground}/reset"), None),
            (Method::POST, format!("/playgrounds/{playground}/teardown"), None),
            (Method::POST, format!("/sandboxes/{sandbox}/teardown"), None),
            (Method::POST, format!("/sandboxes/{sandbox}/datasets/{more}"), None),
            (Method::DELETE, format!("/sandboxes/{sandbox}/datasets/{}", bench.dataset), None),
            (
                Method::POST,
                "/sandboxes".to_owned(),
                Some(json!({"simulator_id": simulator, "playground_id": playground})),
            ),
        ];
        for (method, path, body) in &attempts {
            let refused = author.send(method.clone(), path, &[], body.clone()).await.expect_error(409, "CONFLICT");
            assert!(refused.message().contains(&agent.task_runs[0]), "{}: {}", refused.request, refused.message());
        }
        assert_eq!(agent.fhir(Method::GET, "Patient?_summary=count", None).await.expect(200)["total"], 3);
        let shown = author.get(&format!("/playgrounds/{playground}")).await.expect(200);
        assert_eq!(
            (&shown["task_run_id"], shown["sandboxes"].as_array().unwrap().len()),
            (&json!(agent.task_runs[0]), 1)
        );
        assert_eq!(agent.complete(0).await.expect(200)["score"], json!(1.0));
        for (method, path, body) in &attempts {
            author.send(method.clone(), path, &[], body.clone()).await.expect_error(409, "CONFLICT");
        }
        let rescored = author.post(&format!("/benchmark-runs/{}/rescore", agent.run), json!({})).await.expect(200);
        assert_eq!(rescored["identical"], true);
    }

    async fn events_state_and_differences_stay_readable_after_the_end(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Only", &[wants_code("a")]).await;
        let agent = bench.begin(&server).await;
        let started = agent.start(0).await.expect(200).json;
        let sandbox = format!("/sandboxes/{}", started["sandboxes"][0]["id"].as_str().unwrap());
        agent.fhir(Method::GET, "Patient/p1", None).await.expect(200);
        agent.write(basic("a")).await.expect(201);
        agent.fhir(Method::DELETE, "Patient/p3", None).await.expect(204);
        agent.complete(0).await.expect(200);
        let events = author.get(&format!("{sandbox}/events?limit=100")).await.expect(200);
        assert_eq!(events.data().len(), 3);
        for event in events.data() {
            assert_eq!(event["actor"], agent.run, "the run is named, never its token");
        }
        assert!(!events.text().contains("vrl_run_"));
        let state = author.get(&format!("{sandbox}/state?resource=Patient")).await.expect(200);
        assert_eq!(state.data().len(), 2);
        let diff = author.get(&format!("{sandbox}/diff")).await.expect(200);
        assert_eq!(diff.data().len(), 2, "{}", diff.text());
    }

    async fn every_task_run_has_its_playground_when_the_run_is_created(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        hl7(&author, &bench.environment, "Lab", json!({})).await;
        bench.task("First", &[wants_code("a")]).await;
        bench.task("Second", &[wants_code("a")]).await;
        let agent =
            Agent::begin(&server, &solver(&server, &author, "agent-1").await, &bench.publish().await, true).await;
        let listed = agent.created["sandboxes"].as_array().unwrap();
        assert_eq!(listed.len(), 4, "one for each simulator and task run: {listed:?}");
        for (task_run, sandboxes) in agent.created["task_runs"].as_array().unwrap().iter().zip(listed.chunks(2)) {
            assert!(sandboxes.iter().all(|sandbox| sandbox["task_run_id"] == task_run["id"]));
            let playground = author.get(&format!("/playgrounds/{}", text(&task_run["playground_id"]))).await.expect(200);
            assert_eq!((&playground["status"], &playground["task_run_id"]), (&json!("provisioning"), &task_run["id"]));
            let (known, of_run) = (&playground["sandboxes"][0], &sandboxes[0]);
            assert_eq!((&known["id"], &known["status"]), (&of_run["id"], &json!("provisioning")));
            assert_eq!(known["credentials"]["client_secret"], of_run["credentials"]["client_secret"]);
        }
        // They accept no requests yet, whatever credential is used.
        let sandbox = text(&listed[0]["id"]);
        let task_run = &agent.task_runs[0];
        assert!(listed[1]["credentials"].get("mllp_port").is_none(), "no port is open");
        agent.fhir(Method::GET, "Patient/p1", None).await.expect(409);
        author.get(&format!("/sandboxes/{sandbox}/fhir/Patient/p1")).await.expect(409);
        author.get(&format!("/sandboxes/{sandbox}/state")).await.expect_error(409, "CONFLICT");
        assert!(author.get(&format!("/sandboxes/{sandbox}/events")).await.expect(200).data().is_empty());
        let playground = text(&agent.created["task_runs"][0]["playground_id"]);
        for path in [format!("/playgrounds/{playground}/reset"), format!("/playgrounds/{playground}/teardown")] {
            let refused = author.send(Method::POST, &path, &[], None).await.expect_error(409, "CONFLICT");
            assert!(refused.message().contains(task_run.as_str()), "{}", refused.message());
        }
        // Starting opens the existing playground.
        let started = agent.start(0).await.expect(200);
        assert_eq!(started["sandboxes"][0]["id"], listed[0]["id"]);
        assert_eq!(started["sandboxes"][0]["credentials"], listed[0]["credentials"]);
        assert!(started["sandboxes"][1]["credentials"]["mllp_port"].is_string());
        let opened = author.get(&format!("/playgrounds/{playground}")).await.expect(200);
        assert_eq!((&opened["status"], opened["sandboxes"].as_array().unwrap().len()), (&json!("active"), 2));
        agent.write(basic("a")).await.expect(201);
        assert_eq!(agent.complete(0).await.expect(200)["score"], json!(1.0));
        assert_eq!(author.get("/playgrounds").await.expect(200).data().len(), 2, "no others were made");
    }

    async fn playgrounds_of_tasks_that_were_not_started_end_with_the_run(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("First", &[wants_code("a")]).await;
        bench.task("Second", &[wants_code("a")]).await;
        let agent = bench.begin(&server).await;
        author.send(Method::POST, &format!("/task-runs/{}/cancel", agent.task_runs[0]), &[], None).await.expect(200);
        author.send(Method::POST, &format!("/benchmark-runs/{}/cancel", agent.run), &[], None).await.expect(200);
        for task_run in agent.created["task_runs"].as_array().unwrap() {
            let path = format!("/playgrounds/{}", text(&task_run["playground_id"]));
            let playground = author.get(&path).await.expect(200);
            assert_eq!((&playground["status"], &playground["sandboxes"][0]["status"]), (&json!("teardown"), &json!("teardown")));
            assert_eq!(playground["sandboxes"][0]["credentials"], json!({}));
        }
    }

    async fn a_run_of_an_older_server_is_started_without_provisioned_playgrounds(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Only", &[wants_code("a")]).await;
        let agent = bench.begin(&server).await;
        server.database().execute("update task_runs set playground_id = null");
        server.database().execute("delete from sandboxes");
        server.database().execute("delete from playgrounds");
        assert_eq!(agent.read().await["task_runs"][0]["playground_id"], Value::Null);
        assert_eq!(agent.do_task(0, &["a"]).await["score"], json!(1.0));
        let task_run = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
        assert!(task_run["playground_id"].is_string());
    }

    async fn the_result_of_an_agent_stays_readable_and_read_only(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        for (kind, name) in [("Message", "Texts"), ("Files", "Drop"), ("Fax", "Fax"), ("Payer", "Portal"), ("Voice", "Line")] {
            simulator(&author, &bench.environment, kind, name, json!({})).await;
        }
        bench.task("Only", &[wants_code("a")]).await;
        let agent = bench.begin(&server).await;
        let started = agent.start(0).await.expect(200);
        let below = format!("/v1/benchmark-runs/{}", agent.run);
        let id = |kind: &str| {
            let all = started["sandboxes"].as_array().unwrap();
            text(&all.iter().find(|sandbox| sandbox["type"] == kind).unwrap()["id"])
        };
        let written = text(&agent.write(basic("a")).await.expect(201)["id"]);
        let message = json!({"channel": "sms", "patient_id": "p1", "to": "+15550100123", "body": "See you"});
        let message = text(&agent.caller.post(&format!("{below}/messages"), message).await.expect(201)["id"]);
        agent.caller.put_bytes(&format!("{below}/files/outbox/a.txt"), "text/plain", "done").await;
        agent.complete(0).await.expect(200);
        let fhir = format!("/sandboxes/{}/fhir", id("Fhir"));
        let events = author.get(&format!("/sandboxes/{}/events?limit=100", id("Fhir"))).await.expect(200).data().len();
        let blobs = blob_count(&server);
        assert_eq!(author.get(&format!("{fhir}/Basic/{written}")).await.expect(200)["code"]["text"], "a");
        assert_eq!(author.get(&format!("{fhir}/Basic?_summary=count")).await.expect(200)["total"], 1);
        let messages = format!("/sandboxes/{}/messages", id("Message"));
        assert_eq!(author.get(&messages).await.expect(200).data().len(), 1);
        assert_eq!(author.get(&format!("{messages}/{message}")).await.expect(200)["body"], "See you");
        author.get(&format!("/sandboxes/{}/files", id("Files"))).await.expect(200);
        author.get(&format!("/sandboxes/{}/faxes", id("Fax"))).await.expect(200);
        // Read-only: others cannot read it, and reads leave no events.
        author.send(Method::DELETE, &format!("{fhir}/Basic/{written}"), &[], None).await.expect(409);
        author.post(&messages, json!({"channel": "sms", "patient_id": "p1", "body": "x"})).await.expect_error(409, "CONFLICT");
        agent.fhir(Method::GET, "Patient/p1", None).await.expect(409);
        // No document is kept for a request that is refused, and no stream opens.
        let (portal, document) = (format!("/sandboxes/{}/portal/prior-auths", id("Payer")), json!({"name": "a.txt", "content": "Late"}));
        let mut request = testkit::world::prior_auth();
        request["documents"] = json!([document]);
        author.post(&portal, request).await.expect_error(409, "CONFLICT");
        author.post(&format!("{portal}/PA-100001/documents"), document).await.expect_error(409, "CONFLICT");
        assert_eq!(blob_count(&server), blobs);
        let voice = format!("/sandboxes/{}/voice", id("Voice"));
        author.get(&format!("{voice}/calls")).await.expect(200);
        for stream in ["stream", "calls/call_1/stream"] {
            assert_eq!(Socket::open(&author, &format!("{voice}/{stream}"), None).await.err(), Some(409), "{stream}");
        }
        let later = author.get(&format!("/sandboxes/{}/events?limit=100", id("Fhir"))).await.expect(200).data().len();
        assert_eq!(later, events);
        let rescored = author.post(&format!("/benchmark-runs/{}/rescore", agent.run), json!({})).await.expect(200);
        assert_eq!(rescored["identical"], true);
    }

    async fn each_of_several_sandboxes_of_a_type_has_its_own_urls(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        for (name, number) in [("Clinic fax", "+15550100001"), ("Pharmacy fax", "+15550100002")] {
            simulator(&author, &bench.environment, "Fax", name, json!({"fax_number": number})).await;
        }
        for (name, number) in [("Clinic line", "+15550100003"), ("Payer line", "+15550100004")] {
            simulator(&author, &bench.environment, "Voice", name, json!({"phone_number": number})).await;
        }
        hl7(&author, &bench.environment, "Lab", json!({})).await;
        hl7(&author, &bench.environment, "Radiology", json!({})).await;
        let sent = |sandbox: &str| json!({"label": sandbox, "assertion": {"assert": "fax-document", "count": 1, "sandbox": sandbox}});
        let hl7_sent = |sandbox: &str, count: u64| json!({"label": format!("{sandbox} {count}"),
            "assertion": {"assert": "hl7-structural", "count": count, "sandbox": sandbox}});
        bench.task("Only", &[sent("Pharmacy fax"), hl7_sent("Lab", 0), hl7_sent("Radiology", 1)]).await;
        let agent = bench.begin(&server).await;
        let started = agent.start(0).await.expect(200);
        let named = |name: &str| {
            let all = started["sandboxes"].as_array().unwrap();
            all.iter().find(|sandbox| sandbox["name"] == name).unwrap().clone()
        };
        let pharmacy = named("Pharmacy fax");
        let below = format!("/v1/task-runs/{}/sandbox", agent.task_runs[0]);
        assert_eq!(started["endpoints"]["fax:Pharmacy fax"], format!("{below}/{}/fax", text(&pharmacy["id"])));
        assert_eq!(started["endpoints"]["fax"], format!("{below}/fax"));
        assert!(started["endpoints"].get("fhir:EHR").is_none(), "one of its type has one address");
        // By id and by name.
        let document = json!({"to_number": "+15550100001", "base64": pdf()});
        let fax = agent.caller.post(&format!("{below}/{}/fax/faxes", text(&pharmacy["id"])), document).await.expect(201);
        assert_eq!(fax["from_number"], "+15550100002");
        let arrived = agent.caller.get(&format!("{below}/Clinic%20fax/fax/inbox")).await.expect(200);
        assert_eq!(arrived.data().len(), 1, "the fax reached the other line");
        let adt = "MSH|^~\\&|A|B|C|D|20260101||ADT^A01|1|P|2.5\rEVN||20260101\rPID|1||1\rPV1|1|I\r";
        let radiology = text(&named("Radiology")["credentials"]["outbound_url"]);
        let path = radiology.split_once("/v1/").map(|(_, rest)| format!("/v1/{rest}")).unwrap();
        agent.caller.post(&path, json!({"payload": adt})).await.expect(200);
        // Every line can be dialed from any of them, and the call continues there.
        let calls = format!("{below}/voice/calls");
        let call = agent.caller.post(&calls, json!({"to": "+15550100004"})).await.expect(201);
        assert_eq!(call["call"]["status"], "no_answer", "{}", call.text());
        agent.caller.get(&format!("{calls}/{}", text(&call["call"]["id"]))).await.expect(200);
        let other = agent.caller.get(&format!("{below}/Payer%20line/voice/calls")).await.expect(200);
        assert_eq!(other.data().len(), 1);
        // An Idempotency-Key means one call, whatever line it is for.
        let once = async |to: &str| {
            agent.caller.send(Method::POST, &calls, &[("idempotency-key", "dial-1")], Some(json!({"to": to}))).await
        };
        let dialed = once("+15550100004").await.expect(201);
        assert_eq!(once("+15550100004").await.expect(201)["call"]["id"], dialed["call"]["id"]);
        once("+15550100003").await.expect_error(409, "CONFLICT");
        for missing in ["Nobody", "EHR", "sbx_01K9Z3T5Q8W7N4M2R6V0XBHCDE"] {
            agent.caller.get(&format!("{below}/{missing}/fax/inbox")).await.expect_error(404, "NOT_FOUND");
        }
        let result = agent.complete(0).await.expect(200);
        assert_eq!(result["score"], json!(1.0), "{}", result.text());
    }

    async fn sandboxes_of_one_type_and_name_have_keys_of_their_own(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        for number in ["+15550100001", "+15550100002"] {
            simulator(&author, &bench.environment, "Fax", "Clinic fax", json!({"fax_number": number})).await;
        }
        bench.task("Only", &[wants_code("a")]).await;
        let agent = bench.begin(&server).await;
        let started = agent.start(0).await.expect(200);
        let faxes = started["sandboxes"].as_array().unwrap().iter().filter(|sandbox| sandbox["type"] == "Fax");
        let below = format!("/v1/task-runs/{}/sandbox", agent.task_runs[0]);
        let mut shown = 0;
        for id in faxes.map(|fax| text(&fax["id"])) {
            assert_eq!(started["endpoints"][format!("fax:{id}")], format!("{below}/{id}/fax"));
            shown += 1;
        }
        assert_eq!(shown, 2);
    }

    async fn a_line_that_was_torn_down_is_not_reached_through_another(server: TestServer) {
        let author = server.organization("Acme").await;
        let ivr = json!({"start": "number", "nodes": {"number": {"type": "collect", "prompt": "Enter a number.", "field": "n",
            "kind": "digits", "next": "bye"}, "bye": {"type": "hangup", "prompt": "Goodbye."}}});
        let own = voice_sandbox(&author, json!({"phone_number": "+15550100003"})).await;
        let other = json!({"type": "Voice", "name": "Other", "config": {"phone_number": "+15550100004", "ivr": ivr}});
        let other = author.post("/simulators", other).await.expect(201).id();
        let other = json!({"simulator_id": other, "playground_id": own["own_playground_id"]});
        let other = author.post("/sandboxes", other).await.expect(201).id();
        let calls = format!("/sandboxes/{}/voice/calls", own.id());
        let call = author.post(&calls, json!({"to": "+15550100004"})).await.expect(201);
        let call = format!("{calls}/{}", text(&call["call"]["id"]));
        author.get(&call).await.expect(200);
        author.send(Method::POST, &format!("/sandboxes/{other}/teardown"), &[], None).await.expect(200);
        author.post(&format!("{call}/turns"), json!({"dtmf": "12"})).await.expect_error(404, "NOT_FOUND");
        author.get(&call).await.expect_error(404, "NOT_FOUND");
    }

    async fn a_blob_store_that_fails_is_a_503(server: TestServer) {
        let author = server.organization("Acme").await;
        let simulator = author.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
        let sandbox = author.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201).id();
        let blobs = server.database().directory().join("blobs");
        std::fs::remove_dir_all(&blobs).unwrap();
        std::fs::write(&blobs, "in the way").unwrap();
        let large = basic(&"a".repeat(40_000));
        author.post(&format!("/sandboxes/{sandbox}/fhir/Basic"), large).await.expect(503);
    }

    async fn an_interface_stays_as_strict_as_its_version_was_published(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        hl7(&author, &bench.environment, "Lab", json!({})).await;
        bench.task("Only", &[wants_code("a")]).await;
        let solver = solver(&server, &author, "agent-1").await;
        let reference = bench.publish().await;
        let old = bench.author.patch(&format!("/benchmarks/{}", bench.benchmark), json!({"name": "Second"})).await;
        old.expect(200);
        let second = bench.publish().await;
        // Data of an older server, whose only default was strict.
        let sql = "update benchmark_versions set snapshot = replace(snapshot, '\"strict\":false', '\"version\":null') where version = 2";
        server.database().execute(sql);
        for (version, code) in [(&reference, "AA"), (&second, "AE")] {
            let agent = Agent::begin(&server, &solver, version, false).await;
            agent.start(0).await.expect(200);
            let path = format!("/v1/benchmark-runs/{}/hl7/outbound", agent.run);
            assert_eq!(agent.caller.post(&path, json!({"payload": FAULTY})).await.expect(200)["ack_code"], code, "{version}");
            let content = author.get(&format!("/benchmarks/{version}/content")).await.expect(200);
            let simulators = content["content"]["environment"]["simulators"].as_array().unwrap();
            let lab = simulators.iter().find(|simulator| simulator["name"] == "Lab").unwrap();
            assert_eq!(lab["config"]["strict"], json!(code == "AE"), "{version}");
            agent.complete(0).await.expect(200);
        }
        // A task run that such a server has started, after a restart.
        let agent = Agent::begin(&server, &solver, &second, false).await;
        agent.start(0).await.expect(200);
        server.database().execute("update sandboxes set config = replace(config, '\"strict\":true', '\"version\":null')");
        let other = server.another_node().await;
        let restarted = other.caller(agent.caller.key());
        let path = format!("/v1/benchmark-runs/{}/hl7/outbound", agent.run);
        assert_eq!(restarted.post(&path, json!({"payload": FAULTY})).await.expect(200)["ack_code"], "AE");
    }

    async fn an_assertion_without_a_simulator_gets_a_warning(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        let task = bench.task("Only", &[]).await;
        for (sandbox, warnings) in [("EHR", 0), ("Elsewhere", 1)] {
            let assertion = json!({"assert": "fhir-resource-state", "resource_type": "Basic", "count": 1, "sandbox": sandbox});
            let made = author.post("/criteria", json!({"task_id": task, "label": sandbox, "assertion": assertion})).await.expect(201);
            let found = made["warnings"].as_array().unwrap();
            assert_eq!(found.len(), warnings, "{}", made.text());
            assert!(found.iter().all(|warning| warning.as_str().unwrap().contains("no simulator `Elsewhere`")));
            // The same wherever it is shown.
            let shown = [
                json!([author.get(&format!("/criteria/{}", made.id())).await.expect(200).json]),
                author.get("/criteria").await.expect(200)["data"].clone(),
                author.get(&format!("/tasks/{task}")).await.expect(200)["criteria"].clone(),
                author.get("/tasks").await.expect(200)["data"][0]["criteria"].clone(),
            ];
            for criteria in shown {
                let criterion = criteria.as_array().unwrap().iter().find(|criterion| criterion["id"] == made["id"]);
                assert_eq!(criterion.unwrap()["warnings"], made["warnings"]);
            }
        }
    }
}

/// An ADT^A01 without the PV1 that its structure asks for.
const FAULTY: &str = "MSH|^~\\&|A|B|C|D|20260101||ADT^A01|1|P|2.5\rEVN||20260101\rPID|1||1\r";

fn blob_count(server: &TestServer) -> usize {
    fn files(directory: std::path::PathBuf) -> usize {
        let entries = std::fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path());
        entries.map(|path| if path.is_dir() { files(path) } else { 1 }).sum()
    }
    files(server.database().directory().join("blobs"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

async fn simulator(author: &Caller, environment: &str, kind: &str, name: &str, config: Value) {
    let new = json!({"type": kind, "name": name, "config": config});
    let simulator = author.post("/simulators", new).await.expect(201).id();
    let path = format!("/environments/{environment}/simulators/{simulator}");
    author.send(Method::POST, &path, &[], None).await.expect(200);
}

async fn hl7(author: &Caller, environment: &str, name: &str, config: Value) {
    simulator(author, environment, "Hl7", name, config).await;
}

/// A PDF page with this text.
fn pdf() -> String {
    STANDARD.encode(testkit::world::pdf("Amoxicillin 500 mg"))
}
