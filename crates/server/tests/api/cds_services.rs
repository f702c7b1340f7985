//! CDS services on other servers: valid ones, and those that respond slowly, never, with too much data or with nonsense.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{Caller, both_databases, world};

/// A request to a service: the last path segment, the headers and the body.
type Heard = Arc<Mutex<Vec<(String, HeaderMap, Value)>>>;

/// A server with a service for every kind of response.
pub(crate) struct Services {
    pub(crate) base_url: String,
    heard: Heard,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for Services {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// All services that respond.
pub(crate) const SERVICE_IDS: [&str; 8] =
    ["sound", "invalid", "broken", "deep", "endless", "redirect", "failing", "forbidding"];

impl Services {
    pub(crate) async fn start(kinds: &'static [&'static str]) -> Self {
        let heard = Heard::default();
        let router = Router::new()
            .route("/r4/cds-services", get(move |State(heard): State<Heard>| discovery(heard, kinds)))
            .route("/r4/cds-services/{id}", post(answer))
            .route("/r4/cds-services/{id}/feedback", post(feedback))
            .with_state(Arc::clone(&heard));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/r4", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { base_url, heard, serving }
    }

    pub(crate) fn host(&self) -> String {
        self.base_url.trim_start_matches("http://").trim_end_matches("/r4").to_owned()
    }

    fn heard(&self, what: &str) -> Vec<(HeaderMap, Value)> {
        let heard = self.heard.lock().unwrap();
        heard
            .iter()
            .filter(|(name, _, _)| name == what)
            .map(|(_, headers, body)| (headers.clone(), body.clone()))
            .collect()
    }
}

async fn discovery(heard: Heard, kinds: &[&str]) -> Json<Value> {
    heard.lock().unwrap().push(("discovery".to_owned(), HeaderMap::new(), Value::Null));
    let service = |kind: &&str| {
        json!({"hook": if *kind == "sound" { "order-sign" } else { "patient-view" }, "id": kind, "title": kind,
        "description": "Answers", "prefetch": {"patient": "Patient/{{context.patientId}}"}, "extension": {"com.example.kind": kind}})
    };
    Json(json!({"services": kinds.iter().map(service).collect::<Vec<_>>()}))
}

async fn feedback(
    State(heard): State<Heard>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> StatusCode {
    heard.lock().unwrap().push((format!("{id}/feedback"), headers, body));
    StatusCode::OK
}

fn order() -> Value {
    json!({"resourceType": "ServiceRequest", "id": "o1", "status": "draft", "intent": "order", "subject": {"reference": "Patient/p1"}})
}

async fn answer(
    State(heard): State<Heard>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    heard.lock().unwrap().push((id.clone(), headers, body));
    match id.as_str() {
        "sound" => {
            let mut cards = world::cards();
            cards[0]["suggestions"][0]["actions"] =
                json!([{"type": "create", "description": "Order it", "resource": order()}]);
            cards[0]["x-vendor"] = json!({"colour": "red"});
            Json(json!({"cards": cards, "systemActions": [{"type": "update", "resource": order()}]})).into_response()
        }
        "invalid" => {
            Json(json!({"cards": [{"summary": "x".repeat(140), "indicator": "info", "source": {"label": "a"}}]}))
                .into_response()
        }
        "broken" => "{\"cards\": [".into_response(),
        "deep" => format!("{{\"cards\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000)).into_response(),
        "endless" => {
            let piece = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b' '; 1 << 16]));
            Body::from_stream(piece).into_response()
        }
        "silent" => std::future::pending().await,
        "redirect" => Redirect::temporary("http://127.0.0.1:1/cds-services/sound").into_response(),
        "failing" => (StatusCode::INTERNAL_SERVER_ERROR, "no").into_response(),
        _ => StatusCode::PRECONDITION_FAILED.into_response(),
    }
}

/// An EHR with patients in a playground of its own; its base path, that of its FHIR server, and its id.
async fn ehr(caller: &Caller, config: Value) -> (String, String) {
    let dataset = caller.post("/datasets", json!({"name": "Patients", "type": "fhir"})).await.expect(201).id();
    caller
        .put_bytes(&format!("/datasets/{dataset}/data"), "application/fhir+ndjson", world::patients(3))
        .await
        .expect(200);
    let fhir = caller.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
    caller.send(Method::POST, &format!("/simulators/{fhir}/datasets/{dataset}"), &[], None).await.expect(200);
    let fhir = caller.post("/sandboxes", json!({"simulator_id": fhir})).await.expect(201);
    let cds = json!({"type": "CdsHooks", "name": "CDS", "config": config});
    let cds = caller.post("/simulators", cds).await.expect(201).id();
    let cds = json!({"simulator_id": cds, "playground_id": fhir["own_playground_id"]});
    let cds = caller.post("/sandboxes", cds).await.expect(201).id();
    (format!("/sandboxes/{cds}/cds"), format!("/sandboxes/{}/fhir", fhir.id()))
}

fn signing() -> Value {
    let orders = json!({"resourceType": "Bundle", "type": "collection", "entry": [{"resource": order()}]});
    json!({"context": {"userId": "Practitioner/d1", "patientId": "p1", "draftOrders": orders}})
}

both_databases! {
    async fn services_are_discovered_called_and_notified(server: TestServer) {
        let services = Services::start(&SERVICE_IDS).await;
        let near = server.stranger(vec![services.host()]).await;
        let caller = near.organization("Clinic").await;
        let config = json!({"timeout_seconds": 60, "services": [{"base_url": format!("{}/", services.base_url), "headers": {"X-Site": "north"}}],
            "fhir_authorization": {"scope": "system/Patient.rs"}});
        let (path, fhir) = ehr(&caller, config).await;
        let listed = caller.get(&format!("{path}/services")).await.expect(200);
        assert_eq!(listed.data().len(), SERVICE_IDS.len());
        let sound = listed.data().iter().find(|service| service["definition"]["id"] == "sound").unwrap();
        assert_eq!((&sound["answered_by"], &sound["base_url"]), (&json!("service"), &json!(services.base_url)));
        let once = [("idempotency-key", "sign-1")];
        let fired = caller.send(Method::POST, &format!("{path}/hooks/order-sign"), &once, Some(signing())).await.expect(201);
        let again = caller.send(Method::POST, &format!("{path}/hooks/order-sign"), &once, Some(signing())).await.expect(201);
        assert_eq!(fired.json, again.json);
        let [invocation] = fired["invocations"].as_array().unwrap().as_slice() else { panic!("{}", fired.text()) };
        assert_eq!((&invocation["status"], &invocation["cards"][0]["summary"]), (&json!("answered"), &json!("Potassium is high")));
        assert_eq!(invocation["system_actions"].as_array().unwrap().len(), 1);
        // The request matches the standard, and its token allows exactly its scope.
        let heard = services.heard("sound");
        let [(headers, request)] = heard.as_slice() else { panic!("{heard:?}") };
        assert_eq!(headers["x-site"], "north");
        assert_eq!((&request["hook"], &request["hookInstance"]), (&json!("order-sign"), &invocation["hook_instance"]));
        assert_eq!((&request["context"], &request["prefetch"]["patient"]["id"]), (&signing()["context"], &json!("p1")));
        assert_eq!(request["fhirServer"], format!("{}{fhir}", near.base_url));
        let authorization = &request["fhirAuthorization"];
        assert_eq!((&authorization["token_type"], &authorization["scope"]), (&json!("Bearer"), &json!("system/Patient.rs")));
        assert_eq!((&authorization["subject"], authorization["expires_in"].as_i64()), (&json!("sound"), Some(300)));
        let token = authorization["access_token"].as_str().unwrap();
        let service = near.caller(token);
        service.get(&format!("{fhir}/Patient/p1")).await.expect(200);
        service.get(&format!("{fhir}/Observation")).await.expect(403);
        // Accepting writes and notifies the service; overriding notifies it too.
        let accept = format!("{path}/invocations/{}/accept", invocation["id"].as_str().unwrap());
        let accepted = caller.post(&accept, json!({"suggestion": world::SUGGESTION})).await.expect(201);
        assert_eq!((&accepted["delivery"]["status"], &accepted["applied"][0]["type"]), (&json!("sent"), &json!("create")));
        assert_eq!(caller.get(&format!("{fhir}/ServiceRequest?status=draft")).await.expect(200)["total"], json!(1));
        let reason = json!({"card": world::CARD, "outcome": "overridden", "overrideReason": {"userComment": "No"}, "outcomeTimestamp": "2026-04-23T12:00:00Z"});
        caller.post(&format!("{path}/feedback"), json!({"feedback": [reason]})).await.expect(201);
        let told = services.heard("sound/feedback");
        assert_eq!(told[0].1["feedback"][0]["acceptedSuggestions"], json!([{"id": world::SUGGESTION}]));
        assert_eq!(told[1].1["feedback"][0]["overrideReason"], json!({"userComment": "No"}));
        // The token is not stored anywhere.
        for list in [format!("{path}/hooks"), format!("{path}/feedback"), path.replace("/cds", "/events?limit=100"), path.replace("/cds", "/state?limit=100")] {
            let kept = caller.get(&list).await.expect(200).text();
            assert!(!kept.contains(token) && !kept.contains("access_token"), "{list}");
        }
    }

    async fn no_service_hears_of_a_task_run_that_has_ended(server: TestServer) {
        let services = Services::start(&["sound"]).await;
        let near = server.stranger(vec![services.host()]).await;
        let author = near.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        let cds = json!({"type": "CdsHooks", "name": "CDS", "config": {"services": [{"base_url": services.base_url}]}});
        let cds = author.post("/simulators", cds).await.expect(201).id();
        let path = format!("/environments/{}/simulators/{cds}", bench.environment);
        author.send(Method::POST, &path, &[], None).await.expect(200);
        bench.task("Only", &[wants_code("a")]).await;
        let agent = Agent::begin(&near, &solver(&near, &author, "agent-1").await, &bench.publish().await, false).await;
        let started = agent.start(0).await.expect(200);
        let sandboxes = started["sandboxes"].as_array().unwrap();
        let cds = sandboxes.iter().find(|sandbox| sandbox["type"] == "CdsHooks").unwrap();
        agent.complete(0).await.expect(200);
        // The organization reads what there is, and the services of the config are not asked any more.
        let path = format!("/sandboxes/{}/cds", cds["id"].as_str().unwrap());
        for list in ["services", "hooks", "feedback"] {
            author.get(&format!("{path}/{list}")).await.expect(200);
        }
        author.post(&format!("{path}/hooks/order-sign"), signing()).await.expect_error(409, "CONFLICT");
        author.post(&format!("{path}/services"), json!({"base_url": services.base_url})).await.expect_error(409, "CONFLICT");
        assert!(services.heard.lock().unwrap().is_empty());
    }

    async fn a_misbehaving_service_is_reported_and_does_not_affect_others(server: TestServer) {
        let (services, silent) = (Services::start(&SERVICE_IDS).await, Services::start(&["silent"]).await);
        let near = server.stranger(vec![services.host(), silent.host()]).await;
        let caller = near.organization("Clinic").await;
        let (path, _) = ehr(&caller, json!({"timeout_seconds": 60})).await;
        caller.post(&format!("{path}/services"), json!({"base_url": services.base_url})).await.expect(201);
        // Discovery is in time, but the service never responds.
        caller.post(&format!("{path}/services"), json!({"base_url": silent.base_url, "timeout_seconds": 8})).await.expect(201);
        let view = json!({"context": world::hook_context()});
        let hook = format!("{path}/hooks/patient-view");
        let firing = caller.post(&hook, view);
        // Meanwhile the playground responds as usual.
        let (fired, ()) = tokio::join!(firing, async { drop(caller.get(&format!("{path}/feedback")).await.expect(200)) });
        let fired = fired.expect(201);
        let invocations = fired["invocations"].as_array().unwrap();
        assert_eq!(invocations.len(), SERVICE_IDS.len());
        for invocation in invocations {
            assert_eq!((&invocation["status"], &invocation["cards"]), (&json!("failed"), &json!(null)));
        }
        let why = |kind: &str| {
            let invocation = invocations.iter().find(|invocation| invocation["service_id"] == kind).unwrap();
            invocation["error"].to_string()
        };
        for (kind, words) in [
            ("invalid", "cards.0.summary"), ("broken", "not valid JSON"), ("deep", "not valid JSON"), ("endless", "too large"),
            ("silent", "did not answer"), ("redirect", "redirects are not followed"), ("failing", "500"), ("forbidding", "412"),
        ] {
            assert!(why(kind).contains(words), "{kind}: {}", why(kind));
        }
        let failed = caller.get(&format!("{path}/hooks?status=failed&limit=100")).await.expect(200);
        assert_eq!(failed.data().len(), SERVICE_IDS.len());
        // Removed services are not called any more.
        for service in caller.get(&format!("{path}/services")).await.expect(200).data() {
            caller.delete(&format!("{path}/services/{}", service["id"].as_str().unwrap())).await.expect(204);
        }
        caller.post(&format!("{path}/hooks/patient-view"), json!({"context": world::hook_context()})).await.expect_error(409, "CONFLICT");
        let sandbox = path.trim_start_matches("/sandboxes/").trim_end_matches("/cds");
        caller.post(&format!("/sandboxes/{sandbox}/teardown"), json!({})).await.expect(200);
        let before = services.heard.lock().unwrap().len();
        caller.post(&format!("{path}/services"), json!({"base_url": services.base_url})).await.expect_error(409, "CONFLICT");
        caller.post(&format!("{path}/hooks/patient-view"), json!({"context": world::hook_context()})).await.expect_error(409, "CONFLICT");
        assert_eq!(services.heard.lock().unwrap().len(), before);
    }
}
