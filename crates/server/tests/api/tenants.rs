//! One organization never learns of another's things, whichever operation it asks and however it spells an id.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Answer, Caller, both_databases};

use crate::surface::{Operation, Surface, Tenant, crawl, lasting};

both_databases! {
    async fn a_foreign_id_is_answered_like_one_of_nothing(server: TestServer) {
        let surface = Surface::load();
        let (own, foreign) = two_tenants(&server, "Private").await;
        let before = (state(&surface, &own).await, state(&surface, &foreign).await);
        let mut prober = Prober::new(&own, &foreign).await;
        for operation in surface.internal() {
            prober.probe_path(operation, &surface).await;
        }
        for (operation, schema) in surface.with_json_body() {
            prober.probe_body(operation, &schema, &surface).await;
        }
        eprintln!("{} pairs of requests told nothing apart", prober.pairs);
        assert!(prober.pairs >= 2000, "only {} pairs", prober.pairs);
        assert_eq!(before, (state(&surface, &own).await, state(&surface, &foreign).await));
    }

    async fn a_public_benchmark_can_be_read_but_not_touched(server: TestServer) {
        let surface = Surface::load();
        let (own, foreign) = two_tenants(&server, "Public").await;
        let before = state(&surface, &foreign).await;
        let mut prober = Prober::new(&own, &foreign).await;
        let of_benchmark = |operation: &&Operation| operation.variables().contains(&"benchmark_id");
        for operation in surface.internal().filter(of_benchmark).filter(|operation| operation.method != Method::GET) {
            prober.probe_path(operation, &surface).await;
        }
        for (operation, schema) in surface.with_json_body() {
            prober.probe_body(operation, &schema, &surface).await;
        }
        assert!(prober.pairs > 50);
        assert_eq!(before, state(&surface, &foreign).await);
    }

    async fn ids_in_bodies_are_read_at_all(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        let mut fields = BTreeSet::new();
        for (number, (operation, schema)) in surface.with_json_body().enumerate() {
            for field in id_fields(&schema) {
                let mut body = surface.sample(&schema, &own, number);
                body[&field] = json!(own.body_id(&field));
                let answer = own.caller.send(operation.method.clone(), &operation.path_of(&own), &[], Some(body)).await;
                assert!([200, 201].contains(&answer.status), "{}: {}", answer.asked, answer.text());
                fields.insert(field);
            }
        }
        assert!(fields.len() >= 6, "{fields:?}");
    }

    async fn without_a_good_credential_nothing_is_answered(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        let anonymous = server.anonymous();
        let credentials = bad_credentials(&own).await;
        let mut refused = 0;
        for operation in surface.internal() {
            let path = operation.path_of(&own);
            for credential in &credentials {
                let headers: Vec<_> = credential.iter().map(|text| ("authorization", text.as_str())).collect();
                let answer = anonymous.send(operation.method.clone(), &path, &headers, Some(json!({}))).await;
                let answer = answer.refused(401, "UNAUTHORIZED");
                let scheme = answer.header("www-authenticate").unwrap_or_default();
                assert!(scheme.starts_with("Bearer"), "{}: {scheme:?}", answer.asked);
                refused += 1;
            }
        }
        eprintln!("{refused} requests without a good credential were refused");
    }

    async fn a_solver_key_opens_no_internal_operation(server: TestServer) {
        let surface = Surface::load();
        let own = Tenant::create(&server, "Own", "Private").await;
        let before = state(&surface, &own).await;
        let made = own.caller.post(&format!("/solvers/{}/api-keys", own.made.solver), json!({"name": "agent"})).await;
        let solver = server.caller(made.expect(201)["key"].as_str().unwrap());
        for operation in surface.internal() {
            let answer = solver.send(operation.method.clone(), &operation.path_of(&own), &[], Some(json!({}))).await;
            answer.refused(403, "FORBIDDEN");
        }
        let after = state(&surface, &own).await;
        let changed: Vec<_> = after.iter().filter(|(path, body)| before.get(*path) != Some(*body)).collect();
        assert_eq!(changed.len(), 1, "only the list of the solver's keys: {changed:?}");
    }

    async fn a_foreign_cursor_shows_only_ones_own(server: TestServer) {
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
                own.caller.get(&stolen).await.refused(404, "NOT_FOUND");
            }
            followed += 1;
        }
        assert!(followed >= 8, "only {followed} lists had a second page");
    }

    async fn a_foreign_filter_selects_nothing(server: TestServer) {
        let surface = Surface::load();
        for visibility in ["Private", "Public"] {
            let own = Tenant::create(&server, &format!("Own{visibility}"), visibility).await;
            let foreign = Tenant::create(&server, &format!("Foreign{visibility}"), visibility).await;
            let mut filters = 0;
            for operation in surface.internal().filter(|operation| operation.method == Method::GET) {
                for filter in operation.query_parameters().into_iter().filter(|name| name.ends_with("_id")) {
                    let ask = async |id: &str| {
                        own.caller.get(&format!("{}?{filter}={id}", operation.path_of(&own))).await.expect(200)
                    };
                    assert_eq!(ask(&foreign.body_id(filter)).await.body, ask(&absent(&foreign.body_id(filter))).await.body);
                    assert!(ask(&foreign.body_id(filter)).await.data().is_empty());
                    assert!(!ask(&own.body_id(filter)).await.data().is_empty());
                    filters += 1;
                }
            }
            assert!(filters >= 2);
        }
    }

    async fn idempotency_keys_of_two_organizations_are_two_keys(server: TestServer) {
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

    async fn a_private_version_is_like_no_version(server: TestServer) {
        let (own, foreign) = two_tenants(&server, "Private").await;
        let ask = async |reference: &str| telling(&own.caller.get(&format!("/benchmarks/{reference}")).await, &[]);
        let nothing = ask("no-such-thing@1").await;
        assert!(nothing.starts_with("404"));
        for reference in [foreign.reference.as_str(), "foreign-intake@2", "foreign-intake"] {
            assert_eq!(ask(reference).await, nothing, "{reference}");
        }
        foreign.caller.get(&format!("/benchmarks/{}", foreign.reference)).await.expect(200);
        let listed = own.caller.get("/benchmarks?limit=100").await.expect(200);
        assert_names_nothing_of(&listed, &foreign);
    }

    async fn of_a_public_benchmark_no_byte_of_the_answers_is_shown(server: TestServer) {
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
        shown_to_others.insert(newest.clone(), lasting(&own.caller.get(&newest).await.expect(200)));
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

/// An id of the same kind that nothing has.
fn absent(id: &str) -> String {
    let (kind, _) = id.split_once('_').expect("an id");
    format!("{kind}_7{}", "Z".repeat(25))
}

/// The ways to write an id in a path, right and wrong.
const SPELLINGS: [fn(&str) -> String; 14] = [
    |id| id.to_owned(),
    |id| id.to_lowercase(),
    |id| format!("{id}%20"),
    |id| format!("%20{id}"),
    |id| format!("{id}%00"),
    |id| format!("{id}%0A"),
    |id| format!("{id}%2F"),
    |id| format!("{id}@1"),
    |id| format!("{id}{id}"),
    |id| format!("{id}*"),
    |id| format!("{id}%27%20or%201=1"),
    |id| format!("%{:02X}{}", id.as_bytes()[0], &id[1..]),
    |id| id[..id.len() - 1].to_owned(),
    |_| String::new(),
];

/// Asks as `own` for things of `foreign`, and for the same things with ids of nothing, and compares.
struct Prober<'a> {
    own: &'a Tenant,
    foreign: &'a Tenant,
    /// Entity tag of each thing of the foreign organization, by id.
    tags: Vec<(String, String)>,
    pairs: usize,
}

impl<'a> Prober<'a> {
    async fn new(own: &'a Tenant, foreign: &'a Tenant) -> Self {
        let made = &foreign.made;
        let mut tags = Vec::new();
        for (folder, id) in [
            ("environments", &made.environment),
            ("simulators", &made.simulator),
            ("datasets", &made.dataset),
            ("benchmarks", &made.benchmark),
            ("tasks", &made.task),
            ("criteria", &made.criterion),
            ("solvers", &made.solver),
        ] {
            let answer = foreign.caller.get(&format!("/{folder}/{id}")).await.expect(200);
            tags.push((id.clone(), answer.header("etag").expect("a tag").to_owned()));
        }
        Self { own, foreign, tags, pairs: 0 }
    }

    /// Every combination of own and foreign ids in the path, in every spelling, and ids of the wrong kind.
    async fn probe_path(&mut self, operation: &Operation, surface: &Surface) {
        let variables: Vec<&str> = operation.variables().into_iter().filter(|name| *name != "path").collect();
        for choice in 1..(1u32 << variables.len()) {
            let is_foreign =
                |name: &str| variables.iter().position(|one| *one == name).is_some_and(|at| choice >> at & 1 == 1);
            for spell in SPELLINGS {
                let path = |replace: &dyn Fn(&str) -> String| {
                    operation.path(|name| {
                        let tenant = if is_foreign(name) { self.foreign } else { self.own };
                        let id = tenant.path_id(name, &operation.pattern);
                        if is_foreign(name) { spell(&replace(&id)) } else { id }
                    })
                };
                let (theirs, nothing) = (path(&str::to_owned), path(&absent));
                self.compare_in_every_dress(operation, surface, &theirs, &nothing).await;
            }
            self.probe_kinds(operation, surface, &is_foreign).await;
        }
    }

    /// Ids of other kinds, one's own and foreign ones, where the path wants another.
    async fn probe_kinds(&mut self, operation: &Operation, surface: &Surface, is_foreign: &dyn Fn(&str) -> bool) {
        let (own, foreign) = (self.own, self.foreign);
        for id in foreign.ids().into_iter().chain(own.ids()) {
            let path = |id: &str| {
                operation.path(|name| {
                    let mine = own.path_id(name, &operation.pattern);
                    let same_kind = mine.split('_').next() == id.split('_').next();
                    if is_foreign(name) && !same_kind { id.to_owned() } else { mine }
                })
            };
            let (theirs, nothing) = (path(id), path(&absent(id)));
            if theirs != nothing {
                self.compare(operation, surface, &theirs, &nothing, &[]).await;
            }
        }
    }

    async fn compare_in_every_dress(&mut self, operation: &Operation, surface: &Surface, theirs: &str, nothing: &str) {
        self.compare(operation, surface, theirs, nothing, &[]).await;
        if operation.method == Method::POST {
            self.compare(operation, surface, theirs, nothing, &[("idempotency-key", "guessed")]).await;
            return;
        }
        let tag = self.tags.iter().find(|(id, _)| theirs.contains(id)).map(|(_, tag)| tag.clone());
        if let Some(tag) = tag {
            let name = if operation.method == Method::GET { "if-none-match" } else { "if-match" };
            self.compare(operation, surface, theirs, nothing, &[(name, &tag)]).await;
        }
    }

    async fn compare(
        &mut self,
        operation: &Operation,
        surface: &Surface,
        theirs: &str,
        nothing: &str,
        headers: &[(&str, &str)],
    ) {
        let found = surface.with_json_body().find(|(one, _)| std::ptr::eq(*one, operation));
        let body = found.map(|(_, schema)| surface.sample(&schema, self.own, self.pairs));
        let their_answer = ask(&self.own.caller, operation, theirs, headers, body.clone()).await;
        let no_answer = ask(&self.own.caller, operation, nothing, headers, body).await;
        assert!((400..500).contains(&their_answer.status), "{}: {}", their_answer.asked, their_answer.text());
        self.same(&their_answer, &no_answer);
    }

    /// Foreign ids in a body whose path is one's own.
    async fn probe_body(&mut self, operation: &Operation, schema: &Value, surface: &Surface) {
        for field in id_fields(schema) {
            let their_id = self.foreign.body_id(&field);
            let (own, number) = (self.own, self.pairs);
            let body = |id: &str| {
                let mut body = surface.sample(schema, own, number);
                body[&field] = json!(id);
                Some(body)
            };
            let path = operation.path_of(self.own);
            for spell in [str::to_owned, str::to_lowercase, |id: &str| format!("{id} "), |id: &str| format!(" {id}")] {
                let theirs = ask(&self.own.caller, operation, &path, &[], body(&spell(&their_id))).await;
                let nothing = ask(&self.own.caller, operation, &path, &[], body(&spell(&absent(&their_id)))).await;
                assert!(theirs["error"]["details"][&field].is_array(), "{}: {}", theirs.asked, theirs.text());
                self.same(&theirs, &nothing);
            }
        }
    }

    fn same(&mut self, theirs: &Answer, nothing: &Answer) {
        let ids = self.foreign.ids();
        assert_eq!(telling(theirs, &ids), telling(nothing, &ids), "{} against {}", theirs.asked, nothing.asked);
        self.pairs += 1;
    }
}

async fn ask(
    caller: &Caller,
    operation: &Operation,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<Value>,
) -> Answer {
    match operation.method {
        Method::PUT => {
            let content = ("application/fhir+ndjson", testkit::world::patients(1).into_bytes());
            caller.send_bytes(Method::PUT, path, headers, Some(content)).await
        }
        _ => caller.send(operation.method.clone(), path, headers, body).await,
    }
}

/// All of an answer that a prober could compare, with ids made equal.
fn telling(answer: &Answer, ids: &[&str]) -> String {
    let headers = answer.headers.iter().filter(|(name, _)| *name != "date" && *name != "x-request-id");
    let mut text = format!("{} {:?} {}", answer.status, headers.collect::<Vec<_>>(), answer.without_request_id());
    for id in ids {
        text = text.replace(&absent(id), "an id").replace(id, "an id");
    }
    text
}

fn id_fields(schema: &Value) -> Vec<String> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(name, _)| name.clone()).filter(|name| name.ends_with("_id")).collect()
}

/// None, mistyped, unknown, of no kind, and revoked.
pub(crate) async fn bad_credentials(own: &Tenant) -> Vec<Option<String>> {
    let key = own.caller.key();
    let made = own.caller.post("/api-keys", json!({"name": "to be revoked"})).await.expect(201);
    own.caller.delete(&format!("/api-keys/{}", made.id())).await.expect(204);
    let revoked = made["key"].as_str().unwrap();
    let texts = [
        String::new(),
        "Bearer".into(),
        "Bearer ".into(),
        "Bearer x".into(),
        key.to_owned(),
        format!("Basic {key}"),
        format!("Bearer {}", &key[..key.len() - 1]),
        format!("Bearer {key}{key}"),
        format!("Bearer {key} {key}"),
        format!("Bearer {}", key.to_lowercase()),
        format!("Bearer {}", key.replacen("vk_", "vrl_slv_", 1)),
        format!("Bearer vk_{}", "0".repeat(38)),
        format!("Bearer {revoked}"),
    ];
    std::iter::once(None).chain(texts.into_iter().map(Some)).collect()
}

fn assert_names_nothing_of(answer: &Answer, tenant: &Tenant) {
    for id in tenant.ids() {
        assert!(!answer.text().contains(id), "{} shows {id}", answer.asked);
    }
}

/// A second of each thing, so that lists have pages.
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
    ] {
        caller.post(&path, body).await.expect(201);
    }
    let file = format!("/datasets/{}/files/inbox/b.txt", made.files_dataset);
    caller.put_bytes(&file, "text/plain", "second").await.expect(200);
}

/// Marks everything that only the author may see, and names the marks.
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
