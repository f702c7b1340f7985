//! Every request is recorded as one complete event, in order. Secrets are in no event, log or row.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TestResponse, TestServer, both_databases};

use crate::fhir_client::{Ehr, entry, observation, patient, token_request, transaction};
use crate::request::Request;
use crate::secret_search::SecretSearch;
use crate::secrets::Logs;

/// The number of clients, each with its own secret and tokens.
const SANDBOXES: usize = 12;

both_databases! {
    async fn every_request_is_recorded_as_one_complete_event_in_order(server: TestServer) {
        let ehr = Ehr::over(&server.organization("Acme").await, &[patient("p1")]).await;
        let patch = json!([{"op": "add", "path": "/gender", "value": "male"}]);
        let bundle = transaction(vec![entry("POST", "Observation", Some(observation("x", "p1")))]);
        let requests: Vec<(Method, &str, Option<Value>, u16)> = vec![
            (Method::GET, "metadata", None, 200),
            (Method::GET, "Patient/p1", None, 200),
            (Method::GET, "Patient/nobody", None, 404),
            (Method::GET, "Patient?active=true", None, 200),
            (Method::POST, "Patient", Some(patient("x")), 201),
            (Method::PUT, "Patient/p1", Some(patient("p1")), 200),
            (Method::PATCH, "Patient/p1", Some(patch), 200),
            (Method::POST, "Patient", Some(json!({"resourceType": "Patient", "gender": "?"})), 422),
            (Method::POST, "", Some(bundle), 200),
            (Method::DELETE, "Patient/p1", None, 204),
            (Method::GET, "Patient/p1", None, 410),
            (Method::GET, "Nonsense", None, 404),
        ];
        for _ in 0..3 {
            for (method, address, body, _) in &requests {
                ehr.ask(method.clone(), address, body.as_ref()).await;
            }
            ehr.reset().await;
        }
        let events = ehr.evidence("events").await;
        assert_eq!(events.len(), 3 * (requests.len() + 1));
        for (number, event) in events.iter().enumerate() {
            assert_eq!(event["seq"], number + 1);
            let Some((method, address, body, status)) = requests.get(number % (requests.len() + 1)) else {
                assert_eq!(event["type"], "reset");
                continue;
            };
            let (path, query) = address.split_once('?').unwrap_or((address, ""));
            let (request, response) = (&event["payload"]["request"], &event["payload"]["response"]);
            assert_eq!((&request["method"], &request["path"]), (&json!(method.as_str()), &json!(path)));
            assert_eq!(request["query"].as_str().unwrap_or_default(), query);
            assert_eq!(request.get("body"), body.as_ref(), "{method} {address}");
            assert_eq!(response["status"], *status, "{method} {address}");
            let tells = ["body", "resource", "entries"].iter().any(|member| response.get(member).is_some());
            assert_eq!(tells, *status != 204, "{method} {address}: {response}");
        }
    }

    async fn large_bodies_are_returned_completely(server: TestServer) {
        let ehr = Ehr::over(&server.organization("Acme").await, &[]).await;
        for kilobytes in [1, 15, 16, 17, 100, 900] {
            let mut large = patient("large");
            large["name"] = json!([{"text": "é\"\\n".repeat(kilobytes * 250)}]);
            let written = ehr.put("Patient/large", &large).await;
            assert!([200, 201].contains(&written.status), "{kilobytes}: {}", written.status);
            let last = ehr.evidence("events").await.pop().unwrap();
            assert_eq!(last["payload"]["request"]["body"], large, "{kilobytes} KB");
            assert_eq!(last["payload"]["response"]["body"]["name"], large["name"], "{kilobytes} KB");
            let fresh = server.another_node().await;
            let folded = ehr.with(&fresh.caller(ehr.caller.key()));
            assert_eq!(folded.get("Patient/large").await.expect(200)["name"], large["name"], "{kilobytes} KB");
            assert!(folded.evidence("events").await.contains(&last), "{kilobytes} KB");
        }
    }

    async fn sandbox_secrets_are_in_no_event_log_or_row(server: TestServer) {
        let logs = Logs::captured();
        let caller = server.organization("Acme").await;
        let (mut secrets, mut shown, mut misplaced) = (vec![caller.key().to_owned()], Vec::new(), 0);
        let mut sandboxes = Vec::new();
        for _ in 0..SANDBOXES {
            let ehr = Ehr::over(&caller, &[patient("p1")]).await;
            secrets.extend([ehr.client_secret().await, ehr.token(&server, "system/*.cruds").await, ehr.token(&server, "system/*.rs").await]);
            sandboxes.push(ehr);
        }
        for (number, ehr) in sandboxes.iter().enumerate() {
            let own = number * 3;
            for secret in std::iter::once(&secrets[0]).chain(&secrets[own + 1..own + 4]) {
                for request in wrong_places(ehr, secret) {
                    expect_no_server_error(&request.send(&caller).await);
                    misplaced += 1;
                }
                for request in wrong_credentials(ehr, secret) {
                    expect_no_server_error(&request.send(&server.anonymous()).await);
                    misplaced += 1;
                }
            }
            shown.extend(Value::Array(ehr.evidence("events").await).to_string().into_bytes());
        }
        let planted = plant(&server, &sandboxes[0]).await;
        shown.extend(Value::Array(sandboxes[0].evidence("state").await).to_string().into_bytes());
        let search = SecretSearch::new(secrets.iter().map(String::as_str));
        let control = SecretSearch::new([planted.as_str()]);
        let (at_rest, logged) = (server.database().at_rest(), logs.bytes());
        for (place, bytes) in [("in an event", &shown), ("at rest", &at_rest), ("logged", &logged)] {
            assert_eq!(search.find(bytes), None, "a secret is {place}");
            assert!(control.find(bytes).is_some(), "the planted secret is {place}, and the search does not see it");
        }
        eprintln!("{} secrets in {misplaced} wrong places; {} bytes of events, {} at rest, {} of log", secrets.len(), shown.len(), at_rest.len(), logged.len());
    }
}

fn expect_no_server_error(answer: &TestResponse) {
    assert!(answer.status < 500, "{}: {}", answer.request, answer.text());
}

/// Requests with a secret in a wrong place, except in the content of resources.
fn wrong_places(ehr: &Ehr, secret: &str) -> Vec<Request> {
    let fhir = "application/fhir+json";
    let at = |method: Method, address: String| Request::new(method, ehr.path(&address));
    let mut requests = vec![
        at(Method::GET, format!("Patient?access_token={secret}")),
        at(Method::GET, format!("Patient?name={secret}")),
        at(Method::GET, format!("Patient?{secret}=1")),
        at(Method::GET, format!("Patient/{secret}")),
        at(Method::GET, format!("{secret}/1")),
        at(Method::GET, secret.to_owned()),
        at(Method::GET, format!("Patient/p1/_history/{secret}")),
        at(Method::DELETE, format!("Patient?identifier={secret}")),
        at(Method::PUT, "Patient/p1".into())
            .content(fhir, json!({"resourceType": "Patient", "id": secret}).to_string()),
        at(Method::PUT, "Patient/p1".into()).content(fhir, json!({"resourceType": secret, "id": "p1"}).to_string()),
        at(Method::PUT, "Patient/p1".into())
            .content(fhir, json!({"resourceType": "Patient", "id": "p1", secret: secret}).to_string()),
        at(Method::PUT, "Patient/p1".into()).content(fhir, format!("{{\"a\": \"{secret}\"")),
        at(Method::POST, "Patient/_search".into())
            .content("application/x-www-form-urlencoded", format!("name={secret}&token={secret}")),
        at(Method::POST, String::new())
            .content(fhir, transaction(vec![entry("GET", &format!("Patient/{secret}"), None)]).to_string()),
        at(Method::PATCH, "Patient/p1".into()).content(
            "application/json-patch+json",
            json!([{"op": "test", "path": format!("/{secret}"), "value": secret}]).to_string(),
        ),
        at(Method::from_bytes(b"X").unwrap(), secret.to_owned()),
    ];
    for header in [
        "accept",
        "prefer",
        "if-none-match",
        "x-provenance",
        "x-request-id",
        "user-agent",
        "idempotency-key",
        "x-api-key",
        "cookie",
        "content-type",
    ] {
        requests.push(at(Method::GET, "Patient/p1".into()).header(header, secret));
    }
    for header in ["if-match", "if-none-exist"] {
        let method = if header == "if-match" { Method::PUT } else { Method::POST };
        let address = if header == "if-match" { "Patient/p1" } else { "Patient" };
        let value = if header == "if-match" { secret.to_owned() } else { format!("nonsense={secret}") };
        requests.push(at(method, address.into()).content(fhir, patient("p1").to_string()).header(header, value));
    }
    requests
}

/// The secret as a credential: correct, for another purpose, or in a wrong format.
fn wrong_credentials(ehr: &Ehr, secret: &str) -> Vec<Request> {
    let ask = |credential: String| Request::get(ehr.path("Patient/p1")).header("authorization", credential);
    let id = &ehr.sandbox;
    vec![
        ask(format!("Bearer {secret}")),
        ask(format!("Bearer {secret}x")),
        ask(format!("Basic {secret}")),
        ask(secret.to_owned()),
        token_request(id, &format!("grant_type=client_credentials&client_id={id}&client_secret={secret}")),
        token_request(id, &format!("grant_type=client_credentials&client_id={secret}&client_secret={secret}")),
        token_request(id, &format!("grant_type={secret}&client_id={id}&client_secret={secret}")),
        token_request(
            id,
            &format!(
                "grant_type=client_credentials&client_id={id}&client_secret={secret}&scope=system/*.rs%20{secret}"
            ),
        ),
        token_request(
            id,
            &format!("grant_type=client_credentials&client_id={id}&client_secret={secret}&scope={secret}"),
        ),
        token_request(id, &format!("{secret}={secret}")),
    ]
}

/// Plants a secret where the search must find it: in a resource and in the log.
async fn plant(server: &TestServer, ehr: &Ehr) -> String {
    let secret = ehr.token(server, "system/Patient.rs").await;
    let mut planted = patient("planted");
    planted["name"] = json!([{"text": secret}]);
    ehr.put("Patient/planted", &planted).await.expect(201);
    tracing::info!("planted {secret}");
    secret
}
