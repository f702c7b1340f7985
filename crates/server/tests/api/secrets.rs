//! Secrets only appear in the response that creates them.

use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use testkit::world::Authored;
use testkit::{Caller, TestResponse, TestServer, both_databases};

use crate::request::{Request, send_all};
use crate::secret_search::SecretSearch;
use crate::surface::{Surface, Tenant, crawl};

/// The organization itself and four solvers.
const OWNERS: usize = 5;
const KEYS_OF_EACH_OWNER: usize = 200;
/// Each secret is used in a subset of all ways and put in a subset of all wrong places, different from its neighbor's.
const WAYS: usize = 5;
const PLACES: usize = 8;

both_databases! {
    async fn a_thousand_secrets_appear_only_in_the_responses_that_create_them(server: TestServer) {
        let logs = Logs::captured();
        let own = Tenant::create(&server, "Own", "Private").await;
        let mut secrets = issue_keys(&own).await;
        let planted = secrets.pop().expect("a key to plant");
        assert!(secrets.len() >= 1000, "only {}", secrets.len());

        let mut shown = SeenBytes::default();
        for (number, secret) in secrets.iter().enumerate() {
            use_and_misplace(&server, &own, number, secret, &mut shown).await;
        }
        plant(&own, &planted).await;
        shown.read(crawl(&Surface::load(), &own.caller, &own).await.into_values().collect::<String>().as_bytes());

        let (search, control) = (SecretSearch::new(secrets.iter().map(String::as_str)), SecretSearch::new([planted.as_str()]));
        let (at_rest, logged) = (server.database().at_rest(), logs.bytes());
        for (place, bytes) in [("at rest", &at_rest), ("logged", &logged), ("shown", &shown.bytes)] {
            assert_eq!(search.find(bytes), None, "a secret is {place}");
            assert!(control.find(bytes).is_some(), "the planted secret is {place}, and the search does not see it");
        }
        eprintln!(
            "{} secrets, {} answers of {} bytes, {} bytes at rest, {} bytes of log",
            secrets.len(), shown.answers, shown.bytes.len(), at_rest.len(), logged.len()
        );
    }

    async fn a_response_with_a_secret_is_only_replayed_to_its_creator(server: TestServer) {
        let own = Tenant::create(&server, "Own", "Private").await;
        let create = async |caller: &Caller| {
            caller.send(Method::POST, "/api-keys", &[("idempotency-key", "one")], Some(json!({"name": "x"}))).await
        };
        let first = create(&own.caller).await.expect(201);
        assert_eq!(first.header("cache-control"), Some("no-store"));
        let again = create(&own.caller).await.expect(201);
        assert_eq!(first["key"], again["key"]);
        let other_key = server.caller(first["key"].as_str().unwrap());
        let refused = create(&other_key).await.expect_error(409, "CONFLICT");
        assert!(!refused.text().contains(first["key"].as_str().unwrap()));
    }
}

/// Keys of the organization and its solvers: some created with an idempotency key, some revoked.
async fn issue_keys(own: &Tenant) -> Vec<String> {
    let mut folders = vec!["/api-keys".to_owned()];
    for number in 1..OWNERS {
        let solver = own.caller.post("/solvers", json!({"alias": format!("of-many-keys-{number}")})).await.expect(201);
        folders.push(format!("/solvers/{}/api-keys", solver.id()));
    }
    let made = join_all(folders.iter().map(|folder| issue_keys_in(&own.caller, folder))).await;
    std::iter::once(own.caller.key().to_owned()).chain(made.into_iter().flatten()).collect()
}

async fn issue_keys_in(caller: &Caller, folder: &str) -> Vec<String> {
    let mut keys = Vec::new();
    for number in 0..KEYS_OF_EACH_OWNER {
        let mut request = Request::post(folder, &json!({"name": format!("key {number}")}));
        if number % 4 == 0 {
            request = request.header("idempotency-key", format!("{folder} {number}"));
            request.clone().send(caller).await.expect(201);
        }
        let made = request.send(caller).await.expect(201);
        if number % 10 == 1 {
            caller.delete(&format!("{folder}/{}", made.id())).await.expect(204);
        }
        keys.push(made["key"].as_str().expect("a key").to_owned());
    }
    keys
}

/// A response with its headers.
#[derive(Default)]
struct SeenBytes {
    answers: usize,
    bytes: Vec<u8>,
}

impl SeenBytes {
    fn look(&mut self, response: &TestResponse) {
        self.read(format!("{:?}\n", response.headers).as_bytes());
        self.read(&response.body);
        self.answers += 1;
    }

    fn read(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
}

async fn use_and_misplace(server: &TestServer, own: &Tenant, number: usize, secret: &str, shown: &mut SeenBytes) {
    let share = |requests: Vec<Request>, parts: usize| {
        let indexed = requests.into_iter().enumerate();
        indexed.filter(move |(index, _)| index % parts == number % parts).map(|(_, request)| request)
    };
    send_all(&server.caller(secret), share(uses(), WAYS), |response| shown.look(response)).await;
    let refuse = |response: &TestResponse, shown: &mut SeenBytes| {
        assert!((400..500).contains(&response.status), "{} {}: {}", response.request, response.status, response.text());
        shown.look(response);
    };
    send_all(&server.anonymous(), share(odd_credentials(secret), WAYS), |response| refuse(response, shown)).await;
    send_all(&own.caller, share(wrong_places(&own.made, secret), PLACES), |response| refuse(response, shown)).await;
}

/// Requests with the secret as the caller's key.
fn uses() -> Vec<Request> {
    vec![
        Request::get("/organization"),
        Request::get("/api-keys?limit=10"),
        Request::get("/environments/env_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"),
        Request::post("/environments", &json!({"name": 5})),
        Request::get("/v1/no-such-endpoint"),
    ]
}

/// The secret as a credential in a wrong format.
fn odd_credentials(secret: &str) -> Vec<Request> {
    let ask = |credential: String| Request::get("/environments").header("authorization", credential);
    vec![
        ask(secret.to_owned()),
        ask(format!("Basic {}", STANDARD.encode(format!("user:{secret}")))),
        ask(format!("Token {secret}")),
        ask(format!("Bearer {secret}x")),
        ask(format!("Bearer {}", &secret[..secret.len() - 1])),
    ]
}

/// Requests with a key pasted in a wrong place. All of them are rejected.
fn wrong_places(made: &Authored, secret: &str) -> Vec<Request> {
    let mut requests = misplaced_in_addresses(made, secret);
    requests.extend(misplaced_in_bodies(made, secret));
    for header in ["x-request-id", "idempotency-key", "x-api-key", "cookie"] {
        requests.push(Request::post("/environments", &json!({"name": ""})).header(header, secret));
    }
    requests.push(Request::post("/environments", &json!({"name": "x"})).header("idempotency-key", secret));
    let resource = json!({"resourceType": secret, "id": format!("{secret}!")}).to_string();
    let data = Request::new(Method::PUT, format!("/datasets/{}/data", made.dataset));
    requests.push(data.content("application/fhir+ndjson", resource));
    let task = Request::new(Method::PATCH, format!("/tasks/{}", made.task));
    requests.push(task.json(&json!({"name": "x"})).header("if-match", secret));
    requests
}

fn misplaced_in_addresses(made: &Authored, secret: &str) -> Vec<Request> {
    let paths = [
        format!("/environments?api_key={secret}"),
        format!("/environments?{secret}=1"),
        format!("/environments?cursor={secret}"),
        format!("/environments?limit={secret}"),
        format!("/tasks?benchmark_id={secret}"),
        format!("/environments/{secret}"),
        format!("/benchmarks/{secret}"),
        format!("/benchmarks/{secret}@1"),
        format!("/{secret}"),
        format!("/datasets/{}/files/{secret}", made.files_dataset),
    ];
    paths.into_iter().map(Request::get).collect()
}

fn misplaced_in_bodies(made: &Authored, secret: &str) -> Vec<Request> {
    let bodies = [
        ("/environments", json!({"name": "x", "api_key": secret})),
        ("/environments", json!({"name": "x", secret: 1})),
        ("/environments", json!({"name": [secret]})),
        ("/benchmarks", json!({"name": "x", "timeout": secret})),
        ("/benchmarks", json!({"name": "x", "visibility": secret})),
        ("/benchmarks", json!({"name": "x", "slug": secret})),
        ("/benchmarks", json!({"name": "x", "environment_id": secret})),
        ("/simulators", json!({"name": "x", "type": secret})),
        ("/simulators", json!({"name": "x", "type": "Fhir", "config": {secret: secret}})),
        ("/datasets", json!({"name": "x", "type": secret})),
        ("/criteria", json!({"task_id": made.task, "label": "x", "weight": secret, "assertion": {"assert": 5}})),
        ("/solvers", json!({"alias": format!("/{secret}"), "contact_email": secret})),
        ("/api-keys", json!({"name": secret, "key": secret})),
    ];
    bodies.iter().map(|(path, body)| Request::post(*path, body)).collect()
}

/// Plants a secret where the search must find it, to prove that the search works.
async fn plant(own: &Tenant, secret: &str) {
    own.caller.post("/environments", json!({"name": secret})).await.expect(201);
    tracing::info!("planted {secret}");
}

/// The log of the server, at the most detailed level.
#[derive(Clone)]
pub(crate) struct Logs(Arc<Mutex<Vec<u8>>>);

impl Logs {
    /// One log for the process: tests that share it only search for their own secrets.
    pub(crate) fn captured() -> Self {
        static LOGS: OnceLock<Logs> = OnceLock::new();
        let begin = || {
            let logs = Logs(Arc::default());
            let writer = logs.clone();
            let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE);
            subscriber.with_ansi(false).with_writer(move || writer.clone()).init();
            logs
        };
        LOGS.get_or_init(begin).clone()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Logs {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
