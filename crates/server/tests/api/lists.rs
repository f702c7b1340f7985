//! Lists: all have the same paging, which is stable while rows are added and deleted.

use std::collections::HashSet;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::world::{self, Authored};
use testkit::{Caller, Contract, TestResponse, both_databases};

both_databases! {
    async fn cursors_lead_forward_and_back(server: TestServer) {
        let caller = server.organization("Lists").await;
        let mut names = make_environments(&caller, 0..45).await;
        names.reverse();
        let pages = walk(&caller, "/environments?limit=10", "next").await;
        assert_eq!(pages.iter().map(|page| page.data().len()).collect::<Vec<_>>(), [10, 10, 10, 10, 5]);
        assert_eq!(pages.iter().flat_map(|page| texts(page, "name")).collect::<Vec<_>>(), names);
        assert_eq!(pages[0]["_meta"]["prev"], Value::Null);
        for pair in pages.windows(2) {
            let back = follow(&caller, "/environments?limit=10", &pair[1], "prev").await.unwrap();
            assert_eq!(back.text(), pair[0].text());
        }
    }

    async fn a_page_has_at_most_a_hundred_rows(server: TestServer) {
        let caller = server.organization("Lists").await;
        make_environments(&caller, 0..103).await;
        let page = caller.get("/environments?limit=1000").await.expect(200);
        assert_eq!((page.data().len(), &page["_meta"]["limit"]), (100, &json!(100)));
        assert_eq!(walk(&caller, "/environments?limit=1000", "next").await[1].data().len(), 3);
    }

    async fn every_list_of_the_api_has_the_same_paging(server: TestServer) {
        const ROWS: usize = 25;
        for pattern in list_patterns() {
            let caller = server.organization(&pattern).await;
            let list = List::fill(&caller, &pattern, ROWS).await;
            let first = caller.get(&list.path).await.expect(200);
            assert_eq!((first.data().len(), &first["_meta"]["limit"]), (20, &json!(20)), "{pattern}");
            let second = follow(&caller, &format!("{}?", list.path), &first, "next").await.expect(&pattern);
            let keys = [keys(&first, list.key), keys(&second, list.key)].concat();
            assert_eq!(keys[..ROWS], list.expected, "{pattern}");
            let whole = caller.get(&format!("{}?limit=5000", list.path)).await.expect(200);
            assert_eq!(whole["_meta"]["limit"], 100, "{pattern}");
            assert_eq!(self::keys(&whole, list.key)[..ROWS], list.expected, "{pattern}");
            let back = follow(&caller, &format!("{}?", list.path), &second, "prev").await.expect(&pattern);
            assert_eq!(back.text(), first.text(), "{pattern}");
            refuses_nonsense(&caller, &list.path).await;
        }
    }

    async fn existing_rows_are_seen_once_during_concurrent_changes(server: TestServer) {
        for seed in 1..=4 {
            let caller = server.organization("Lists").await;
            let mut crowd = ChangingEnvironments::new(caller, seed).await;
            let (forward, last) = crowd.walk("next", None).await;
            crowd.every_lasting_row_once(&forward);
            let (backward, _) = crowd.walk("prev", Some(last)).await;
            crowd.every_lasting_row_once(&backward);
        }
    }

    async fn filters_select_rows(server: TestServer) {
        let caller = server.organization("Lists").await;
        let made = Authored::create(&caller).await;
        let other = caller.post("/benchmarks", json!({"name": "Other"})).await.expect(201).id();
        let other_task = caller.post("/tasks", json!({"benchmark_id": other, "name": "Other"})).await.expect(201).id();
        let other_criterion = caller.post("/criteria", world::criterion(&other_task)).await.expect(201).id();
        for (path, expected) in [
            (format!("/tasks?benchmark_id={}", made.benchmark), vec![made.task.clone()]),
            (format!("/tasks?benchmark_id={other}"), vec![other_task.clone()]),
            ("/tasks".to_owned(), vec![other_task.clone(), made.task.clone()]),
            (format!("/criteria?task_id={}", made.task), vec![made.criterion.clone()]),
            (format!("/criteria?task_id={other_task}"), vec![other_criterion.clone()]),
            ("/criteria?task_id=task_01K9Z3T5Q8W7N4M2R6V0XBHCDE".to_owned(), vec![]),
        ] {
            assert_eq!(ids(&caller.get(&path).await.expect(200)), expected, "{path}");
        }
        for (path, field) in [
            ("/tasks?benchmark_id=x", "benchmark_id"),
            ("/criteria?task_id=", "task_id"),
            ("/tasks?task_id=task_01K9Z3T5Q8W7N4M2R6V0XBHCDE", "task_id"),
            ("/environments?name=x", "name"),
        ] {
            assert_eq!(caller.get(path).await.expect_error(400, "VALIDATION_ERROR").invalid_fields(), [field], "{path}");
        }
        let stranger = server.organization("Stranger").await;
        assert!(stranger.get(&format!("/tasks?benchmark_id={}", made.benchmark)).await.expect(200).data().is_empty());
    }

    async fn a_filtered_list_keeps_its_filter_across_pages(server: TestServer) {
        let caller = server.organization("Lists").await;
        let first = caller.post("/benchmarks", json!({"name": "First"})).await.expect(201).id();
        let second = caller.post("/benchmarks", json!({"name": "Second"})).await.expect(201).id();
        let mut expected = Vec::new();
        for index in 0..12 {
            let benchmark = if index % 2 == 0 { &first } else { &second };
            let body = json!({"benchmark_id": benchmark, "name": format!("task {index}")});
            let task = caller.post("/tasks", body).await.expect(201).id();
            if index % 2 == 0 {
                expected.insert(0, task);
            }
        }
        let pages = walk(&caller, &format!("/tasks?benchmark_id={first}&limit=4"), "next").await;
        assert_eq!(pages.iter().flat_map(ids).collect::<Vec<_>>(), expected);
    }

    /// R16: text is ordered by code points, whatever the collation of the database is.
    async fn both_databases_give_the_same_order(server: TestServer) {
        let caller = server.organization("Lists").await;
        let odd = ["A", "a", "Z", "é", "_", "-", "10", "9", "Ä", "z", "aA", "Aa", "a b", "a-b", "ab", "😀", "\u{ffee}"];
        for name in odd {
            caller.post("/environments", json!({"name": name})).await.expect(201);
        }
        let names: Vec<String> =
            walk(&caller, "/environments?limit=3", "next").await.iter().flat_map(|page| texts(page, "name")).collect();
        assert_eq!(names, odd.iter().rev().map(ToString::to_string).collect::<Vec<_>>());

        let dataset = caller.post("/datasets", json!({"name": "Odd", "type": "files"})).await.expect(201).id();
        let long = vec!["x".repeat(255); 4].join("/");
        let mut paths: Vec<String> = odd.iter().map(ToString::to_string).collect();
        paths.extend(["folder/A".into(), "folder/a".into(), "folder-a".into(), long]);
        for path in &paths {
            let path = format!("/datasets/{dataset}/files/{}", escaped(path));
            caller.put_bytes(&path, "text/plain", "x").await.expect(200);
        }
        paths.sort_unstable();
        for direction in ["next", "prev"] {
            let pages = walk_from_end(&caller, &format!("/datasets/{dataset}/files?limit=3"), direction).await;
            assert_eq!(pages.iter().flat_map(|page| texts(page, "path")).collect::<Vec<_>>(), paths, "{direction}");
        }
    }
}

async fn make_environments(caller: &Caller, numbers: std::ops::Range<usize>) -> Vec<String> {
    let mut names = Vec::new();
    for number in numbers {
        let name = format!("environment {number}");
        caller.post("/environments", json!({"name": name})).await.expect(201);
        names.push(name);
    }
    names
}

/// The page of a cursor of this page.
async fn follow(caller: &Caller, path: &str, page: &TestResponse, direction: &str) -> Option<TestResponse> {
    let cursor = page["_meta"][direction].as_str()?;
    Some(caller.get(&format!("{path}&cursor={cursor}")).await.expect(200))
}

/// All pages in one direction, starting with the first.
async fn walk(caller: &Caller, path: &str, direction: &str) -> Vec<TestResponse> {
    let mut pages = vec![caller.get(path).await.expect(200)];
    while let Some(page) = follow(caller, path, pages.last().unwrap(), direction).await {
        pages.push(page);
    }
    pages
}

/// All pages in list order, read forwards or, from the last one, backwards.
async fn walk_from_end(caller: &Caller, path: &str, direction: &str) -> Vec<TestResponse> {
    let mut pages = walk(caller, path, "next").await;
    if direction == "prev" {
        pages.drain(..pages.len() - 1);
        while let Some(page) = follow(caller, path, &pages[0], "prev").await {
            pages.insert(0, page);
        }
    }
    pages
}

fn keys(page: &TestResponse, key: &str) -> Vec<Value> {
    page.data().iter().map(|row| row[key].clone()).collect()
}

fn texts(page: &TestResponse, key: &str) -> Vec<String> {
    keys(page, key).iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn ids(page: &TestResponse) -> Vec<String> {
    texts(page, "id")
}

/// Percent-encodes every byte of a path except slashes.
fn escaped(path: &str) -> String {
    path.bytes().map(|byte| if byte == b'/' { "/".to_owned() } else { format!("%{byte:02X}") }).collect()
}

async fn refuses_nonsense(caller: &Caller, path: &str) {
    for limit in ["0", "-1", "1.5", "many", ""] {
        let refused = caller.get(&format!("{path}?limit={limit}")).await.expect_error(400, "VALIDATION_ERROR");
        assert_eq!(refused.invalid_fields(), ["limit"], "{path}");
    }
    let of_another_list = "bm9uZQpuCnh4"; // none, next, xx
    for cursor in ["", "x", "%00", "AAAA", of_another_list] {
        caller.get(&format!("{path}?cursor={cursor}")).await.expect_error(400, "BAD_REQUEST");
    }
}

/// The paths of all list operations, from the OpenAPI document.
fn list_patterns() -> Vec<String> {
    let contract = Contract::load();
    let is_list = |pattern: &String| {
        let content = &contract.document()["paths"][pattern]["get"]["responses"]["200"]["content"];
        let schema = &content["application/json"]["schema"];
        let schema = match schema["$ref"].as_str() {
            Some(reference) => contract.document().pointer(reference.trim_start_matches('#')).unwrap(),
            None => schema,
        };
        schema["properties"]["data"].is_object() && schema["properties"]["_meta"].is_object()
    };
    let operations = contract.operations().into_iter().filter(|(method, _)| method == Method::GET);
    // A list with several addresses counts once.
    let operations = operations.filter(|(_, pattern)| !pattern.starts_with("/v1/"));
    let patterns: Vec<String> = operations.map(|(_, pattern)| pattern).filter(is_list).collect();
    assert!(patterns.len() >= 20, "{patterns:?}");
    patterns
}

/// The path of the list with this pattern.
fn list_path(pattern: &str, made: &Authored) -> String {
    pattern
        .replace("{dataset_id}/files", &format!("{}/files", made.files_dataset))
        .replace("{dataset_id}", &made.dataset)
        .replace("{solver_id}", &made.solver)
        .replace("{benchmark_id}", &made.benchmark)
        .replace("{task_id}", &made.task)
        .replace("{sandbox_id}/fax", &format!("{}/fax", made.fax_line))
        .replace("{sandbox_id}/messages", &format!("{}/messages", made.message_sandbox))
        .replace("{sandbox_id}/voice", &format!("{}/voice", made.voice_sandbox))
        .replace("{call_id}", &made.call)
        .replace("{sandbox_id}/cds", &format!("{}/cds", made.cds_sandbox))
        .replace("{sandbox_id}/x12", &format!("{}/x12", made.clearinghouse))
        .replace("{sandbox_id}/files", &format!("{}/files", made.files_sandbox))
        .replace("{sandbox_id}", if pattern.contains("/portal/") { &made.portal } else { &made.sandbox })
}

/// The keys of existing rows, oldest first.
fn existing_keys(pattern: &str, made: &Authored) -> Vec<Value> {
    let one = |id: &String| vec![Value::from(id.clone())];
    match pattern {
        "/tasks/{task_id}/entities" => one(&made.entity),
        "/sandboxes/{sandbox_id}/messages" => one(&made.message),
        "/sandboxes/{sandbox_id}/voice/calls" => one(&made.call),
        "/sandboxes/{sandbox_id}/voice/calls/{call_id}/turns" => vec![json!(0)],
        "/sandboxes/{sandbox_id}/fax/faxes" => one(&made.fax),
        "/sandboxes/{sandbox_id}/fax/inbox" => one(&made.inbound_fax),
        "/sandboxes/{sandbox_id}/cds/services" => one(&made.cds_service),
        "/sandboxes/{sandbox_id}/cds/hooks" => {
            [&made.pending_invocation, &made.answered_invocation].map(|id| Value::from(id.clone())).to_vec()
        }
        "/sandboxes/{sandbox_id}/cds/feedback" => one(&made.cds_feedback),
        "/sandboxes/{sandbox_id}/x12/responses" => one(&made.x12_response),
        // Rows of the dataset.
        "/sandboxes/{sandbox_id}/state" | "/sandboxes/{sandbox_id}/portal/patients" => {
            ["p1", "p2", "p3"].map(Value::from).to_vec()
        }
        _ => Vec::new(),
    }
}

/// The field that identifies the rows of a list.
fn key_of(pattern: &str) -> &'static str {
    match pattern {
        "/sandboxes/{sandbox_id}/voice/calls/{call_id}/turns" => "index",
        "/sandboxes/{sandbox_id}/portal/prior-auths" => "auth_number",
        "/sandboxes/{sandbox_id}/portal/patients" => "patient_id",
        "/sandboxes/{sandbox_id}/portal/providers" => "npi",
        "/sandboxes/{sandbox_id}/portal/formulary" => "drug",
        "/datasets/{dataset_id}/files" | "/sandboxes/{sandbox_id}/files" => "path",
        "/datasets/{dataset_id}/checkpoints" => "revision",
        "/benchmarks/{benchmark_id}/versions" => "version",
        "/sandboxes/{sandbox_id}/state" | "/sandboxes/{sandbox_id}/diff" => "key",
        _ => "id",
    }
}

/// Whether the list is ordered oldest first; most lists are newest first.
fn is_rising(pattern: &str) -> bool {
    matches!(
        pattern,
        "/datasets/{dataset_id}/files"
            | "/sandboxes/{sandbox_id}/files"
            | "/tasks/{task_id}/entities"
            | "/sandboxes/{sandbox_id}/events"
            | "/sandboxes/{sandbox_id}/messages"
            | "/sandboxes/{sandbox_id}/voice/calls"
            | "/sandboxes/{sandbox_id}/voice/calls/{call_id}/turns"
            | "/sandboxes/{sandbox_id}/cds/services"
            | "/sandboxes/{sandbox_id}/cds/hooks"
            | "/sandboxes/{sandbox_id}/cds/feedback"
            | "/sandboxes/{sandbox_id}/state"
            | "/sandboxes/{sandbox_id}/diff"
            | "/sandboxes/{sandbox_id}/portal/patients"
            | "/sandboxes/{sandbox_id}/portal/providers"
            | "/sandboxes/{sandbox_id}/portal/formulary"
    )
}

/// A list with rows in a known order.
struct List {
    path: String,
    /// The field that identifies rows.
    key: &'static str,
    /// The expected first rows.
    expected: Vec<Value>,
}

impl List {
    async fn fill(caller: &Caller, pattern: &str, rows: usize) -> Self {
        if pattern == "/sandboxes/{sandbox_id}/hl7/inbox" {
            return Self::hl7_inbox(caller, rows).await;
        }
        if pattern == "/sandboxes/{sandbox_id}/voice/voicemails" {
            return Self::voicemails(caller, rows).await;
        }
        let mut made = Authored::create(caller).await;
        if pattern.contains("/portal/") {
            people(caller, &mut made).await;
        }
        let path = list_path(pattern, &made);
        let mut keys = existing_keys(pattern, &made);
        let key = key_of(pattern);
        for number in keys.len()..rows {
            let row = add_row(caller, pattern, &path, &made, number).await;
            keys.push(row[key].clone());
        }
        if !is_rising(pattern) {
            keys.reverse();
        }
        Self { path, key, expected: keys }
    }

    async fn voicemails(caller: &Caller, rows: usize) -> Self {
        let seed = |number: usize| json!({"text": format!("Call me {number}")});
        let config = json!({"voicemails": (1..=rows).map(seed).collect::<Vec<_>>()});
        let sandbox = world::voice_sandbox(caller, config).await.id();
        let expected = (1..=rows).map(|number| json!(format!("vm_{number:010}"))).collect();
        Self { path: format!("/sandboxes/{sandbox}/voice/voicemails"), key: "id", expected }
    }

    async fn hl7_inbox(caller: &Caller, rows: usize) -> Self {
        let seed = |number: usize| json!({"message": world::hl7_update(&number.to_string())});
        let config = json!({"inbox": (1..=rows).map(seed).collect::<Vec<_>>()});
        let sandbox = world::hl7_sandbox(caller, config).await.id();
        let expected = (1..=rows).rev().map(|number| json!(format!("hl7_seed_{number:04}"))).collect();
        Self { path: format!("/sandboxes/{sandbox}/hl7/inbox"), key: "id", expected }
    }
}

/// Adds a FHIR server to the playground of a portal with a formulary; it replaces the tenant's own.
async fn people(caller: &Caller, made: &mut Authored) {
    let formulary: Vec<Value> = (0..25).map(|number| json!({"drug": format!("drug {number:02}")})).collect();
    let portal = json!({"type": "Payer", "name": "Plan", "config": {"formulary": formulary}});
    let portal = caller.post("/simulators", portal).await.expect(201).id();
    let portal = caller.post("/sandboxes", json!({"simulator_id": portal})).await.expect(201);
    let beside = json!({"simulator_id": made.simulator, "playground_id": portal["own_playground_id"]});
    made.sandbox = caller.post("/sandboxes", beside).await.expect(201).id();
    made.portal = portal.id();
    let member = json!({"resourceType": "Patient", "id": "zz", "identifier": [{"value": "M100"}]});
    let path = format!("/sandboxes/{}/fhir/Patient/zz", made.sandbox);
    caller.send(Method::PUT, &path, &[], Some(member)).await.expect(201);
}

/// A row of a portal from its formulary or its FHIR server.
async fn add_person(caller: &Caller, pattern: &str, made: &Authored, number: usize) -> Value {
    let (id, npi) = (format!("q{number:03}"), format!("{:010}", 1_000_000_000 + number));
    let (row, resource) = match pattern {
        "/sandboxes/{sandbox_id}/portal/formulary" => return json!({"drug": format!("drug {number:02}")}),
        "/sandboxes/{sandbox_id}/portal/patients" => {
            (json!({ "patient_id": id }), json!({"resourceType": "Patient", "id": id}))
        }
        "/sandboxes/{sandbox_id}/portal/providers" => (
            json!({ "npi": npi }),
            json!({"resourceType": "Practitioner", "id": id, "identifier": [{"system": "http://hl7.org/fhir/sid/us-npi", "value": npi}]}),
        ),
        unknown => panic!("say here how a row gets into {unknown}"),
    };
    let kind = resource["resourceType"].as_str().unwrap().to_owned();
    let path = format!("/sandboxes/{}/fhir/{kind}/{id}", made.sandbox);
    caller.send(Method::PUT, &path, &[], Some(resource)).await.expect(201);
    row
}

async fn add_row(caller: &Caller, pattern: &str, path: &str, made: &Authored, number: usize) -> Value {
    let name = format!("row {number}");
    let body = match pattern {
        "/api-keys" | "/solvers/{solver_id}/api-keys" | "/environments" | "/benchmarks" => json!({"name": name}),
        "/solvers" => json!({"alias": format!("row-{number}")}),
        "/simulators" => json!({"name": name, "type": "Files"}),
        "/datasets" => json!({"name": name, "type": "files"}),
        "/datasets/{dataset_id}/entities" => json!({"name": name}),
        "/tasks" => json!({"benchmark_id": made.benchmark, "name": name}),
        "/criteria" => world::criterion(&made.task),
        "/tasks/{task_id}/entities" => {
            let entities = format!("/datasets/{}/entities", made.dataset);
            let entity = caller.post(&entities, json!({"name": name})).await.expect(201).id();
            return caller.post(path, json!({"entity_id": entity})).await.expect(200).json;
        }
        "/datasets/{dataset_id}/files" => {
            // Sorted before the existing file.
            let file = format!("{path}/a/{number:03}.txt");
            return caller.put_bytes(&file, "text/plain", name).await.expect(200).json;
        }
        "/datasets/{dataset_id}/checkpoints" => {
            let (data, patients) = (path.replace("checkpoints", "data"), world::patients(number + 10));
            return caller.put_bytes(&data, "application/fhir+ndjson", patients).await.expect(200).json;
        }
        "/benchmarks/{benchmark_id}/versions" => {
            caller.patch(&format!("/tasks/{}", made.task), json!({"name": name})).await.expect(200);
            return caller.post(&path.replace("versions", "publish"), json!({})).await.expect(201).json;
        }
        "/playgrounds" => json!({"environment_id": made.environment}),
        "/sandboxes" => json!({"simulator_id": made.simulator}),
        of_sandbox if of_sandbox.starts_with("/sandboxes/") => {
            return add_sandbox_row(caller, pattern, path, made, number).await;
        }
        "/benchmark-runs" | "/task-runs" => {
            let new = json!({"benchmark_id": made.benchmark});
            let run = caller.post("/benchmark-runs", new).await.expect(201).json;
            let id = if pattern == "/task-runs" { &run["task_runs"][0]["id"] } else { &run["benchmark_run_id"] };
            return json!({ "id": id });
        }
        "/criterion-runs" => {
            let (_, _, criterion_run) = world::completed_run(caller, &made.benchmark, &made.solver).await;
            return json!({ "id": criterion_run });
        }
        unknown => panic!("say here how a row gets into {unknown}"),
    };
    caller.post(path, body).await.expect(201).json
}

async fn add_sandbox_row(caller: &Caller, pattern: &str, path: &str, made: &Authored, number: usize) -> Value {
    let body = match pattern {
        "/sandboxes/{sandbox_id}/files" => {
            let file = format!("{path}/a/{number:03}.txt");
            return caller.put_bytes(&file, "text/plain", format!("row {number}")).await.expect(201).json;
        }
        "/sandboxes/{sandbox_id}/events" => {
            caller.post(&format!("/playgrounds/{}/reset", made.playground), json!({})).await.expect(200);
            let events = caller.get(&format!("{path}?limit=100")).await.expect(200).json;
            return events["data"].as_array().unwrap().last().unwrap().clone();
        }
        "/sandboxes/{sandbox_id}/state" | "/sandboxes/{sandbox_id}/diff" => {
            // Sorted after the patients of the dataset.
            let id = format!("q{number:03}");
            let patient = json!({"resourceType": "Patient", "id": id});
            let path = format!("/sandboxes/{}/fhir/Patient/{id}", made.sandbox);
            caller.send(Method::PUT, &path, &[], Some(patient)).await.expect(201);
            return json!({ "key": id });
        }
        "/sandboxes/{sandbox_id}/x12/responses" => {
            let asked = path.replace("responses", "transactions");
            world::ask_clearinghouse(caller, &asked).await;
            return caller.get(&format!("{path}?limit=1")).await.expect(200)["data"][0].clone();
        }
        "/sandboxes/{sandbox_id}/portal/prior-auths" => world::prior_auth(),
        "/sandboxes/{sandbox_id}/messages" => world::message(),
        "/sandboxes/{sandbox_id}/voice/calls" => {
            return caller.post(path, json!({})).await.expect(201)["call"].clone();
        }
        // A single key needs no message.
        "/sandboxes/{sandbox_id}/voice/calls/{call_id}/turns" => {
            return caller.post(path, json!({"dtmf": "1"})).await.expect(201)["turns"][0].clone();
        }
        "/sandboxes/{sandbox_id}/fax/faxes" => world::fax(),
        "/sandboxes/{sandbox_id}/fax/inbox" => {
            caller.post(&path.replace("inbox", "faxes"), world::fax()).await.expect(201);
            return caller.get(&format!("{path}?limit=1")).await.expect(200)["data"][0].clone();
        }
        "/sandboxes/{sandbox_id}/cds/services" => {
            let service = json!({"service": world::cds_service(&format!("row-{number}"))});
            return caller.post(path, service).await.expect(201)["services"][0].clone();
        }
        "/sandboxes/{sandbox_id}/cds/hooks" => {
            let fired = json!({"context": world::hook_context()});
            return caller.post(&format!("{path}/patient-view"), fired).await.expect(201)["invocations"][0].clone();
        }
        "/sandboxes/{sandbox_id}/cds/feedback" => {
            let feedback = json!({"feedback": [{"card": world::CARD, "outcome": "overridden"}]});
            return caller.post(path, feedback).await.expect(201)["feedback"][0].clone();
        }
        portal if portal.contains("/portal/") => return add_person(caller, portal, made, number).await,
        unknown => panic!("say here how a row gets into {unknown}"),
    };
    caller.post(path, body).await.expect(201).json
}

/// Environments that are created and deleted while the pages are read.
struct ChangingEnvironments {
    caller: Caller,
    chance: u64,
    /// Environments that exist during the whole walk.
    lasting: Vec<String>,
    present: Vec<String>,
}

impl ChangingEnvironments {
    async fn new(caller: Caller, seed: u64) -> Self {
        let mut crowd = Self { caller, chance: seed, lasting: Vec::new(), present: Vec::new() };
        for _ in 0..40 {
            crowd.add().await;
        }
        crowd
    }

    /// A small pseudo-random number.
    fn up_to(&mut self, most: usize) -> usize {
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.chance >> 33) as usize % (most + 1)
    }

    async fn add(&mut self) {
        let made = self.caller.post("/environments", json!({"name": "one of many"})).await.expect(201);
        self.present.push(made.id());
    }

    async fn change(&mut self) {
        for _ in 0..self.up_to(3) {
            self.add().await;
        }
        for _ in 0..self.up_to(2) {
            let leaving = self.up_to(self.present.len() - 1);
            let leaving = self.present.swap_remove(leaving);
            self.caller.delete(&format!("/environments/{leaving}")).await.expect(204);
            self.lasting.retain(|id| *id != leaving);
        }
    }

    /// All rows that were seen, and the last page.
    async fn walk(&mut self, direction: &str, from: Option<TestResponse>) -> (Vec<String>, TestResponse) {
        const PATH: &str = "/environments?limit=7";
        self.lasting = self.present.clone();
        let mut seen = Vec::new();
        let mut page = match from {
            Some(page) => {
                self.lasting.retain(|id| page.data()[0]["id"].as_str().unwrap() < id.as_str());
                page
            }
            None => {
                let first = self.caller.get(PATH).await.expect(200);
                seen.extend(ids(&first));
                first
            }
        };
        loop {
            self.change().await;
            let Some(next) = follow(&self.caller, PATH, &page, direction).await else { break };
            seen.extend(ids(&next));
            page = next;
        }
        (seen, page)
    }

    fn every_lasting_row_once(&self, seen: &[String]) {
        let distinct: HashSet<&String> = seen.iter().collect();
        assert_eq!(distinct.len(), seen.len(), "a row was seen twice");
        let missed: Vec<&String> = self.lasting.iter().filter(|id| !distinct.contains(id)).collect();
        assert!(missed.is_empty(), "missed {missed:?}");
    }
}
