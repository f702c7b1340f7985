//! Common headers, rate and size limits, and the OpenAPI document.

use std::collections::BTreeSet;

use app::Limits;
use reqwest::Method;
use serde_json::json;
use testkit::world::{Authored, patients};
use testkit::{Database, TestServer, both_databases, postgres_url};

use crate::raw;
use crate::surface::{Surface, Tenant, crawl};

async fn servers_with(limits: Limits) -> Vec<TestServer> {
    let mut servers = vec![TestServer::start_with(Database::Sqlite, limits.clone()).await];
    if postgres_url().is_some() {
        servers.push(TestServer::start_with(Database::Postgres, limits).await);
    }
    servers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_with_too_many_requests_is_rate_limited() {
    for server in servers_with(Limits { requests_per_second: 1, request_burst: 5, ..Limits::default() }).await {
        let (hasty, calm) = (server.organization("Hasty").await, server.organization("Calm").await);
        let mut refused = None;
        for _ in 0..100 {
            let answer = hasty.get("/organization").await;
            if answer.status != 200 {
                refused = Some(answer.expect_error(429, "RATE_LIMITED"));
                break;
            }
        }
        let refused = refused.expect("a refusal");
        let seconds: u64 = refused.header("retry-after").expect("Retry-After").parse().unwrap();
        assert!((1..=60).contains(&seconds));
        calm.get("/organization").await.expect(200);
        server.anonymous().get("/healthz").await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_guesses_keys_is_rate_limited() {
    for server in servers_with(Limits { refusals_per_second: 1, refusal_burst: 5, ..Limits::default() }).await {
        let good = server.organization("Good").await;
        let guess = server.caller(&format!("vk_{}", "0".repeat(38)));
        let mut statuses = BTreeSet::new();
        let mut tries = 0;
        while !statuses.contains(&429) && tries < 100 {
            let answer = guess.get("/organization").await;
            assert_eq!(answer.header("retry-after").is_some(), answer.status == 429);
            statuses.insert(answer.status);
            tries += 1;
        }
        assert_eq!(statuses, BTreeSet::from([401, 429]));
        assert!(tries > 5, "the burst is allowed");
        good.get("/organization").await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_too_large_is_rejected_and_not_stored() {
    let limits = Limits { json_bytes: 2000, upload_bytes: 3000, stream_bytes: 10_000, ..TestServer::unhurried() };
    let surface = Surface::load();
    for server in servers_with(limits).await {
        let own = Tenant::create(&server, "Own", "Private").await;
        let before = crawl(&surface, &own.caller, &own).await;
        for (operation, _) in surface.with_json_body() {
            // Larger than the limit, also for endpoints that accept a file.
            let body = json!({"name": "x".repeat(3000)});
            let answer = own.caller.send(operation.method.clone(), &operation.path_of(&own), &[], Some(body)).await;
            answer.expect_error(413, "PAYLOAD_TOO_LARGE");
        }
        let data = format!("/datasets/{}/data", own.made.dataset);
        let file = format!("/datasets/{}/files/inbox/a.txt", own.made.files_dataset);
        let bundle = json!({"resourceType": "Bundle", "type": "collection", "entry": [], "x": "x".repeat(3000)});
        for (path, media, body) in [
            (&data, "application/fhir+ndjson", patients(1000)),
            (&data, "application/fhir+json", bundle.to_string()),
            (&file, "text/plain", "x".repeat(3001)),
        ] {
            own.caller.put_bytes(path, media, body).await.expect_error(413, "PAYLOAD_TOO_LARGE");
        }
        assert_eq!(before, crawl(&surface, &own.caller, &own).await);
        own.caller.put_bytes(&file, "text/plain", "x".repeat(3000)).await.expect(200);
        own.caller.put_bytes(&data, "application/fhir+ndjson", patients(100)).await.expect(200);
    }
}

both_databases! {
    async fn a_valid_request_id_of_the_caller_is_used(server: TestServer) {
        let own = server.organization("Own").await;
        let long = "a".repeat(128);
        for id in ["a", "req_1", "550e8400-e29b-41d4-a716-446655440000", "a.b:c-d_e", &long] {
            let answer = own.send(Method::GET, "/environments/x", &[("x-request-id", id)], None).await.expect(404);
            assert_eq!(answer.header("x-request-id"), Some(id));
            assert_eq!(answer["error"]["request_id"], id);
        }
        let too_long = "a".repeat(129);
        let mut given = BTreeSet::new();
        let insane = ["", &too_long, "a b", "\u{fc}", "a\tb", "<script>", "a\"b", "{}", "a/b", own.key()];
        for id in insane {
            let answer = own.send(Method::GET, "/environments/x", &[("x-request-id", id)], None).await.expect(404);
            let own_id = answer.header("x-request-id").expect("an id").to_owned();
            assert!(own_id.starts_with("req_"), "{id:?} became {own_id}");
            assert_eq!(answer["error"]["request_id"], own_id.as_str());
            given.insert(own_id);
        }
        assert_eq!(given.len(), insane.len(), "every request has an id of its own");
    }

    async fn every_response_has_a_request_id_and_nosniff(server: TestServer) {
        let own = server.organization("Own").await;
        let (preflight, anonymous) = ([("origin", "https://a.example"), ("access-control-request-method", "POST")], server.anonymous());
        for answer in [
            own.get("/organization").await,
            own.get("/no/such/path").await,
            own.delete("/organization").await,
            anonymous.get("/organization").await,
            anonymous.get("/healthz").await,
            anonymous.get("/docs").await,
            anonymous.get("/openapi.json").await,
            anonymous.get("/metrics").await,
            anonymous.send(Method::OPTIONS, "/environments", &preflight, None).await,
            own.send(Method::HEAD, "/environments", &[], None).await,
        ] {
            assert!(answer.header("x-request-id").is_some(), "{} {}", answer.request, answer.status);
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{}", answer.request);
        }
    }

    async fn any_page_may_call_the_api_without_cookies(server: TestServer) {
        let anonymous = server.anonymous();
        let surface = Surface::load();
        for operation in surface.internal() {
            let path = operation.path(|_| "x".into());
            let preflight = [
                ("origin", "https://page.example"),
                ("access-control-request-method", operation.method.as_str()),
                ("access-control-request-headers", "authorization,content-type,idempotency-key,if-match"),
            ];
            let answer = anonymous.send(Method::OPTIONS, &path, &preflight, None).await.expect(200);
            assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path}");
            assert!(answer.header("access-control-allow-methods").unwrap().contains(operation.method.as_str()));
            assert_eq!(answer.header("access-control-allow-credentials"), None);
        }
        let origin = [("origin", "https://page.example")];
        let answer = anonymous.send(Method::GET, "/environments", &origin, None).await.expect_error(401, "UNAUTHORIZED");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "a refusal can be read by the page too");
        assert!(answer.header("access-control-expose-headers").unwrap().contains("x-request-id"));
        let answer = anonymous.get("/environments").await.expect_error(401, "UNAUTHORIZED");
        assert_eq!(answer.header("access-control-allow-origin"), None, "who is no page is spared it");
        assert!(answer.header("vary") == Some("origin"), "so that a cache keeps the two apart");
    }

    async fn responses_are_compressed_when_the_client_accepts_it(server: TestServer) {
        let own = server.organization("Own").await;
        for _ in 0..5 {
            own.post("/environments", json!({"name": "x".repeat(200)})).await.expect(201);
        }
        for encoding in ["gzip", "zstd"] {
            let answer = own.send(Method::GET, "/openapi.json", &[("accept-encoding", encoding)], None).await.expect(200);
            assert_eq!(answer.header("content-encoding"), Some(encoding));
            let varies = answer.headers.get_all("vary").iter().any(|value| value == "accept-encoding");
            assert!(varies, "{:?}", answer.headers);
            let plain = own.get("/openapi.json").await.expect(200);
            assert_eq!(plain.header("content-encoding"), None);
            assert!(answer.body.len() < plain.body.len() / 3);
        }
    }

    async fn expect_continue_is_rejected_before_the_body_is_sent(server: TestServer) {
        let own = Tenant::create(&server, "Own", "Private").await;
        let data = format!("/datasets/{}/data", own.made.dataset);
        let nowhere = "/datasets/ds_7ZZZZZZZZZZZZZZZZZZZZZZZZZ/data".to_owned();
        for (key, path, status) in [("vk_wrong", &data, 401), (own.caller.key(), &nowhere, 404)] {
            let head = format!(
                "PUT {path} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
                 content-type: application/fhir+ndjson\r\ncontent-length: 1000000\r\nexpect: 100-continue\r\n\r\n"
            );
            let answer = raw::exchange(&server, head.as_bytes()).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
        }
    }

    async fn head_is_get_without_a_body(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        for operation in surface.operations.iter().filter(|operation| operation.method == Method::GET) {
            let path = operation.path_of(&own);
            let (get, head) = (own.caller.get(&path).await, own.caller.send(Method::HEAD, &path, &[], None).await);
            assert_eq!((head.status, head.body.len()), (get.status, 0), "{path}");
            assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
            assert_eq!(head.header("etag"), get.header("etag"), "{path}");
        }
    }

    async fn an_unsupported_method_gets_an_allow_header(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        let patterns: BTreeSet<&str> = surface.operations.iter().map(|operation| operation.pattern.as_str()).collect();
        for pattern in patterns {
            let taken: Vec<_> = surface.operations.iter().filter(|operation| operation.pattern == pattern).collect();
            for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
                if taken.iter().any(|operation| operation.method == method) {
                    continue;
                }
                let answer = own.caller.send(method, &taken[0].path_of(&own), &[], None).await;
                let answer = answer.expect_error(405, "METHOD_NOT_ALLOWED");
                let allowed = answer.header("allow").unwrap_or_default().to_owned();
                for operation in &taken {
                    assert!(allowed.contains(operation.method.as_str()), "{pattern}: {allowed:?}");
                }
            }
        }
    }

    async fn an_unknown_path_gets_the_error_envelope(server: TestServer) {
        let own = server.organization("Own").await;
        for path in ["/", "/no", "/v9/benchmark-runs", "/environments/", "//", "/environments/x/y/z", "/%00", "/%ff", "/.git/config"] {
            for method in [Method::GET, Method::POST, Method::DELETE] {
                let answer = own.send(method, path, &[], None).await;
                let answer = answer.expect_error(404, "NOT_FOUND");
                assert!(answer["error"]["request_id"].is_string());
            }
        }
    }

    async fn health_and_docs_endpoints_need_no_credential(server: TestServer) {
        let anonymous = server.anonymous();
        for path in ["/healthz", "/readyz", "/metrics", "/docs", "/docs/style.css", "/openapi.json"] {
            let answer = anonymous.get(path).await.expect(200);
            assert!(!answer.body.is_empty(), "{path}");
        }
        let document = anonymous.get("/openapi.json").await;
        let served = document["paths"].as_object().unwrap().len();
        assert_eq!(served, Surface::load().contract.document()["paths"].as_object().unwrap().len());
    }

    async fn metrics_have_no_ids_and_no_client_defined_labels(server: TestServer) {
        let own = Tenant::create(&server, "Own", "Private").await;
        let odd = Method::from_bytes(b"ODDMETHOD").unwrap();
        for path in ["/made-up-by-a-caller", "/environments/made-up-by-a-caller", &format!("/tasks/{}", own.made.task)] {
            own.caller.get(path).await;
            own.caller.send(odd.clone(), path, &[], None).await;
        }
        let text = server.anonymous().get("/metrics").await.expect(200).text();
        assert!(text.contains("verial_http_requests_total{") && text.contains("/tasks/{task_id}"), "{text}");
        for word in own.ids().into_iter().chain(["made-up-by-a-caller", "ODDMETHOD", own.caller.key()]) {
            assert!(!text.contains(word), "{word}");
        }
        for kind in ["org_", "key_", "slv_", "env_", "sim_", "ds_", "ent_", "bench_", "task_0", "crit_", "req_"] {
            assert!(!text.contains(&format!("{kind}0")), "{kind}");
        }
    }

    async fn a_conditional_read_of_an_unchanged_resource_is_304(server: TestServer) {
        let own = server.organization("Own").await;
        let made = Authored::create(&own).await;
        let path = format!("/tasks/{}", made.task);
        let tag = own.get(&path).await.expect(200).header("etag").unwrap().to_owned();
        let again = own.send(Method::GET, &path, &[("if-none-match", &tag)], None).await.expect(304);
        assert!(again.body.is_empty());
        own.patch(&path, json!({"name": "changed"})).await.expect(200);
        own.send(Method::GET, &path, &[("if-none-match", &tag)], None).await.expect(200);
        own.send(Method::PATCH, &path, &[("if-match", &tag)], Some(json!({"name": "again"}))).await.expect_error(412, "PRECONDITION_FAILED");
    }
}

#[test]
fn the_openapi_document_describes_every_operation() {
    let surface = Surface::load();
    let mut ids = BTreeSet::new();
    for operation in &surface.operations {
        let (about, description) = (format!("{} {}", operation.method, operation.pattern), &operation.description);
        let id = description["operationId"].as_str().unwrap_or_else(|| panic!("{about}: no operationId"));
        assert!(ids.insert(id.to_owned()), "{about}: {id} twice");
        assert!(description["tags"][0].is_string(), "{about}: no tag");
        assert!(description["summary"].as_str().is_some_and(|text| !text.trim().is_empty()), "{about}: no summary");
        let responses = description["responses"].as_object().unwrap();
        assert!(!responses.is_empty(), "{about}: no responses");
        for (status, response) in responses {
            let text = response["description"].as_str().unwrap_or_default();
            assert!(!text.trim().is_empty(), "{about}: {status} is not described");
        }
        for parameter in description["parameters"].as_array().into_iter().flatten() {
            let text = parameter["description"].as_str().unwrap_or_default();
            assert!(!text.trim().is_empty(), "{about}: {} is not described", parameter["name"]);
        }
        let variables: BTreeSet<&str> = operation.variables().into_iter().collect();
        let parameters = description["parameters"].as_array().into_iter().flatten();
        let documented: BTreeSet<&str> =
            parameters.filter(|one| one["in"] == "path").filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(variables, documented, "{about}");
    }
    let tags: BTreeSet<&str> =
        surface.contract.document()["tags"].as_array().unwrap().iter().filter_map(|tag| tag["name"].as_str()).collect();
    for operation in &surface.operations {
        assert!(tags.contains(operation.description["tags"][0].as_str().unwrap()), "{}", operation.pattern);
    }
    assert!(ids.len() >= 50, "{}", ids.len());
}
