//! Remote mode: a sandbox that forwards to another server, here a sandbox of a second Verial.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Caller, TestServer, both_databases};

use crate::fhir_client::{Ehr, entry, observation, patient, transaction};
use crate::raw;

both_databases! {
    async fn requests_are_forwarded_and_responses_use_the_sandboxs_own_urls(server: TestServer) {
        let (near, there, here) = proxied(&server).await;
        let made = here.put("Patient/new", &patient("new")).await.expect(201);
        let location = made.header("location").unwrap();
        assert_eq!(location, format!("{}{}", near.base_url, here.path("Patient/new/_history/1")));
        there.get("Patient/new").await.expect(200);
        let read = here.get("Patient/new").await.expect(200);
        assert_eq!(read.header("etag"), Some("W/\"1\""));
        here.ask_with(Method::PUT, "Patient/new", &[("if-match", "W/\"7\"")], Some(&patient("new"))).await.expect(412);
        let patch = json!([{"op": "add", "path": "/gender", "value": "female"}]);
        here.ask(Method::PATCH, "Patient/new", Some(&patch)).await.expect(200);
        let found = here.get("Patient?_count=1&active=true").await.expect(200);
        assert_eq!(found["total"], 3);
        assert!(!found.text().contains(&server.base_url), "the other server's address is shown: {}", found.text());
        let next = found["link"].as_array().unwrap().iter().find(|link| link["relation"] == "next").unwrap();
        let next = next["url"].as_str().unwrap().strip_prefix(&near.base_url).unwrap().to_owned();
        assert_eq!(here.caller.get(&next).await.expect(200)["entry"].as_array().unwrap().len(), 1);
        let absolute = format!("{}{}", near.base_url, here.path("Patient/p1"));
        let mut referring = observation("o1", "p1");
        referring["subject"]["reference"] = json!(absolute);
        here.post("", &transaction(vec![entry("PUT", "Observation/o1", Some(referring))])).await.expect(200);
        // The URL was rewritten to the other server's own, which stores it as a relative reference.
        for ehr in [&here, &there] {
            assert_eq!(ehr.get("Observation/o1").await.expect(200)["subject"]["reference"], "Patient/p1");
        }
        here.ask(Method::DELETE, "Patient/new", None).await.expect(204);
        here.get("Patient/new").await.expect(410);
        let unreadable = here.caller.send_bytes(Method::PUT, &here.path("Patient/p1"), &[], Some(("application/fhir+json", b"{".to_vec()))).await;
        assert_eq!(unreadable.expect(400)["resourceType"], "OperationOutcome");
    }

    async fn every_request_is_an_event_without_the_other_servers_credential(server: TestServer) {
        let (near, there, here) = proxied(&server).await;
        here.put("Patient/new", &patient("new")).await.expect(201);
        here.get("Patient/new").await.expect(200);
        here.get("Patient/nobody").await.expect(404);
        let events = here.evidence("events").await;
        let shown: Vec<Value> = events.iter().map(|event| {
            let payload = &event["payload"];
            json!([payload["request"]["method"], payload["request"]["path"], payload["response"]["status"], payload["remote"]])
        }).collect();
        assert_eq!(Value::Array(shown), json!([["PUT", "Patient/new", 201, true], ["GET", "Patient/new", 200, true], ["GET", "Patient/nobody", 404, true]]));
        assert_eq!(events[0]["payload"]["request"]["body"]["id"], "new");
        let text = Value::Array(events).to_string();
        assert!(!text.contains(there.caller.key()) && !text.contains("uthorization"), "{text}");
        drop(near);
    }

    async fn a_server_that_is_not_allowed_is_not_called(server: TestServer) {
        let near = server.stranger(vec!["fhir.example.org".into()]).await;
        let there = Ehr::over(&server.organization("There").await, &[patient("p1")]).await;
        let here = proxy(&near.organization("Here").await, &server, &there).await;
        for (method, address) in [(Method::GET, "Patient/p1"), (Method::GET, "metadata"), (Method::DELETE, "Patient/p1")] {
            let refused = here.ask(method, address, None).await.expect(403);
            assert_eq!((&refused["resourceType"], &refused["issue"][0]["code"]), (&json!("OperationOutcome"), &json!("forbidden")));
        }
        assert_eq!(there.evidence("events").await, Vec::<Value>::new());
        assert_eq!(here.evidence("events").await.len(), 3);
    }

    async fn no_request_leaves_the_other_servers_base_url(server: TestServer) {
        let (near, there, here) = proxied(&server).await;
        let key = here.caller.key();
        let secret = there.caller.get("/organization").await.expect(200).id();
        for out in ["../../../organization", "%2e%2e/%2e%2e/%2e%2e/organization", "..%2f..%2f..%2forganization", "..\\..\\..\\organization", "Patient/../../../../organization", ".%2E/../../organization"] {
            let (status, body) = raw::request(&near, key, "GET", &here.path(out), b"").await;
            assert!((400..500).contains(&status), "{out}: {status} {body}");
            assert!(!body.contains(&secret), "{out}: {body}");
            assert!(body.contains("OperationOutcome"), "{out}: {body}");
        }
    }

    async fn scopes_are_enforced_in_remote_mode(server: TestServer) {
        let (near, there, here) = proxied(&server).await;
        there.put("Observation/o1", &observation("o1", "p1")).await.expect(201);
        let before = there.content("Observation").await;
        let reader = here.smart(&near, "system/Patient.rs").await;
        reader.get("Patient/p1").await.expect(200);
        assert_eq!(reader.total("Patient?active=true").await, 2);
        for address in ["Observation/o1", "Observation", "_history", "Patient/p1/$everything", "Patient?_revinclude=*",
            "Patient?_has:Observation:subject:status=final", "Patient/p1/Observation", "$x", "Patient?unknown=1"] {
            let refused = reader.get(address).await.expect(403);
            assert_eq!((&refused["resourceType"], &refused["issue"][0]["code"]), (&json!("OperationOutcome"), &json!("forbidden")));
        }
        let look = transaction(vec![entry("GET", "Observation/o1", None)]);
        reader.post("", &look).await.expect(403);
        reader.put("Patient/p1", &patient("p1")).await.expect(403);
        reader.ask(Method::DELETE, "Patient/p1", None).await.expect(403);
        assert_eq!(there.content("Observation").await, before);
        let everything = here.smart(&near, "system/*.cruds").await;
        everything.post("", &look).await.expect(200);
        assert_eq!(here.evidence("events").await.len(), 2 + 2 + 12 + 1, "two tokens, and a request each");
    }

    async fn after_a_teardown_nothing_is_forwarded(server: TestServer) {
        let (_near, there, here) = proxied(&server).await;
        here.caller.post(&format!("/sandboxes/{}/teardown", here.sandbox), json!({})).await.expect(200);
        here.put("Patient/late", &patient("late")).await.expect(409);
        here.get("Patient/p1").await.expect(409);
        there.get("Patient/late").await.expect(404);
        assert_eq!(there.evidence("events").await.len(), 1);
    }
}

/// A second server, a sandbox of the first, and a sandbox of the second that forwards to it.
async fn proxied(server: &TestServer) -> (TestServer, Ehr, Ehr) {
    let host = server.base_url.trim_start_matches("http://").to_owned();
    let near = server.stranger(vec![host]).await;
    let there = Ehr::over(&server.organization("There").await, &[patient("p1"), patient("p2")]).await;
    let here = proxy(&near.organization("Here").await, server, &there).await;
    (near, there, here)
}

async fn proxy(caller: &Caller, server: &TestServer, there: &Ehr) -> Ehr {
    let base_url = format!("{}/sandboxes/{}/fhir", server.base_url, there.sandbox);
    let headers = json!({"Authorization": format!("Bearer {}", there.caller.key())});
    let config = json!({"remote": {"base_url": base_url, "headers": headers}});
    let simulator = json!({"type": "Fhir", "name": "Proxy", "config": config});
    let simulator = caller.post("/simulators", simulator).await.expect(201).id();
    let sandbox = caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201).id();
    Ehr { caller: caller.clone(), sandbox }
}
