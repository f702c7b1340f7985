//! Bad input is a 4xx in the error envelope, and nothing is stored.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::world::patients;
use testkit::{Caller, TestResponse, TestServer, both_databases};

use crate::dice::Dice;
use crate::mutations::{Faulty, faulty_bodies, nested};
use crate::raw;
use crate::surface::{Operation, Surface, Tenant, crawl, is_id};

both_databases! {
    async fn no_operation_accepts_an_invalid_body(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        let before = crawl(&surface, &own.caller, &own).await;
        let mut refused = 0;
        for (operation, schema) in surface.with_json_body() {
            for faulty in faulty_bodies(&surface, operation, &schema, &own) {
                let response = send(&own.caller, operation.method.clone(), &operation.path_of(&own), &faulty).await;
                assert_refused(&response, &faulty);
                refused += 1;
            }
        }
        eprintln!("{refused} faulty bodies were refused");
        assert!(refused >= 1000, "only {refused}");
        assert_eq!(before, crawl(&surface, &own.caller, &own).await);
        for (number, (operation, schema)) in surface.with_json_body().enumerate() {
            let body = surface.sample(&schema, &own, number);
            let response = own.caller.send(operation.method.clone(), &operation.path_of(&own), &[], Some(body)).await;
            let unchanged = response.status == 409 && operation.pattern.ends_with("/publish");
            // A clearinghouse without an EHR in its playground knows no patients.
            let unknown = response.status == 404 && operation.pattern.ends_with("/eligibility");
            assert!([200, 201, 204].contains(&response.status) || unchanged || unknown, "{}: {}", response.request, response.text());
        }
    }

    async fn a_body_with_many_errors_gets_a_short_response(server: TestServer) {
        let own = server.organization("Own").await;
        let unknown: serde_json::Map<String, Value> = (0..50_000).map(|number| (format!("f{number}"), json!(1))).collect();
        let response = own.post("/environments", Value::Object(unknown)).await.expect_error(400, "VALIDATION_ERROR");
        assert!(response.body.len() < 20_000, "{} bytes", response.body.len());
        let tags = vec![""; 50_000];
        let benchmark = own.post("/benchmarks", json!({"name": "x"})).await.expect(201).id();
        let task = json!({"benchmark_id": benchmark, "name": "x", "tags": tags});
        let response = own.post("/tasks", task).await.expect_error(400, "VALIDATION_ERROR");
        assert!(response.body.len() < 20_000, "{} bytes", response.body.len());
    }

    /// Accepted JSON must be readable wherever it is returned, also nested inside other objects.
    async fn the_deepest_accepted_body_can_be_published_and_read(server: TestServer) {
        let own = Tenant::create(&server, "Own", "Private").await;
        let task = format!("/tasks/{}", own.made.task);
        let mut deepest = None;
        for levels in [130, 128, 126, 124, 120, 110, 100, 64, 32] {
            let body = json!({"task_item": nested(levels)});
            let response = own.caller.patch(&task, body).await;
            if response.status == 200 {
                deepest = Some(levels);
                break;
            }
            response.expect_error(400, "BAD_REQUEST");
        }
        let levels = deepest.expect("some depth is taken");
        assert!(levels >= 32);
        let criterion = json!({"assertion": {"assert": "of my own", "expected": nested(levels.min(60))}});
        own.caller.patch(&format!("/criteria/{}", own.made.criterion), criterion).await.expect(200);
        let publish = format!("/benchmarks/{}/publish", own.made.benchmark);
        for _ in 0..2 {
            let key = [("idempotency-key", "publish")];
            own.caller.send(Method::POST, &publish, &key, Some(json!({}))).await.expect(201);
        }
        own.caller.get("/benchmarks/own-intake@2").await.expect(200);
        own.caller.get(&format!("/benchmarks/{}/versions", own.made.benchmark)).await.expect(200);
        own.caller.get("/tasks").await.expect(200);
    }

    async fn every_list_rejects_invalid_page_parameters(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        for operation in surface.internal().filter(|operation| operation.is_list()) {
            let path = operation.path_of(&own);
            for limit in ["0", "-1", "x", "", "1.5", "+5", "1e1", "%00", "0x10"] {
                let response = own.caller.get(&format!("{path}?limit={limit}")).await.expect_error(400, "VALIDATION_ERROR");
                assert!(response["error"]["details"]["limit"].is_array());
            }
            for limit in ["100", "101", "4294967296", "999999999999999999"] {
                let response = own.caller.get(&format!("{path}?limit={limit}")).await.expect(200);
                assert_eq!(response["_meta"]["limit"], 100);
            }
            let endless = own.caller.get(&format!("{path}?limit=9999999999999999999")).await;
            assert!([200, 400].contains(&endless.status), "{}", endless.text());
            for cursor in bad_cursors() {
                own.caller.get(&format!("{path}?cursor={cursor}")).await.expect_error(400, "BAD_REQUEST");
            }
            for query in ["no_such=1", "Limit=1", "limit=1&limit=2", "cursor=&x", "%00=1", "%ff=1"] {
                own.caller.get(&format!("{path}?{query}")).await.expect_error(400, "VALIDATION_ERROR");
            }
        }
    }

    async fn invalid_filters_are_rejected(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        for operation in surface.internal().filter(|operation| operation.method == Method::GET) {
            for filter in operation.query_parameters().into_iter().filter(|name| is_id(name)) {
                for id in ["", "x", "%00", "task_", "bench_01k9z3t5q8w7n4m2r6v0xbhcde", "%27%20or%201=1"] {
                    let path = format!("{}?{filter}={id}", operation.path_of(&own));
                    own.caller.get(&path).await.expect_error(400, "VALIDATION_ERROR");
                }
            }
        }
    }

    async fn an_invalid_idempotency_key_is_rejected(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        let before = crawl(&surface, &own.caller, &own).await;
        let long = "k".repeat(256);
        // Protocols of sandboxes do not use idempotency keys.
        let takes_one = |operation: &&Operation| operation.header_parameters().contains(&"Idempotency-Key");
        for operation in surface.internal().filter(|operation| operation.method == Method::POST).filter(takes_one) {
            let schema = surface.with_json_body().find(|(one, _)| std::ptr::eq(*one, operation)).map(|(_, schema)| schema);
            for key in ["", &long, "k\u{e9}", "a\tb"] {
                let body = schema.as_ref().map(|schema| surface.sample(schema, &own, 1));
                let headers = [("idempotency-key", key)];
                let response = own.caller.send(Method::POST, &operation.path_of(&own), &headers, body).await;
                response.expect_error(400, "BAD_REQUEST");
            }
        }
        assert_eq!(before, crawl(&surface, &own.caller, &own).await);
    }

    async fn file_paths_have_one_spelling(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        let before = crawl(&surface, &own.caller, &own).await;
        for path in bad_paths() {
            let target = format!("/datasets/{}/files/{path}", own.made.files_dataset);
            for method in ["PUT", "GET", "DELETE"] {
                let (status, body) = raw::request(&server, own.caller.key(), method, &target, b"x").await;
                assert!([400, 404, 405].contains(&status), "{method} {path}: {status} {body}");
                let body: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{method} {path}: {body}"));
                assert!(body["error"]["code"].is_string(), "{method} {path}: {body}");
            }
        }
        assert_eq!(before, crawl(&surface, &own.caller, &own).await);
    }

    async fn a_path_that_is_a_file_and_a_directory_is_a_conflict(server: TestServer) {
        let own = Tenant::create(&server, "Own", "Private").await;
        for path in ["inbox", "inbox/a.txt/b"] {
            let target = format!("/datasets/{}/files/{path}", own.made.files_dataset);
            own.caller.put_bytes(&target, "text/plain", "x").await.expect_error(409, "CONFLICT");
        }
    }

    async fn an_upload_that_ends_early_is_not_stored(server: TestServer) {
        let own = Tenant::create(&server, "Own", "Private").await;
        let stored = Stored::read(&server, &own).await;
        let lines = patients(2);
        let bundle = bundle_of(&["p7", "p8"]);
        for (path, media, content) in [
            (format!("/datasets/{}/data", own.made.dataset), "application/fhir+ndjson", lines.as_str()),
            (format!("/datasets/{}/data", own.made.dataset), "application/fhir+json", bundle.as_str()),
            (format!("/datasets/{}/files/inbox/a.txt", own.made.files_dataset), "text/plain", "other"),
            (format!("/datasets/{}/files/inbox/new.txt", own.made.files_dataset), "text/plain", "other"),
            ("/environments".into(), "application/json", "{\"name\":\"x\"}"),
        ] {
            let method = if path == "/environments" { "POST" } else { "PUT" };
            let head = format!(
                "{method} {path} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {}\r\ncontent-type: {media}\r\n",
                own.caller.key()
            );
            let short = format!("{head}content-length: {}\r\n\r\n{content}", content.len() + 1);
            let chunk = format!("{:x}\r\n{content}\r\n", content.len());
            let endless = format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}");
            let broken = format!("{endless}zz\r\n");
            for request in [short, endless, broken] {
                let response = raw::cut_off(&server, request.as_bytes()).await;
                assert!(response.is_empty() || response.starts_with("HTTP/1.1 400"), "{response}");
            }
        }
        stored.assert_unchanged(&server, &own).await;
        assert_eq!(own.caller.get("/environments").await.expect(200).data().len(), 1);
    }

    async fn a_truncated_bundle_is_not_stored(server: TestServer) {
        let own = Tenant::create(&server, "Own", "Private").await;
        let stored = Stored::read(&server, &own).await;
        let path = format!("/datasets/{}/data", own.made.dataset);
        let bundle = bundle_of(&["p7", "p8", "p9"]);
        for length in 0..bundle.len() {
            let response = own.caller.put_bytes(&path, "application/fhir+json", &bundle.as_bytes()[..length]).await;
            response.expect_error(400, "VALIDATION_ERROR");
        }
        stored.assert_unchanged(&server, &own).await;
        own.caller.put_bytes(&path, "application/fhir+json", bundle).await.expect(200);
    }

    async fn an_upload_with_one_invalid_resource_stores_nothing(server: TestServer) {
        let own = Tenant::create(&server, "Own", "Private").await;
        let stored = Stored::read(&server, &own).await;
        let path = format!("/datasets/{}/data", own.made.dataset);
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
        for round in 0..1000 {
            let (media, body) = upload_with_one_fault(&mut dice, round);
            let response = own.caller.put_bytes(&path, media, body.clone()).await;
            assert_eq!(response.status, 400, "{}: {}", String::from_utf8_lossy(&body), response.text());
            assert_eq!(response["error"]["code"], "VALIDATION_ERROR");
        }
        stored.assert_unchanged(&server, &own).await;
    }

    async fn a_large_upload_with_an_early_error_gets_the_error(server: TestServer) {
        let own = Tenant::create(&server, "Own", "Private").await;
        let stored = Stored::read(&server, &own).await;
        let path = format!("/datasets/{}/data", own.made.dataset);
        let mut body = b"not a resource\n".to_vec();
        body.resize(24 * 1024 * 1024, b' ');
        for _ in 0..5 {
            own.caller.put_bytes(&path, "application/fhir+ndjson", body.clone()).await.expect_error(400, "VALIDATION_ERROR");
        }
        stored.assert_unchanged(&server, &own).await;
    }

    async fn an_upload_with_the_wrong_media_type_is_rejected(server: TestServer) {
        let own = Tenant::create(&server, "Own", "Private").await;
        let stored = Stored::read(&server, &own).await;
        let data = format!("/datasets/{}/data", own.made.dataset);
        for media in ["text/plain", "application/xml", "multipart/form-data", "x"] {
            own.caller.put_bytes(&data, media, patients(1)).await.expect_error(415, "UNSUPPORTED_MEDIA_TYPE");
        }
        let gzip = [("content-encoding", "gzip")];
        for path in [data.clone(), format!("/datasets/{}/files/inbox/a.txt", own.made.files_dataset)] {
            let content = Some(("application/fhir+ndjson", patients(1).into_bytes()));
            let response = own.caller.send_bytes(Method::PUT, &path, &gzip, content).await;
            response.expect_error(415, "UNSUPPORTED_MEDIA_TYPE");
        }
        let files_data = format!("/datasets/{}/data", own.made.files_dataset);
        own.caller.put_bytes(&files_data, "application/fhir+ndjson", patients(1)).await.expect_error(409, "CONFLICT");
        let data_file = format!("/datasets/{}/files/a.txt", own.made.dataset);
        own.caller.put_bytes(&data_file, "text/plain", "x").await.expect_error(409, "CONFLICT");
        stored.assert_unchanged(&server, &own).await;
    }
}

async fn send(caller: &Caller, method: Method, path: &str, faulty: &Faulty) -> TestResponse {
    let content = (faulty.content_type, faulty.body.clone());
    caller.send_bytes(method, path, &faulty.headers, Some(content)).await
}

fn assert_refused(response: &TestResponse, faulty: &Faulty) {
    let about = format!("{} with {}: {} {}", response.request, faulty.about, response.status, response.text());
    assert_eq!(response.status, faulty.status, "{about}");
    let codes: &[&str] = match faulty.status {
        413 => &["PAYLOAD_TOO_LARGE"],
        415 => &["UNSUPPORTED_MEDIA_TYPE"],
        _ => &["BAD_REQUEST", "VALIDATION_ERROR"],
    };
    assert!(codes.iter().any(|code| response["error"]["code"] == *code), "{about}");
    assert!(response.body.len() < 20_000, "{} bytes for {}", response.body.len(), faulty.about);
}

fn bad_cursors() -> Vec<String> {
    let forged = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let mut cursors: Vec<String> =
        ["", "x", "!!!", "AAAA", "%00", "%ff", "null", "0", "-1"].map(ToOwned::to_owned).into();
    cursors.extend(["no-such-list\nn\nx", "\n\n", "environments\nx\nenv_1", "tasks\nn\n", "\0\nn\nx"].map(forged));
    cursors.extend(["environments\nn\na\0b", "tasks\nn\na\0b"].map(forged));
    cursors.push("A".repeat(5000));
    cursors
}

fn bad_paths() -> Vec<String> {
    let mut paths: Vec<String> = [
        "..",
        ".",
        "../x",
        "../../../etc/passwd",
        "a/../b",
        "a/./b",
        "a//b",
        "/a",
        "a/",
        "%2e%2e/x",
        "a/%2e%2e/b",
        "a%2F..%2Fb",
        "%2Fetc/passwd",
        "a%2F%2Fb",
        "a%00b",
        "%00",
        "a%5Cb",
        "..%5C..%5Cx",
        "a%0Ab",
        "a%7Fb",
        "a%C2%85b",
        "%ff",
        "a%80",
        "",
    ]
    .map(ToOwned::to_owned)
    .into();
    paths.push("x".repeat(256));
    paths.push(
        ["y".repeat(200), "z".repeat(200), "w".repeat(200), "v".repeat(200), "u".repeat(200), "t".repeat(200)]
            .join("/"),
    );
    paths.push("a/".repeat(600) + "b");
    paths
}

fn bundle_of(ids: &[&str]) -> String {
    let entries: Vec<Value> =
        ids.iter().map(|id| json!({"resource": {"resourceType": "Patient", "id": id, "active": true}})).collect();
    json!({"resourceType": "Bundle", "type": "collection", "entry": entries}).to_string()
}

/// State that an upload could have changed.
struct Stored {
    read: BTreeMap<String, String>,
    blobs: usize,
}

impl Stored {
    async fn read(server: &TestServer, own: &Tenant) -> Self {
        // The first read of a sandbox builds the layers of its datasets; those blobs are expected.
        let read = crawl(&Surface::load(), &own.caller, own).await;
        Self { read, blobs: count_files(&server.database().directory().join("blobs")) }
    }

    async fn assert_unchanged(&self, server: &TestServer, own: &Tenant) {
        let now = Self::read(server, own).await;
        assert_eq!(self.read, now.read);
        assert_eq!(self.blobs, now.blobs, "blobs were left behind");
    }
}

fn count_files(directory: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { count_files(&path) } else { 1 }).sum()
}

/// Valid resources with one invalid one at a random position, in either format.
fn upload_with_one_fault(dice: &mut Dice, round: usize) -> (&'static str, Vec<u8>) {
    let good = 1 + dice.below(20);
    let mut resources: Vec<Vec<u8>> = (0..good)
        .map(|number| {
            json!({"resourceType": "Observation", "id": format!("r{round}-{number}")}).to_string().into_bytes()
        })
        .collect();
    let bad: [&[u8]; 10] = [
        b"{\"resourceType\":\"Patient\"}",
        b"{\"id\":\"x\"}",
        b"{\"resourceType\":\"NoSuchType\",\"id\":\"x\"}",
        b"{\"resourceType\":\"Patient\",\"id\":\"not an id\"}",
        b"{\"resourceType\":\"Patient\",\"id\":\"x\",}",
        b"{\"resourceType\":\"Patient\",\"id\":\"x\",\"a\":\"\\u0000\"}",
        b"{\"resourceType\":\"Patient\",\"id\":\"x\",\"a\":\"\xff\"}",
        b"[]",
        b"5",
        b"{\"resourceType\":5,\"id\":\"x\"}",
    ];
    let kind = dice.below(bad.len() + 1);
    let fault = bad.get(kind).map_or_else(|| resources[dice.below(good)].clone(), |bytes| bytes.to_vec());
    resources.insert(dice.below(good + 1), fault);
    if round.is_multiple_of(2) {
        return ("application/fhir+ndjson", resources.join(&b'\n'));
    }
    let entries: Vec<Vec<u8>> =
        resources.iter().map(|one| [b"{\"resource\":", one.as_slice(), b"}"].concat()).collect();
    let open = b"{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"entry\":[".as_slice();
    ("application/fhir+json", [open, &entries.join(&b','), b"]}"].concat())
}
