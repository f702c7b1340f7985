//! Secrets are nowhere but in the answer that makes them, and errors tell nothing of the inside.

use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::world::patients;
use testkit::{Answer, Caller, both_databases};

use crate::bad_input;
use crate::mutations::faulty_bodies;
use crate::surface::{Surface, Tenant, crawl};

both_databases! {
    async fn a_secret_is_nowhere_but_in_the_answer_that_makes_it(server: TestServer) {
        let logs = Logs::captured();
        let own = Tenant::create(&server, "Own", "Private").await;
        own.caller.post("/environments", json!({"name": "control of the search"})).await.expect(201);
        let secrets = make_secrets(&own).await;
        let mut answers = Vec::new();
        for secret in &secrets {
            answers.extend(use_secret(&server.caller(secret)).await);
            answers.extend(misplace_secret(&own, secret).await);
        }
        let mut shown: Vec<String> = answers.iter().map(|answer| format!("{:?}{}", answer.headers, answer.text())).collect();
        shown.extend(crawl(&Surface::load(), &own.caller, &own).await.into_values());

        let (at_rest, logged) = (server.database().at_rest(), logs.text());
        assert!(holds(&at_rest, "control of the search") && logged.contains("/environments/{environment_id}"));
        for secret in &secrets {
            for form in forms(secret) {
                assert!(!holds(&at_rest, &form), "{form} is at rest");
                let line = logged.lines().find(|line| line.contains(&form));
                assert!(line.is_none(), "{form} is logged: {line:?}");
                let leak = shown.iter().find(|text| text.contains(&form));
                assert!(leak.is_none(), "{form} is shown: {leak:?}");
            }
        }
        eprintln!("{} secrets, {} answers, {} bytes at rest, {} bytes of log", secrets.len(), shown.len(), at_rest.len(), logged.len());
    }

    async fn the_answer_with_a_secret_is_repeated_to_its_maker_only(server: TestServer) {
        let own = Tenant::create(&server, "Own", "Private").await;
        let create = async |caller: &Caller| {
            caller.send(Method::POST, "/api-keys", &[("idempotency-key", "one")], Some(json!({"name": "x"}))).await
        };
        let first = create(&own.caller).await.expect(201);
        assert_eq!(first.header("cache-control"), Some("no-store"));
        let again = create(&own.caller).await.expect(201);
        assert_eq!(first["key"], again["key"]);
        let other_key = server.caller(first["key"].as_str().unwrap());
        let refused = create(&other_key).await.refused(409, "CONFLICT");
        assert!(!refused.text().contains(first["key"].as_str().unwrap()));
    }

    async fn errors_tell_nothing_of_the_inside(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        let foreign = Tenant::create(&server, "Foreign", "Private").await;
        let mut answers = refused_bodies(&surface, &own).await;
        answers.extend(refused_addresses(&surface, &own, &foreign).await);
        answers.extend(refused_states(&own).await);
        answers.extend(refused_uploads(&own).await);
        std::fs::remove_dir_all(server.database().directory().join("blobs")).unwrap();
        answers.push(own.caller.get(&format!("/datasets/{}/files/inbox/a.txt", own.made.files_dataset)).await);
        answers.last().unwrap().header("retry-after").expect("a storage that is away may come back");
        for answer in &answers {
            assert!(answer.status >= 400, "{}: {}", answer.asked, answer.status);
            assert!(answer["error"]["code"].is_string(), "{}: {}", answer.asked, answer.text());
            assert_clean(answer, &foreign);
        }
        eprintln!("{} errors told nothing of the inside", answers.len());
        assert!(answers.len() >= 1000);
    }
}

/// An organization's key, a second one, a solver's, one made to be repeated, one that is revoked, the first of another.
async fn make_secrets(own: &Tenant) -> Vec<String> {
    let solver_keys = format!("/solvers/{}/api-keys", own.made.solver);
    let repeated = [("idempotency-key", "made once")];
    let revoked = own.caller.post("/api-keys", json!({"name": "revoked"})).await.expect(201);
    own.caller.delete(&format!("/api-keys/{}", revoked.id())).await.expect(204);
    let made = [
        own.caller.post("/api-keys", json!({"name": "second"})).await,
        own.caller.post(&solver_keys, json!({"name": "agent"})).await,
        own.caller.send(Method::POST, "/api-keys", &repeated, Some(json!({"name": "repeated"}))).await,
        revoked,
    ];
    let made = made.into_iter().map(|answer| answer.expect(201)["key"].as_str().unwrap().to_owned());
    std::iter::once(own.caller.key().to_owned()).chain(made).collect()
}

async fn use_secret(caller: &Caller) -> Vec<Answer> {
    vec![
        caller.get("/organization").await,
        caller.get("/api-keys?limit=100").await,
        caller.get("/environments/env_7ZZZZZZZZZZZZZZZZZZZZZZZZZ").await,
        caller.post("/environments", json!({"name": 5})).await,
    ]
}

/// Everywhere that a hurried person could paste a key. All of it is refused.
async fn misplace_secret(own: &Tenant, secret: &str) -> Vec<Answer> {
    let (caller, made) = (&own.caller, &own.made);
    let mut answers = Vec::new();
    for path in [
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
    ] {
        answers.push(caller.get(&path).await);
    }
    for (path, body) in [
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
    ] {
        answers.push(caller.post(path, body).await);
    }
    for header in ["x-request-id", "idempotency-key", "x-api-key", "cookie"] {
        answers.push(caller.send(Method::POST, "/environments", &[(header, secret)], Some(json!({"name": ""}))).await);
    }
    answers.push(
        caller.send(Method::POST, "/environments", &[("idempotency-key", secret)], Some(json!({"name": "x"}))).await,
    );
    let resource = json!({"resourceType": secret, "id": format!("{secret}!")}).to_string();
    answers
        .push(caller.put_bytes(&format!("/datasets/{}/data", made.dataset), "application/fhir+ndjson", resource).await);
    let tag = [("if-match", secret)];
    answers.push(caller.send(Method::PATCH, &format!("/tasks/{}", made.task), &tag, Some(json!({"name": "x"}))).await);
    for answer in &answers {
        assert!((400..500).contains(&answer.status), "{} {}: {}", answer.asked, answer.status, answer.text());
    }
    answers
}

/// The secret as it is, the part of it that no list shows, and what a log of headers or a dump of bytes would hold.
fn forms(secret: &str) -> Vec<String> {
    let hidden = &secret[secret.len() - 34..secret.len() - 6];
    let hexadecimal = hidden.bytes().map(|byte| format!("{byte:02x}")).collect();
    vec![secret.to_owned(), hidden.to_owned(), STANDARD.encode(secret), hexadecimal]
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// What the server logs, at the most detailed level.
#[derive(Clone)]
struct Logs(Arc<Mutex<Vec<u8>>>);

impl Logs {
    /// One for the process: tests that share it look for their own secrets only.
    fn captured() -> Self {
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

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
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

async fn refused_bodies(surface: &Surface, own: &Tenant) -> Vec<Answer> {
    let mut answers = Vec::new();
    for (operation, schema) in surface.with_json_body() {
        for faulty in faulty_bodies(surface, operation, &schema, own) {
            answers
                .push(bad_input::send(&own.caller, operation.method.clone(), &operation.path_of(own), &faulty).await);
        }
    }
    answers
}

/// Ids that are foreign, of nothing, or no ids at all.
async fn refused_addresses(surface: &Surface, own: &Tenant, foreign: &Tenant) -> Vec<Answer> {
    let mut answers = Vec::new();
    for operation in surface.internal().filter(|operation| !operation.variables().is_empty()) {
        let odd = ["x", "%00", "'", "..%2F..%2Fetc%2Fpasswd", "%ff"].map(|text| operation.path(|_| text.to_owned()));
        let schema = surface.with_json_body().find(|(one, _)| std::ptr::eq(*one, operation)).map(|(_, schema)| schema);
        for path in odd.into_iter().chain([operation.path_of(foreign)]) {
            let body = schema.as_ref().map(|schema| surface.sample(schema, own, 0)).unwrap_or(json!({}));
            answers.push(own.caller.send(operation.method.clone(), &path, &[], Some(body)).await);
        }
    }
    for operation in surface.internal().filter(|operation| operation.is_list()) {
        for query in ["limit=x", "cursor=x", "x=1", "limit=1&limit=1"] {
            answers.push(own.caller.get(&format!("{}?{query}", operation.path_of(own))).await);
        }
    }
    answers
}

/// What the state of things does not allow: every unique name, every thing in use.
async fn refused_states(own: &Tenant) -> Vec<Answer> {
    let (caller, made) = (&own.caller, &own.made);
    let mut answers = vec![
        caller.post("/solvers", json!({"alias": "agent-1"})).await,
        caller.post(&format!("/datasets/{}/entities", made.dataset), json!({"name": "the patient"})).await,
        caller.post("/benchmarks", json!({"name": "x", "slug": "own-intake"})).await,
        caller.post("/benchmarks", json!({"name": "x", "slug": "foreign-intake"})).await,
        caller.post(&format!("/benchmarks/{}/publish", made.benchmark), json!({})).await,
        caller.put_bytes(&format!("/datasets/{}/files/inbox", made.files_dataset), "text/plain", "x").await,
        caller
            .send(Method::POST, &format!("/simulators/{}/datasets/{}", made.simulator, made.files_dataset), &[], None)
            .await,
    ];
    for in_use in [
        format!("/environments/{}", made.environment),
        format!("/simulators/{}", made.simulator),
        format!("/datasets/{}", made.dataset),
        format!("/datasets/{}/entities/{}", made.dataset, made.entity),
    ] {
        answers.push(caller.delete(&in_use).await);
    }
    for answer in &answers {
        assert_eq!(answer.status, 409, "{}: {}", answer.asked, answer.text());
    }
    answers
}

async fn refused_uploads(own: &Tenant) -> Vec<Answer> {
    let data = format!("/datasets/{}/data", own.made.dataset);
    let mut answers = Vec::new();
    for line in
        ["x", "{", "[]", "{\"resourceType\":\"x\"}", "{\"resourceType\":\"Patient\",\"id\":\"\\u0000\"}", "\u{0}"]
    {
        for media in ["application/fhir+ndjson", "application/fhir+json", "text/plain"] {
            answers.push(own.caller.put_bytes(&data, media, format!("{}{line}\n", patients(1))).await);
        }
    }
    answers
}

/// Words that only the inside of the server uses.
const INSIDE: [&str; 18] = [
    "/tmp",
    "/home",
    "/root",
    "src/",
    ".rs:",
    ".rs\"",
    "select ",
    "insert into",
    "update ",
    "constraint",
    "foreign key",
    "panicked",
    "unwrap",
    "sqlite",
    "postgres",
    "serde",
    "::",
    "backtrace",
];

fn assert_clean(answer: &Answer, foreign: &Tenant) {
    let Value::Object(_) = &answer["error"] else { panic!("{}: {}", answer.asked, answer.text()) };
    let text = format!("{:?}{}", answer.headers, answer.text());
    let lower = text.to_lowercase();
    for word in INSIDE {
        assert!(!lower.contains(word), "{}: `{word}` in {text}", answer.asked);
    }
    for id in foreign.ids() {
        assert!(!text.contains(id), "{}: {id} in {text}", answer.asked);
    }
}
