//! One organization never learns about another's resources, whichever operation it uses and however it spells an id.

use std::collections::BTreeSet;

use model::api_key::{KeyKind, Secret};
use reqwest::Method;
use serde_json::json;
use testkit::{TestResponse, both_databases};

use crate::prober::{Prober, comparable, id_fields, unknown_id};
use crate::request::{Request, send_all};
use crate::surface::{Operation, Surface, Tenant, crawl, is_id, without_volatile_fields};

both_databases! {
    async fn a_foreign_id_in_a_path_looks_like_an_unknown_id(server: TestServer) {
        let surface = Surface::load();
        let (own, foreign) = two_tenants(&server, "Private").await;
        let before = (state(&surface, &own).await, state(&surface, &foreign).await);
        let prober = Prober::new(&surface, &own, &foreign).await;
        let probes = prober.paths(|_| true);
        eprintln!("{} pairs: paths", probes.len());
        assert!(probes.len() >= 10_000, "only {} pairs", probes.len());
        prober.compare(&own.caller, probes).await;
        assert_eq!(before, (state(&surface, &own).await, state(&surface, &foreign).await));
    }

    async fn a_foreign_id_in_filters_and_bodies_looks_like_an_unknown_id(server: TestServer) {
        let surface = Surface::load();
        let (own, foreign) = two_tenants(&server, "Private").await;
        let before = (state(&surface, &own).await, state(&surface, &foreign).await);
        let prober = Prober::new(&surface, &own, &foreign).await;
        let kinds = [
            ("ids of other kinds", prober.kinds()),
            ("methods", prober.methods()),
            ("filters", prober.filters()),
            ("bodies", prober.bodies()),
        ];
        let mut pairs = 0;
        for (about, probes) in kinds {
            eprintln!("{} pairs: {about}", probes.len());
            pairs += probes.len();
            prober.compare(&own.caller, probes).await;
        }
        assert!(pairs >= 4_000, "only {pairs} pairs");
        assert_eq!(before, (state(&surface, &own).await, state(&surface, &foreign).await));
    }

    async fn without_a_valid_credential_a_foreign_id_looks_like_an_unknown_id(server: TestServer) {
        let surface = Surface::load();
        let (own, foreign) = two_tenants(&server, "Private").await;
        let prober = Prober::new(&surface, &own, &foreign).await;
        let mut credentials: Vec<String> = bad_credentials(&own).await.into_iter().flatten().collect();
        for tenant in [&own, &foreign] {
            credentials.push(format!("Bearer {}", solver_key(tenant).await));
        }
        let probes = prober.credentials(&credentials);
        eprintln!("{} pairs: credentials", probes.len());
        prober.compare(&server.anonymous(), probes).await;
    }

    async fn a_public_benchmark_can_be_read_but_not_changed(server: TestServer) {
        let surface = Surface::load();
        let (own, foreign) = two_tenants(&server, "Public").await;
        let before = state(&surface, &foreign).await;
        let prober = Prober::new(&surface, &own, &foreign).await;
        let changes_a_benchmark = |operation: &Operation| {
            operation.variables().contains(&"benchmark_id") && operation.method != Method::GET
        };
        let probes = [prober.paths(changes_a_benchmark), prober.bodies()].concat();
        assert!(probes.len() > 50);
        prober.compare(&own.caller, probes).await;
        assert_eq!(before, state(&surface, &foreign).await);
    }

    async fn ids_in_bodies_are_checked(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        let mut fields = BTreeSet::new();
        for (number, (operation, schema)) in surface.with_json_body().enumerate() {
            for field in id_fields(&schema) {
                let mut body = surface.sample(&schema, &own, number);
                body[&field] = json!(own.body_id(&field));
                let response = own.caller.send(operation.method.clone(), &operation.path_of(&own), &[], Some(body)).await;
                assert!([200, 201].contains(&response.status), "{}: {}", response.request, response.text());
                fields.insert(field);
            }
        }
        assert!(fields.len() >= 6, "{fields:?}");
    }

    async fn every_internal_operation_requires_a_valid_credential(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        let mut requests = Vec::new();
        for credential in bad_credentials(&own).await {
            for operation in surface.internal() {
                let request = Request::new(operation.method.clone(), operation.path_of(&own)).json(&json!({}));
                requests.push(match &credential {
                    Some(text) => request.header("authorization", text),
                    None => request,
                });
            }
        }
        eprintln!("{} requests without a good credential are refused", requests.len());
        send_all(&server.anonymous(), requests, |response| {
            assert_eq!((response.status, &response["error"]["code"]), (401, &json!("UNAUTHORIZED")), "{}", response.request);
            let scheme = response.header("www-authenticate").unwrap_or_default();
            assert!(scheme.starts_with("Bearer"), "{}: {scheme:?}", response.request);
        })
        .await;
    }

    async fn a_solver_key_cannot_use_internal_operations(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        let before = state(&surface, &own).await;
        let solver = server.caller(&solver_key(&own).await);
        for operation in surface.internal() {
            let response = solver.send(operation.method.clone(), &operation.path_of(&own), &[], Some(json!({}))).await;
            response.expect_error(403, "FORBIDDEN");
        }
        let after = state(&surface, &own).await;
        let changed: Vec<_> = after.iter().filter(|(path, body)| before.get(*path) != Some(*body)).collect();
        assert_eq!(changed.len(), 1, "only the list of the solver's keys: {changed:?}");
    }

    async fn a_foreign_cursor_shows_only_the_callers_own_rows(server: TestServer) {
        let surface = Surface::load();
        let (own, foreign) = two_tenants(&server, "Private").await;
        let mut followed = 0;
        for tenant in [&own, &foreign] {
            fill_lists(tenant).await;
        }
        for operation in surface.internal().filter(|operation| operation.is_list()) {
            let theirs = foreign.caller.get(&format!("{}?limit=1", operation.path_of(&foreign))).await.expect(200);
            let Some(cursor) = theirs["_meta"]["next"].as_str() else { continue };
            let path = format!("{}?cursor={cursor}&limit=100", operation.path_of(&own));
            assert_names_nothing_of(&own.caller.get(&path).await.expect(200), &foreign);
            let stolen = format!("{}?cursor={cursor}", operation.path_of(&foreign));
            if !operation.variables().is_empty() {
                own.caller.get(&stolen).await.expect_error(404, "NOT_FOUND");
            }
            followed += 1;
        }
        assert!(followed >= 10, "only {followed} lists had a second page");
    }

    async fn a_foreign_filter_selects_nothing(server: TestServer) {
        let surface = Surface::load();
        for visibility in ["Private", "Public"] {
            let own = Tenant::create(&server, &format!("Own{visibility}"), visibility).await;
            let foreign = Tenant::create(&server, &format!("Foreign{visibility}"), visibility).await;
            let mut filters = 0;
            for operation in surface.internal().filter(|operation| operation.is_list()) {
                for filter in operation.query_parameters().into_iter().filter(|name| is_id(name)) {
                    let ask = async |id: &str| {
                        own.caller.get(&format!("{}?{filter}={id}", operation.path_of(&own))).await.expect(200)
                    };
                    assert_eq!(ask(&foreign.body_id(filter)).await.body, ask(&unknown_id(&foreign.body_id(filter))).await.body);
                    assert!(ask(&foreign.body_id(filter)).await.data().is_empty());
                    assert!(!ask(&own.body_id(filter)).await.data().is_empty());
                    filters += 1;
                }
            }
            assert!(filters >= 6);
        }
    }

    async fn idempotency_keys_of_two_organizations_do_not_conflict(server: TestServer) {
        let (own, foreign) = two_tenants(&server, "Private").await;
        let create = async |tenant: &Tenant| {
            let key = [("idempotency-key", "one")];
            tenant.caller.send(Method::POST, "/environments", &key, Some(json!({"name": "Ward"}))).await.expect(201)
        };
        let (first, second) = (create(&foreign).await, create(&own).await);
        assert_ne!(first.id(), second.id());
        assert_eq!(second.header("idempotent-replayed"), None);
        own.caller.get(&format!("/environments/{}", second.id())).await.expect(200);
        assert_eq!(create(&foreign).await.id(), first.id());
    }

    async fn a_private_version_looks_like_an_unknown_version(server: TestServer) {
        let (own, foreign) = two_tenants(&server, "Private").await;
        let ask = async |reference: &str| comparable(&own.caller.get(&format!("/benchmarks/{reference}")).await, &[]);
        let nothing = ask("no-such-thing@1").await;
        assert!(nothing.starts_with("404"));
        for reference in [foreign.reference.as_str(), "foreign-intake@2", "foreign-intake"] {
            assert_eq!(ask(reference).await, nothing, "{reference}");
        }
        foreign.caller.get(&format!("/benchmarks/{}", foreign.reference)).await.expect(200);
        let listed = own.caller.get("/benchmarks?limit=100").await.expect(200);
        assert_names_nothing_of(&listed, &foreign);
    }

    async fn a_public_benchmark_does_not_reveal_its_criteria(server: TestServer) {
        let surface = Surface::load();
        let (own, foreign) = two_tenants(&server, "Private").await;
        let canaries = plant_canaries(&foreign).await;
        let benchmark = format!("/benchmarks/{}", foreign.made.benchmark);
        foreign.caller.patch(&benchmark, json!({"visibility": "Public"})).await.expect(200);
        foreign.caller.post(&format!("{benchmark}/publish"), json!({})).await.expect(201);

        let shown_to_author = crawl(&surface, &foreign.caller, &foreign).await;
        let mut shown_to_others = crawl(&surface, &own.caller, &foreign).await;
        shown_to_others.extend(crawl(&surface, &own.caller, &own).await);
        let newest = format!("/benchmarks/{}", foreign.reference.replace("@1", "@2"));
        shown_to_others.insert(newest.clone(), without_volatile_fields(&own.caller.get(&newest).await.expect(200)));
        for canary in &canaries {
            assert!(shown_to_author.values().any(|body| body.contains(canary)), "{canary} was not planted");
            let leaks: Vec<_> = shown_to_others.iter().filter(|(_, body)| body.contains(canary)).collect();
            assert!(leaks.is_empty(), "{canary}: {leaks:?}");
        }
        let seen = shown_to_others.values().filter(|body| body.contains(&foreign.made.benchmark)).count();
        assert!(seen >= 4, "by id, in the list, among versions, by reference; seen {seen} times");
        eprintln!("{} answers had none of {} canaries", shown_to_others.len(), canaries.len());
    }
}

async fn two_tenants(server: &testkit::TestServer, visibility: &str) -> (Tenant, Tenant) {
    (Tenant::create(server, "Own", "Private").await, Tenant::create(server, "Foreign", visibility).await)
}

async fn state(surface: &Surface, tenant: &Tenant) -> std::collections::BTreeMap<String, String> {
    crawl(surface, &tenant.caller, tenant).await
}

/// A new key of the tenant's solver.
pub(crate) async fn solver_key(tenant: &Tenant) -> String {
    let folder = format!("/solvers/{}/api-keys", tenant.made.solver);
    let made = tenant.caller.post(&folder, json!({"name": "agent"})).await.expect(201);
    made["key"].as_str().expect("a key").to_owned()
}

/// Invalid credentials: missing, mistyped, unknown of every type, malformed, and revoked.
pub(crate) async fn bad_credentials(own: &Tenant) -> Vec<Option<String>> {
    let key = own.caller.key();
    let made = own.caller.post("/api-keys", json!({"name": "to be revoked"})).await.expect(201);
    own.caller.delete(&format!("/api-keys/{}", made.id())).await.expect(204);
    let revoked = made["key"].as_str().unwrap();
    let unknown = KeyKind::ALL.map(|kind| Secret::from_random(kind, &[7; 64]).expect("enough bytes"));
    let tokens = [
        String::new(),
        "x".into(),
        "null".into(),
        "vk_".into(),
        "vk_*".into(),
        "%00".into(),
        "' or '1'='1".into(),
        key[..key.len() - 1].to_owned(),
        format!("{key}0"),
        format!("{key}{key}"),
        format!("{key} {key}"),
        format!("{key},{key}"),
        format!("\"{key}\""),
        key.to_lowercase(),
        key.to_uppercase(),
        key.replacen("vk_", "vrl_slv_", 1),
        key.replacen("vk_", "vrl_run_", 1),
        key.replacen("vk_", "", 1),
        format!("vk_{}", "0".repeat(38)),
        format!("vk_{}", "0".repeat(5000)),
        revoked.to_owned(),
    ];
    let tokens = tokens.into_iter().chain(unknown.iter().map(|secret| secret.reveal().to_owned()));
    let schemes = [String::new(), "Bearer".into(), key.to_owned(), format!("Basic {key}"), format!("Token {key}")];
    let texts = tokens.map(|token| format!("Bearer {token}")).chain(schemes);
    std::iter::once(None).chain(texts.map(Some)).collect()
}

fn assert_names_nothing_of(response: &TestResponse, tenant: &Tenant) {
    for id in tenant.ids() {
        assert!(!response.text().contains(id), "{} shows {id}", response.request);
    }
}

/// Creates a second resource of each type, so that lists have several pages.
async fn fill_lists(tenant: &Tenant) {
    let (caller, made) = (&tenant.caller, &tenant.made);
    for (path, body) in [
        ("/environments".to_owned(), json!({"name": "Second"})),
        ("/simulators".into(), json!({"type": "Fhir", "name": "Second"})),
        ("/datasets".into(), json!({"type": "fhir", "name": "Second"})),
        (format!("/datasets/{}/entities", made.dataset), json!({"name": "second"})),
        ("/benchmarks".into(), json!({"name": "Second"})),
        ("/tasks".into(), testkit::world::task(&made.benchmark)),
        ("/criteria".into(), testkit::world::criterion(&made.task)),
        ("/solvers".into(), json!({"alias": "second"})),
        (format!("/solvers/{}/api-keys", made.solver), json!({"name": "second"})),
        ("/benchmark-runs".into(), json!({"benchmark": tenant.reference})),
    ] {
        caller.post(&path, body).await.expect(201);
    }
    let file = format!("/datasets/{}/files/inbox/b.txt", made.files_dataset);
    caller.put_bytes(&file, "text/plain", "second").await.expect(200);
}

/// Marks everything that only the author may see, and returns the marks.
pub(crate) async fn plant_canaries(tenant: &Tenant) -> Vec<String> {
    let (caller, made) = (&tenant.caller, &tenant.made);
    let canary = |place: &str| format!("canary-{place}-7f3d9c52-1b6e-4f0a-9d2c-5a8e1c4b7f60");
    let patient = json!({"resourceType": "Patient", "id": "p1", "name": [{"text": canary("data")}]}).to_string();
    caller.put_bytes(&format!("/datasets/{}/data", made.dataset), "application/fhir+ndjson", patient).await.expect(200);
    let file = format!("/datasets/{}/files/inbox/a.txt", made.files_dataset);
    caller.put_bytes(&file, "text/plain", canary("file")).await.expect(200);
    let assertion = json!({"assert": "fhir-resource-state", "resource_type": "ServiceRequest",
        "fields": [{"path": "status", "expected": canary("assertion")}]});
    let step = json!({"do": "drop_file_inbox", "path": "inbox/x.txt", "content": canary("scenario")});
    for (path, body) in [
        (
            format!("/criteria/{}", made.criterion),
            json!({"label": canary("label"), "axis": "axis-canary-7f3d9c52", "assertion": assertion}),
        ),
        (
            format!("/tasks/{}", made.task),
            json!({"task_item": {"instruction": canary("task_item")}, "scenario": {"steps": [step]}}),
        ),
        (
            format!("/datasets/{}/entities/{}", made.dataset, made.entity),
            json!({"name": canary("entity"), "data": {"mrn": canary("entity-data")}}),
        ),
        (format!("/datasets/{}", made.dataset), json!({"name": canary("dataset"), "description": canary("about")})),
        (format!("/environments/{}", made.environment), json!({"name": canary("environment")})),
        (format!("/simulators/{}", made.simulator), json!({"name": canary("simulator")})),
        (format!("/solvers/{}", made.solver), json!({"real_name": canary("solver")})),
    ] {
        caller.patch(&path, body).await.expect(200);
    }
    let places =
        "data file assertion scenario label task_item entity entity-data dataset about environment simulator solver";
    places.split(' ').map(canary).chain(["axis-canary-7f3d9c52".to_owned()]).collect()
}
