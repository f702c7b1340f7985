//! Playgrounds and sandboxes: creation, use, reset and teardown; evidence stays readable.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::world::{self, Authored};
use testkit::{Caller, TestResponse, both_databases};

both_databases! {
    async fn a_playground_has_a_sandbox_for_each_simulator(server: TestServer) {
        let caller = server.organization("Acme").await;
        let made = Authored::create(&caller).await;
        let playground = caller.get(&format!("/playgrounds/{}", made.playground)).await.expect(200).json;
        assert_eq!(playground["status"], "active");
        assert_eq!(playground["environment_id"], *made.environment);
        let kinds: Vec<&Value> = playground["sandboxes"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
        assert_eq!(kinds, ["Fhir", "Files"]);
        let ehr = &playground["sandboxes"][0];
        assert_eq!(ehr["datasets"], json!([{"dataset_id": made.dataset, "revision": 1}]));
        let base = format!("{}/sandboxes/{}/fhir", server.base_url, made.sandbox);
        assert_eq!(ehr["credentials"]["fhir_base_url"], *base);
        assert_eq!(ehr["credentials"]["token_url"], *format!("{base}/auth/token"));
        assert_eq!(ehr["credentials"]["client_id"], *made.sandbox);
        assert!(ehr["credentials"]["client_secret"].as_str().unwrap().len() >= 40);
        assert_eq!(caller.get(&format!("/sandboxes/{}", made.sandbox)).await.expect(200).json, *ehr);
    }

    async fn a_missing_or_empty_environment_cannot_start_a_playground(server: TestServer) {
        let caller = server.organization("Acme").await;
        let nothing = "env_01K9Z3T5Q8W7N4M2R6V0XBHCDE";
        caller.post("/playgrounds", json!({"environment_id": nothing})).await.expect_error(404, "NOT_FOUND");
        let empty = caller.post("/environments", json!({"name": "Empty"})).await.expect(201).id();
        caller.post("/playgrounds", json!({"environment_id": empty})).await.expect_error(409, "CONFLICT");
        caller.post("/playgrounds", json!({})).await.expect_error(400, "VALIDATION_ERROR");
        assert_eq!(caller.get("/playgrounds").await.expect(200).json["data"], json!([]));
    }

    async fn a_sandbox_reads_the_revision_it_was_created_with(server: TestServer) {
        let caller = server.organization("Acme").await;
        let made = Authored::create(&caller).await;
        upload(&caller, &made.dataset, world::patients(5)).await;
        assert_eq!(total(&caller, &made.sandbox, "Patient").await, 3);
        let newer = sandbox(&caller, json!({"simulator_id": made.simulator})).await;
        assert_eq!(total(&caller, &newer, "Patient").await, 5);
        caller.send(Method::POST, &format!("/sandboxes/{}/datasets/{}", made.sandbox, made.dataset), &[], None).await.expect(200);
        assert_eq!(total(&caller, &made.sandbox, "Patient").await, 5);
    }

    async fn a_dataset_can_be_attached_and_detached(server: TestServer) {
        let caller = server.organization("Acme").await;
        let made = Authored::create(&caller).await;
        let over = caller.post("/datasets", json!({"name": "Over", "type": "fhir"})).await.expect(201).id();
        upload(&caller, &over, r#"{"resourceType":"Patient","id":"p1","gender":"female"}"#).await;
        put(&caller, &made.sandbox, "Patient/p2", json!({"resourceType": "Patient", "id": "p2", "gender": "male"})).await.expect(200);
        let path = format!("/sandboxes/{}/datasets/{over}", made.sandbox);
        caller.send(Method::POST, &path, &[], None).await.expect(200);
        let found = caller.get(&format!("/sandboxes/{}/fhir/Patient?gender=female", made.sandbox)).await.expect(200).json;
        assert_eq!((&found["total"], &found["entry"][0]["resource"]["id"]), (&json!(1), &json!("p1")));
        assert_eq!(total(&caller, &made.sandbox, "Patient").await, 3);
        caller.delete(&path).await.expect(204);
        caller.delete(&path).await.expect_error(404, "NOT_FOUND");
        assert_eq!(total(&caller, &made.sandbox, "Patient?gender=female").await, 0);
        assert_eq!(total(&caller, &made.sandbox, "Patient?gender=male").await, 1);
    }

    async fn sandboxes_are_isolated_from_each_other(server: TestServer) {
        let caller = server.organization("Acme").await;
        let made = Authored::create(&caller).await;
        let body = json!({"simulator_id": made.simulator, "playground_id": made.playground});
        let (second, elsewhere) = (sandbox(&caller, body).await, sandbox(&caller, json!({"simulator_id": made.simulator})).await);
        put(&caller, &made.sandbox, "Patient/new", json!({"resourceType": "Patient", "id": "new"})).await.expect(201);
        for (sandbox, patients) in [(&made.sandbox, 4), (&second, 3), (&elsewhere, 3)] {
            assert_eq!(total(&caller, sandbox, "Patient").await, patients);
        }
        let shared = caller.get(&format!("/playgrounds/{}", made.playground)).await.expect(200).json;
        assert_eq!(shared["sandboxes"].as_array().unwrap().len(), 3);
    }

    async fn a_reset_restores_the_baseline_and_keeps_the_evidence(server: TestServer) {
        let caller = server.organization("Acme").await;
        let made = Authored::create(&caller).await;
        let before = caller.get(&format!("/sandboxes/{}/state", made.sandbox)).await.expect(200).json;
        put(&caller, &made.sandbox, "Patient/new", json!({"resourceType": "Patient", "id": "new"})).await.expect(201);
        fhir(&caller, Method::DELETE, &made.sandbox, "Patient/p1", None).await.expect(204);
        let diff = caller.get(&format!("/sandboxes/{}/diff", made.sandbox)).await.expect(200).json;
        let changes: Vec<_> = diff["data"].as_array().unwrap().iter().map(|it| (&it["key"], &it["change"])).collect();
        assert_eq!(changes, [(&json!("new"), &json!("created")), (&json!("p1"), &json!("deleted"))]);
        let reset = caller.post(&format!("/playgrounds/{}/reset", made.playground), json!({})).await.expect(200).json;
        assert!(reset["reset_at"].is_string());
        assert_eq!(caller.get(&format!("/sandboxes/{}/state", made.sandbox)).await.expect(200).json, before);
        assert_eq!(caller.get(&format!("/sandboxes/{}/diff", made.sandbox)).await.expect(200).json["data"], json!([]));
        assert_eq!(total(&caller, &made.sandbox, "Patient").await, 3);
        let events = events(&caller, &made.sandbox).await;
        let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["fhir_request", "fhir_request", "reset", "fhir_request"]);
        put(&caller, &made.sandbox, "Patient/new", json!({"resourceType": "Patient", "id": "new"})).await.expect(201);
    }

    async fn a_page_link_from_before_a_reset_is_gone(server: TestServer) {
        let caller = server.organization("Acme").await;
        let made = Authored::create(&caller).await;
        let page = fhir(&caller, Method::GET, &made.sandbox, "Patient?_count=2", None).await.expect(200).json;
        let next = page["link"].as_array().unwrap().iter().find(|link| link["relation"] == "next").unwrap();
        let next = next["url"].as_str().unwrap().strip_prefix(&server.base_url).unwrap().to_owned();
        put(&caller, &made.sandbox, "Patient/p0", json!({"resourceType": "Patient", "id": "p0"})).await.expect(201);
        fhir(&caller, Method::DELETE, &made.sandbox, "Patient/p3", None).await.expect(204);
        let second = caller.get(&next).await.expect(200).json;
        assert_eq!((&second["total"], &second["entry"][0]["resource"]["id"]), (&json!(3), &json!("p3")));
        caller.post(&format!("/playgrounds/{}/reset", made.playground), json!({})).await.expect(200);
        let gone = caller.get(&next).await.expect(410).json;
        assert_eq!(gone["resourceType"], "OperationOutcome");
    }

    async fn after_a_teardown_only_the_evidence_can_be_read(server: TestServer) {
        let caller = server.organization("Acme").await;
        let made = Authored::create(&caller).await;
        put(&caller, &made.sandbox, "Patient/new", json!({"resourceType": "Patient", "id": "new"})).await.expect(201);
        let ended = caller.post(&format!("/playgrounds/{}/teardown", made.playground), json!({})).await.expect(200).json;
        assert_eq!((&ended["status"], &ended["sandboxes"][0]["credentials"]), (&json!("teardown"), &json!({})));
        fhir(&caller, Method::GET, &made.sandbox, "Patient/new", None).await.expect(409);
        put(&caller, &made.sandbox, "Patient/late", json!({"resourceType": "Patient", "id": "late"})).await.expect(409);
        caller.post(&format!("/playgrounds/{}/reset", made.playground), json!({})).await.expect_error(409, "CONFLICT");
        let body = json!({"simulator_id": made.simulator, "playground_id": made.playground});
        caller.post("/sandboxes", body).await.expect_error(409, "CONFLICT");
        assert_eq!(events(&caller, &made.sandbox).await.len(), 1);
        let state = caller.get(&format!("/sandboxes/{}/state?resource=Patient/new", made.sandbox)).await.expect(200).json;
        assert_eq!(state["data"][0]["value"]["id"], "new");
        let again = caller.post(&format!("/playgrounds/{}/teardown", made.playground), json!({})).await.expect(200).json;
        assert_eq!(again, ended);
    }

    async fn one_sandbox_can_end_while_others_continue(server: TestServer) {
        let caller = server.organization("Acme").await;
        let made = Authored::create(&caller).await;
        let body = json!({"simulator_id": made.simulator, "playground_id": made.playground});
        let second = sandbox(&caller, body).await;
        caller.post(&format!("/sandboxes/{second}/teardown"), json!({})).await.expect(200);
        fhir(&caller, Method::GET, &second, "Patient/p1", None).await.expect(409);
        fhir(&caller, Method::GET, &made.sandbox, "Patient/p1", None).await.expect(200);
    }

    async fn old_versions_stay_readable(server: TestServer) {
        let caller = server.organization("Acme").await;
        let made = Authored::create(&caller).await;
        put(&caller, &made.sandbox, "Patient/p1", json!({"resourceType": "Patient", "id": "p1", "gender": "male"})).await.expect(200);
        for (resource, gender) in [("Patient/p1/_history/1", json!(null)), ("Patient/p1", json!("male"))] {
            let state = caller.get(&format!("/sandboxes/{}/state?resource={resource}", made.sandbox)).await.expect(200).json;
            assert_eq!(state["data"][0]["value"]["gender"], gender, "{resource}");
        }
        for resource in ["a/b/c", "a".repeat(301).as_str()] {
            let response = caller.get(&format!("/sandboxes/{}/state?resource={resource}", made.sandbox)).await;
            response.expect_error(400, "VALIDATION_ERROR");
        }
        caller.get(&format!("/sandboxes/{}/events?type=nonsense", made.sandbox)).await.expect_error(400, "VALIDATION_ERROR");
        caller.get(&format!("/sandboxes/{}/events?since=yesterday", made.sandbox)).await.expect_error(400, "VALIDATION_ERROR");
    }

    async fn another_node_sees_the_same_changes(server: TestServer) {
        let caller = server.organization("Acme").await;
        let made = Authored::create(&caller).await;
        put(&caller, &made.sandbox, "Patient/new", json!({"resourceType": "Patient", "id": "new"})).await.expect(201);
        let other = server.another_node().await;
        let there = other.caller(caller.key());
        fhir(&there, Method::GET, &made.sandbox, "Patient/new", None).await.expect(200);
        put(&there, &made.sandbox, "Patient/new", json!({"resourceType": "Patient", "id": "new", "active": true})).await.expect(200);
        // Writers notice the change; on a shared database readers do too.
        put(&caller, &made.sandbox, "Patient/new", json!({"resourceType": "Patient", "id": "new", "active": false})).await.expect(200);
        let history = fhir(&caller, Method::GET, &made.sandbox, "Patient/new/_history", None).await.expect(200).json;
        assert_eq!(history["total"], 3);
    }
}

pub(crate) async fn fhir(
    caller: &Caller,
    method: Method,
    sandbox: &str,
    path: &str,
    body: Option<Value>,
) -> TestResponse {
    caller.send(method, &format!("/sandboxes/{sandbox}/fhir/{path}"), &[], body).await
}

pub(crate) async fn put(caller: &Caller, sandbox: &str, path: &str, body: Value) -> TestResponse {
    fhir(caller, Method::PUT, sandbox, path, Some(body)).await
}

async fn total(caller: &Caller, sandbox: &str, search: &str) -> u64 {
    fhir(caller, Method::GET, sandbox, search, None).await.expect(200).json["total"].as_u64().unwrap()
}

pub(crate) async fn sandbox(caller: &Caller, body: Value) -> String {
    caller.post("/sandboxes", body).await.expect(201).id()
}

async fn upload(caller: &Caller, dataset: &str, ndjson: impl Into<Vec<u8>>) {
    caller.put_bytes(&format!("/datasets/{dataset}/data"), "application/fhir+ndjson", ndjson).await.expect(200);
}

pub(crate) async fn events(caller: &Caller, sandbox: &str) -> Vec<Value> {
    let list = caller.get(&format!("/sandboxes/{sandbox}/events?limit=100")).await.expect(200).json;
    list["data"].as_array().unwrap().clone()
}
