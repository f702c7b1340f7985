//! S15: a request with an `Idempotency-Key` takes effect once, however often and to whichever node it is sent.

use app::Clock;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::world::Authored;
use testkit::{Caller, TestResponse, both_databases};

const HOUR_MILLISECONDS: i64 = 60 * 60 * 1000;

both_databases! {
    async fn a_repeated_request_gets_the_first_response(server: TestServer) {
        let caller = server.organization("Retries").await;
        let made = Authored::create(&caller).await;
        for (path, body) in posts(&made) {
            let first = once(&caller, &path, "key of ", &body).await;
            assert!([200, 201].contains(&first.status), "{path}: {}", first.text());
            assert_eq!(first.header("idempotent-replayed"), None, "{path}");
            let second = once(&caller, &path, "key of ", &body).await.expect(first.status);
            assert_eq!(second.text(), first.text(), "{path}");
            assert_eq!(second.header("idempotent-replayed"), Some("true"), "{path}");
            for header in ["etag", "location", "content-type", "cache-control"] {
                assert_eq!(second.header(header), first.header(header), "{path}");
            }
        }
    }

    async fn a_replay_is_unchanged_even_when_the_resource_has_changed(server: TestServer) {
        let caller = server.organization("Retries").await;
        let body = json!({"name": "Before"});
        let first = once(&caller, "/environments", "k", &body).await.expect(201);
        let path = format!("/environments/{}", first.id());
        caller.patch(&path, json!({"name": "After"})).await.expect(200);
        assert_eq!(once(&caller, "/environments", "k", &body).await.expect(201).text(), first.text());
        caller.delete(&path).await.expect(204);
        assert_eq!(once(&caller, "/environments", "k", &body).await.expect(201).text(), first.text());
        assert!(caller.get("/environments").await.expect(200).data().is_empty());
    }

    async fn a_key_can_only_be_used_for_one_request(server: TestServer) {
        let caller = server.organization("Retries").await;
        send(&caller, "/environments", "k", json!({"name": "A"})).await.expect(201);
        send(&caller, "/environments", "k", json!({"name": "B"})).await.expect_error(409, "CONFLICT");
        send(&caller, "/datasets", "k", json!({"name": "A", "type": "files"})).await.expect_error(409, "CONFLICT");
        assert_eq!(caller.get("/environments").await.expect(200).data().len(), 1);
        assert!(caller.get("/datasets").await.expect(200).data().is_empty());
        send(&caller, "/environments", "another", json!({"name": "A"})).await.expect(201);
        let unmarked = caller.post("/environments", json!({"name": "A"})).await.expect(201);
        assert_eq!(unmarked.header("idempotent-replayed"), None);
        assert_eq!(caller.get("/environments").await.expect(200).data().len(), 3);
    }

    async fn sixty_four_concurrent_retries_have_one_effect(server: TestServer) {
        let other_node = server.another_node().await;
        let caller = server.organization("Retries").await;
        let callers = [caller.clone(), other_node.caller(caller.key())];
        let answers = join_all((0..64).map(|number| {
            let caller = callers[number % 2].clone();
            async move { send(&caller, "/environments", "k", json!({"name": "A"})).await.expect(201) }
        }))
        .await;
        assert!(answers.iter().all(|response| response.text() == answers[0].text()));
        let first_ones = answers.iter().filter(|response| response.header("idempotent-replayed").is_none()).count();
        assert_eq!(first_ones, 1);
        assert_eq!(caller.get("/environments").await.expect(200).data().len(), 1);
    }

    async fn only_one_of_several_concurrent_requests_with_one_key_acts(server: TestServer) {
        let other_node = server.another_node().await;
        let caller = server.organization("Retries").await;
        let callers = [caller.clone(), other_node.caller(caller.key())];
        let answers = join_all((0..16).map(|number| {
            let caller = callers[number % 2].clone();
            async move { send(&caller, "/environments", "k", json!({"name": format!("{number}")})).await }
        }))
        .await;
        assert_eq!(answers.iter().filter(|response| response.status == 201).count(), 1);
        assert_eq!(answers.iter().filter(|response| response.status == 409).count(), 15);
        assert_eq!(caller.get("/environments").await.expect(200).data().len(), 1);
    }

    async fn organizations_do_not_share_keys(server: TestServer) {
        let (first, second) = (server.organization("First").await, server.organization("Second").await);
        let mine = send(&first, "/environments", "k", json!({"name": "A"})).await.expect(201);
        let theirs = send(&second, "/environments", "k", json!({"name": "A"})).await.expect(201);
        assert_ne!(mine.id(), theirs.id());
        send(&second, "/environments", "k", json!({"name": "B"})).await.expect_error(409, "CONFLICT");
    }

    async fn a_secret_is_only_replayed_to_the_key_that_requested_it(server: TestServer) {
        let caller = server.organization("Retries").await;
        let other_key = caller.post("/api-keys", json!({"name": "other"})).await.expect(201);
        let other_key = server.caller(other_key["key"].as_str().unwrap());
        let solver = caller.post("/solvers", json!({"alias": "a"})).await.expect(201).id();
        for path in ["/api-keys".to_owned(), format!("/solvers/{solver}/api-keys")] {
            let first = once(&caller, &path, "secret of ", &json!({"name": "ci"})).await.expect(201);
            let secret = first["key"].as_str().unwrap();
            let again = once(&caller, &path, "secret of ", &json!({"name": "ci"})).await.expect(201);
            assert_eq!(again.text(), first.text());
            let refused = once(&other_key, &path, "secret of ", &json!({"name": "ci"})).await.expect_error(409, "CONFLICT");
            assert!(!refused.text().contains(secret));
        }
        assert_eq!(caller.get(&format!("/solvers/{solver}/api-keys")).await.expect(200).data().len(), 1);
        // A response without a secret is replayed to any key of the organization.
        let plain = send(&caller, "/environments", "plain", json!({"name": "A"})).await.expect(201);
        assert_eq!(
            send(&other_key, "/environments", "plain", json!({"name": "A"})).await.expect(201).text(),
            plain.text()
        );
    }

    async fn a_rejected_request_is_not_replayed(server: TestServer) {
        let caller = server.organization("Retries").await;
        send(&caller, "/environments", "k", json!({"name": ""})).await.expect_error(400, "VALIDATION_ERROR");
        send(&caller, "/environments", "k", json!({"name": "A"})).await.expect(201);
        let solver = caller.post("/solvers", json!({"alias": "a"})).await.expect(201).id();
        send(&caller, "/solvers", "l", json!({"alias": "a"})).await.expect_error(409, "CONFLICT");
        caller.delete(&format!("/solvers/{solver}")).await.expect(204);
        let made = send(&caller, "/solvers", "l", json!({"alias": "a"})).await.expect(201);
        assert_eq!(made.header("idempotent-replayed"), None);
    }

    async fn a_key_is_short_printable_text(server: TestServer) {
        let caller = server.organization("Retries").await;
        for good in ["k", &"k".repeat(255), "8e03978e-40d5-43dd-bc93-6894a57f9324", "with space"] {
            send(&caller, "/environments", good, json!({"name": "A"})).await.expect(201);
        }
        for bad in ["", &"k".repeat(256), "tab\there", "\u{e9}"] {
            send(&caller, "/environments", bad, json!({"name": "A"})).await.expect_error(400, "BAD_REQUEST");
        }
    }

    async fn a_response_is_replayed_for_a_day(server: TestServer) {
        let now = server.clock.now();
        let caller = server.organization("Retries").await;
        let first = send(&caller, "/environments", "k", json!({"name": "A"})).await.expect(201);
        let clock = Clock::fixed(now.plus_milliseconds(23 * HOUR_MILLISECONDS));
        let later = server.another_node_at(clock.clone()).await;
        let later_caller = later.caller(caller.key());
        assert_eq!(
            send(&later_caller, "/environments", "k", json!({"name": "A"})).await.expect(201).text(),
            first.text()
        );
        clock.advance(HOUR_MILLISECONDS + 60_000);
        let fresh = send(&later_caller, "/environments", "k", json!({"name": "B"})).await.expect(201);
        assert_ne!(fresh.id(), first.id());
        assert_eq!(
            send(&later_caller, "/environments", "k", json!({"name": "B"})).await.expect(201).text(),
            fresh.text()
        );
        clock.advance(25 * HOUR_MILLISECONDS);
        later.app.sweep().await.unwrap();
        let swept = send(&later_caller, "/environments", "k", json!({"name": "B"})).await.expect(201);
        assert_eq!(swept.header("idempotent-replayed"), None);
    }
}

async fn send(caller: &Caller, path: &str, key: &str, body: Value) -> TestResponse {
    caller.send(Method::POST, path, &[("idempotency-key", key)], Some(body)).await
}

/// Headers with a separate idempotency key for each path.
async fn once(caller: &Caller, path: &str, key: &str, body: &Value) -> TestResponse {
    send(caller, path, &format!("{key}{path}"), body.clone()).await
}

/// A valid body for every creation and transition.
fn posts(made: &Authored) -> Vec<(String, Value)> {
    let exact: Value = serde_json::from_str(r#"{"z": 1.10, "a": 1e2, "y": {"b": null}}"#).unwrap();
    vec![
        ("/api-keys".into(), json!({"name": "ci"})),
        ("/solvers".into(), json!({"alias": "once"})),
        (format!("/solvers/{}/api-keys", made.solver), json!({"name": "ci"})),
        ("/environments".into(), json!({"name": "once"})),
        ("/simulators".into(), json!({"type": "fhir", "name": "once"})),
        ("/datasets".into(), json!({"type": "fhir", "name": "once", "parent_id": made.dataset})),
        (format!("/datasets/{}/entities", made.dataset), json!({"name": "once", "data": exact})),
        ("/benchmarks".into(), json!({"name": "once"})),
        ("/tasks".into(), json!({"benchmark_id": made.benchmark, "name": "once", "task_item": exact})),
        (
            "/criteria".into(),
            json!({"task_id": made.task, "label": "once", "weight": 0.30, "assertion": {"assert": "new-check", "x": exact}}),
        ),
        (format!("/environments/{}/simulators/{}", made.environment, made.simulator), json!({})),
        (format!("/simulators/{}/datasets/{}", made.simulator, made.dataset), json!({})),
        (format!("/tasks/{}/entities", made.task), json!({"entity_id": made.entity})),
        (format!("/benchmarks/{}/publish", made.benchmark), json!({"slug": "once"})),
    ]
}
