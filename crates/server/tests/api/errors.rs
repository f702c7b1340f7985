//! Errors reveal no internals: no path, no SQL, no stack frame, nothing of another organization or its criteria.

use std::collections::BTreeSet;

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::json;
use testkit::world::patients;
use testkit::{TestResponse, both_databases};

use crate::hostile;
use crate::mutations::{Faulty, faulty_bodies};
use crate::request::{Request, send_all};
use crate::surface::{Surface, Tenant};
use crate::tenants::{bad_credentials, plant_canaries, solver_key};

both_databases! {
    async fn ten_thousand_errors_reveal_no_internals(server: TestServer) {
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
            send_all(&own.caller, faulty, |response| scan.check(response)).await;
            send_all(&own.caller, hostile::in_bodies(&surface, operation, &schema, &own), |response| scan.check(response)).await;
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
            send_all(&own.caller, requests, |response| scan.check(response)).await;
        }
        send_all(&own.caller, refused_states(&own), |response| {
            assert_eq!(response.status, 409, "{}: {}", response.request, response.text());
            scan.check(response);
        }).await;
        let strangers = refused_credentials(&surface, &foreign).await;
        send_all(&server.anonymous(), strangers, |response| scan.check(response)).await;
        std::fs::remove_dir_all(server.database().directory().join("blobs")).unwrap();
        let lost = own.caller.get(&format!("/datasets/{}/files/inbox/a.txt", own.made.files_dataset)).await;
        lost.header("retry-after").expect("a storage that is away may come back");
        scan.check(&lost);
        eprintln!("{} errors told nothing of the inside", scan.errors);
        assert!(scan.errors >= 10_000, "only {}", scan.errors);
    }
}

#[test]
fn the_leak_check_detects_a_leak() {
    let scan = Scan { hidden: vec!["task_01foreign".into(), "canary-label".into()], errors: 0 };
    let response = |message: &str| {
        let json = json!({"error": {"code": "NOT_FOUND", "message": message}});
        let body = json.to_string().into_bytes();
        TestResponse { request: String::new(), status: 404, headers: HeaderMap::new(), body, json }
    };
    for message in [
        "cannot open /tmp/x",
        "near SELECT id",
        "at crates/store/src/db.rs:5",
        "task_01foreign is not yours",
        "no canary-label",
        "called `Option::unwrap()` on a `None` value",
    ] {
        assert!(scan.leak(&response(message)).is_some(), "{message}");
    }
    assert_eq!(scan.leak(&response("no such task")), None);
}

/// Words that only occur in the server's internals.
const INTERNAL_WORDS: [&str; 33] = [
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

/// Checks errors for leaks, and counts them.
struct Scan {
    /// Foreign ids, canaries, and the path of the data directory.
    hidden: Vec<String>,
    errors: usize,
}

impl Scan {
    fn check(&mut self, response: &TestResponse) {
        assert!(response.status >= 400, "{}: {} {}", response.request, response.status, response.text());
        assert!(response["error"]["code"].is_string(), "{}: {}", response.request, response.text());
        assert_eq!(self.leak(response), None, "{}: {:?} {}", response.request, response.headers, response.text());
        self.errors += 1;
    }

    fn leak(&self, response: &TestResponse) -> Option<String> {
        // Random ids can contain a word by chance.
        let request_id = response.header("x-request-id").unwrap_or("none");
        let text = format!("{:?}{}", response.headers, response.text()).replace(request_id, "");
        let lower = text.to_lowercase();
        let inside = INTERNAL_WORDS.into_iter().find(|word| lower.contains(word));
        inside
            .or_else(|| self.hidden.iter().map(String::as_str).find(|word| text.contains(word)))
            .map(ToOwned::to_owned)
    }
}

fn as_request(faulty: Faulty, method: Method, path: String) -> Request {
    let headers = faulty.headers.into_iter().map(|(name, value)| (name, value.to_owned())).collect();
    Request { method, path, headers, content: Some((faulty.content_type, faulty.body)) }
}

/// Foreign, unknown and malformed ids.
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

/// Methods that a path does not support, known ones and invented ones.
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

/// Failing preconditions and invalid idempotency keys.
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

/// Conflicts: duplicate names, and deletion of resources that are in use.
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

/// Every operation on a tenant's resources with every invalid credential, and with a key of the tenant's own solver.
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
