//! Errors tell nothing of the inside: no path, no SQL, no stack frame, nothing of another organization or of its rubrics.

use std::collections::BTreeSet;

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::json;
use testkit::world::patients;
use testkit::{Answer, both_databases};

use crate::hostile;
use crate::mutations::{Faulty, faulty_bodies};
use crate::request::{Request, send_all};
use crate::surface::{Surface, Tenant};
use crate::tenants::{bad_credentials, plant_canaries, solver_key};

both_databases! {
    async fn ten_thousand_errors_tell_nothing_of_the_inside(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        let foreign = Tenant::create(&server, "Foreign", "Private").await;
        let mut hidden = plant_canaries(&foreign).await;
        hidden.extend(foreign.ids().into_iter().map(ToOwned::to_owned));
        hidden.push(server.database().directory().display().to_string());
        let mut scan = Scan { hidden, errors: 0 };

        for (operation, schema) in surface.with_json_body() {
            let faulty = faulty_bodies(&surface, operation, &schema, &own).into_iter();
            let faulty = faulty.map(|faulty| as_request(faulty, operation.method.clone(), operation.path_of(&own)));
            send_all(&own.caller, faulty, |answer| scan.look(answer)).await;
            send_all(&own.caller, hostile::in_bodies(&surface, operation, &schema, &own), |answer| scan.look(answer)).await;
        }
        for requests in [
            hostile::in_catalogues(&own.made),
            hostile::in_addresses(&surface, &own),
            hostile::in_uploads(&own.made),
            refused_addresses(&surface, &own, &foreign),
            refused_methods(&surface, &own),
            refused_headers(&surface, &own),
            refused_uploads(&own),
        ] {
            send_all(&own.caller, requests, |answer| scan.look(answer)).await;
        }
        send_all(&own.caller, refused_states(&own), |answer| {
            assert_eq!(answer.status, 409, "{}: {}", answer.asked, answer.text());
            scan.look(answer);
        }).await;
        let strangers = refused_credentials(&surface, &foreign).await;
        send_all(&server.anonymous(), strangers, |answer| scan.look(answer)).await;
        std::fs::remove_dir_all(server.database().directory().join("blobs")).unwrap();
        let lost = own.caller.get(&format!("/datasets/{}/files/inbox/a.txt", own.made.files_dataset)).await;
        lost.header("retry-after").expect("a storage that is away may come back");
        scan.look(&lost);
        eprintln!("{} errors told nothing of the inside", scan.errors);
        assert!(scan.errors >= 10_000, "only {}", scan.errors);
    }
}

#[test]
fn an_error_that_tells_is_noticed() {
    let scan = Scan { hidden: vec!["task_01foreign".into(), "canary-label".into()], errors: 0 };
    let answer = |message: &str| {
        let json = json!({"error": {"code": "NOT_FOUND", "message": message}});
        let body = json.to_string().into_bytes();
        Answer { asked: String::new(), status: 404, headers: HeaderMap::new(), body, json }
    };
    for message in [
        "cannot open /tmp/x",
        "near SELECT id",
        "at crates/store/src/db.rs:5",
        "task_01foreign is not yours",
        "no canary-label",
        "called `Option::unwrap()` on a `None` value",
    ] {
        assert!(scan.leak(&answer(message)).is_some(), "{message}");
    }
    assert_eq!(scan.leak(&answer("no such task")), None);
}

/// Words that only the inside of the server uses.
const INSIDE: [&str; 33] = [
    "/tmp",
    "/home",
    "/root",
    "/usr/",
    "/var/",
    "/proc/",
    ".cargo",
    "src/",
    ".rs:",
    ".rs\"",
    "select ",
    "insert into",
    "update ",
    "delete from",
    "constraint",
    "foreign key",
    "relation \\\"",
    "no such table",
    "no such column",
    "syntax error at",
    "panicked",
    "unwrap",
    "thread '",
    "sqlite",
    "postgres",
    "serde",
    "tokio",
    "hyper:",
    "axum",
    "::",
    "backtrace",
    "os error",
    "zstd",
];

/// Looks at errors, and counts them.
struct Scan {
    /// Foreign ids, canaries, the place of the data.
    hidden: Vec<String>,
    errors: usize,
}

impl Scan {
    fn look(&mut self, answer: &Answer) {
        assert!(answer.status >= 400, "{}: {} {}", answer.asked, answer.status, answer.text());
        assert!(answer["error"]["code"].is_string(), "{}: {}", answer.asked, answer.text());
        assert_eq!(self.leak(answer), None, "{}: {:?} {}", answer.asked, answer.headers, answer.text());
        self.errors += 1;
    }

    fn leak(&self, answer: &Answer) -> Option<String> {
        // An id is made of letters by chance, and chance can spell a word.
        let request_id = answer.header("x-request-id").unwrap_or("none");
        let text = format!("{:?}{}", answer.headers, answer.text()).replace(request_id, "");
        let lower = text.to_lowercase();
        let inside = INSIDE.into_iter().find(|word| lower.contains(word));
        inside
            .or_else(|| self.hidden.iter().map(String::as_str).find(|word| text.contains(word)))
            .map(ToOwned::to_owned)
    }
}

fn as_request(faulty: Faulty, method: Method, path: String) -> Request {
    let headers = faulty.headers.into_iter().map(|(name, value)| (name, value.to_owned())).collect();
    Request { method, path, headers, content: Some((faulty.content_type, faulty.body)) }
}

/// Ids that are foreign, of nothing, or no ids at all.
fn refused_addresses(surface: &Surface, own: &Tenant, foreign: &Tenant) -> Vec<Request> {
    let mut requests = Vec::new();
    for operation in surface.internal().filter(|operation| !operation.variables().is_empty()) {
        let odd = ["x", "%00", "'", "..%2F..%2Fetc%2Fpasswd", "%ff"].map(|text| operation.path(|_| text.to_owned()));
        let schema = surface.with_json_body().find(|(one, _)| std::ptr::eq(*one, operation)).map(|(_, schema)| schema);
        for path in odd.into_iter().chain([operation.path_of(foreign)]) {
            let body = schema.as_ref().map_or(json!({}), |schema| surface.sample(schema, own, 0));
            requests.push(Request::new(operation.method.clone(), path).json(&body));
        }
    }
    for operation in surface.internal().filter(|operation| operation.is_list()) {
        for query in ["limit=x", "cursor=x", "x=1", "limit=1&limit=1"] {
            requests.push(Request::get(format!("{}?{query}", operation.path_of(own))));
        }
    }
    requests
}

/// Methods that a path does not take, known ones and made-up ones.
fn refused_methods(surface: &Surface, own: &Tenant) -> Vec<Request> {
    let made_up = ["TRACE", "PROPFIND", "SELECT"].map(|name| Method::from_bytes(name.as_bytes()).unwrap());
    let known = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let methods: Vec<Method> = known.into_iter().chain(made_up).collect();
    let patterns: BTreeSet<&str> = surface.operations.iter().map(|operation| operation.pattern.as_str()).collect();
    let mut requests = Vec::new();
    for pattern in patterns {
        let taken: Vec<_> = surface.operations.iter().filter(|operation| operation.pattern == pattern).collect();
        let refused = methods.iter().filter(|method| taken.iter().all(|operation| operation.method != **method));
        requests.extend(refused.map(|method| Request::new(method.clone(), taken[0].path_of(own))));
    }
    requests
}

/// Preconditions that do not hold, and retry keys that are none.
fn refused_headers(surface: &Surface, own: &Tenant) -> Vec<Request> {
    let mut requests = Vec::new();
    for (operation, schema) in surface.with_json_body() {
        let request = || {
            let body = surface.sample(&schema, own, 1);
            Request::new(operation.method.clone(), operation.path_of(own)).json(&body)
        };
        if operation.header_parameters().contains(&"If-Match") {
            let tags = ["\"other\"", "W/\"1\"", "x", "'; drop table keys; --", "\"", ",", "\"a\", \"b\"", "k\u{e9}"];
            requests.extend(tags.map(|tag| request().header("if-match", tag)));
        } else if operation.method == Method::POST {
            let long = "k".repeat(256);
            requests.extend(["", &long, "k\u{e9}", "a\tb"].map(|key| request().header("idempotency-key", key)));
        }
    }
    requests
}

/// What the state of things does not allow: every unique name, every thing in use.
fn refused_states(own: &Tenant) -> Vec<Request> {
    let made = &own.made;
    let attached = format!("/simulators/{}/datasets/{}", made.simulator, made.files_dataset);
    let mut requests = vec![
        Request::post("/solvers", &json!({"alias": "agent-1"})),
        Request::post(format!("/datasets/{}/entities", made.dataset), &json!({"name": "the patient"})),
        Request::post("/benchmarks", &json!({"name": "x", "slug": "own-intake"})),
        Request::post("/benchmarks", &json!({"name": "x", "slug": "foreign-intake"})),
        Request::post(format!("/benchmarks/{}/publish", made.benchmark), &json!({})),
        Request::new(Method::PUT, format!("/datasets/{}/files/inbox", made.files_dataset)).content("text/plain", "x"),
        Request::new(Method::POST, attached),
    ];
    for in_use in [
        format!("/environments/{}", made.environment),
        format!("/simulators/{}", made.simulator),
        format!("/datasets/{}", made.dataset),
        format!("/datasets/{}/entities/{}", made.dataset, made.entity),
    ] {
        requests.push(Request::new(Method::DELETE, in_use));
    }
    requests
}

fn refused_uploads(own: &Tenant) -> Vec<Request> {
    let lines =
        ["x", "{", "[]", "{\"resourceType\":\"x\"}", "{\"resourceType\":\"Patient\",\"id\":\"\\u0000\"}", "\u{0}"];
    let medias = ["application/fhir+ndjson", "application/fhir+json", "text/plain"];
    let upload = |line: &str, media| {
        let data = Request::new(Method::PUT, format!("/datasets/{}/data", own.made.dataset));
        data.content(media, format!("{}{line}\n", patients(1)))
    };
    lines.into_iter().flat_map(|line| medias.map(|media| upload(line, media))).collect()
}

/// Every operation on a tenant's things with every bad credential, and with the key of a solver that is the tenant's own.
async fn refused_credentials(surface: &Surface, tenant: &Tenant) -> Vec<Request> {
    let mut credentials = bad_credentials(tenant).await;
    credentials.push(Some(format!("Bearer {}", solver_key(tenant).await)));
    let mut requests = Vec::new();
    for operation in surface.internal() {
        for credential in &credentials {
            let request = Request::new(operation.method.clone(), operation.path_of(tenant)).json(&json!({}));
            requests.push(match credential {
                Some(text) => request.header("authorization", text),
                None => request,
            });
        }
    }
    requests
}
