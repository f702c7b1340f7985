//! V8: an agent that sends every request with all its credentials, before, during and after its run, learns nothing about
//! how it is scored.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, solver, wants_code};
use testkit::{Caller, TestResponse, TestServer, both_databases};

use crate::hostile_run_fixture::{AgentCredentials, LATE, MARK, MarkedBenchmark, NAME};
use crate::request::{Request, send_all};
use crate::surface::Surface;

both_databases! {
    async fn a_scored_run_does_not_reveal_its_criteria(server: TestServer) {
        let (surface, trap) = (Surface::load(), MarkedBenchmark::set(&server).await);
        // Another agent's run of the same task, which must stay hidden too.
        let other = Agent::begin(&server, &solver(&server, &trap.author, "agent-2").await, &trap.reference, false).await;
        other.start(0).await.expect(200);
        other.write(basic(&format!("{MARK}-another-run"))).await.expect(201);
        let mut held = AgentCredentials::begin(&server, &trap, true).await;
        held.find_out(&trap).await;
        let task_ids = trap.task_ids();
        let unknown: Vec<&str> = task_ids.iter().map(String::as_str).chain([MARK, NAME]).collect();
        let forbidden = unknown.iter().copied().chain([LATE]).collect();
        let mut crawl = Crawl { server: &server, surface: &surface, trap: &trap, forbidden, asked: 0 };
        crawl.check(&held.agent.created.to_string(), "the creation");
        crawl.everything(&held).await;
        let started = held.start(&server, 0).await;
        crawl.check(&started.text(), "the start");
        for code in ["a", "{{entity.data.hidden}}", "{{task.criteria}}"] {
            held.agent.write(basic(code)).await.expect(201);
        }
        crawl.everything(&held).await;
        crawl.forbidden = unknown;
        let completed = held.complete("once").await.expect(200);
        crawl.check(&completed.text(), "the completion");
        assert_eq!(completed["checks"].as_array().unwrap().len(), 8);
        assert!(completed["checks"].as_array().unwrap().iter().all(|check| {
            check.get("details").is_none() && check.get("evidence").is_none()
        }));
        let replayed = held.complete("once").await.expect(200);
        assert_eq!((replayed.header("idempotent-replayed"), &replayed.body), (Some("true"), &completed.body));
        held.complete("twice").await.expect_error(409, "CONFLICT");
        held.find_out(&trap).await;
        crawl.everything(&held).await;
        let last = format!("/task-runs/{}/cancel", held.agent.task_runs[1]);
        trap.author.send(Method::POST, &last, &[], None).await.expect(200);
        let ended = held.agent.read().await;
        assert_eq!(ended["status"], "completed");
        crawl.check(&ended.to_string(), "the end, to the run's token");
        // The solver key can now read the tasks.
        crawl.forbidden = vec![MARK];
        crawl.everything(&held).await;
        trap.author.post(&format!("/benchmark-runs/{}/publish", held.agent.run), json!({})).await.expect(200);
        crawl.everything(&held).await;
        eprintln!("{} requests, {} marks, none seen", crawl.asked, trap.marks.len());
        assert!(crawl.asked > 3000, "only {} requests", crawl.asked);
        the_marks_are_there(&trap, &held).await;
    }

    async fn before_completion_an_agent_cannot_tell_how_many_criteria_there_are(server: TestServer) {
        let author = server.organization("Acme").await;
        let solver = solver(&server, &author, "agent-1").await;
        let mut seen = Vec::new();
        for criteria in [1, 7] {
            let bench = Bench::new(&author, json!({})).await;
            let codes: Vec<Value> = (0..criteria).map(|number| wants_code(&format!("{number}"))).collect();
            bench.task("Only", &codes).await;
            let slug = json!({"slug": format!("with-{criteria}")});
            author.post(&format!("/benchmarks/{}/publish", bench.benchmark), slug).await.expect(201);
            let agent = Agent::begin(&server, &solver, &format!("with-{criteria}@1"), false).await;
            seen.push(all_told(&agent, &solver).await);
        }
        assert_eq!(seen[0], seen[1]);
        assert!(!seen[0].contains("crit_") && !seen[0].contains("crun_"), "{}", seen[0]);
    }

    async fn an_unscored_run_shows_details_and_evidence_only_when_it_is_completed(server: TestServer) {
        let trap = MarkedBenchmark::set(&server).await;
        let held = AgentCredentials::begin(&server, &trap, false).await;
        let path = format!("/v1/task-runs/{}", held.agent.task_runs[0]);
        held.agent.start(0).await.expect(200);
        held.agent.write(basic("a")).await.expect(201);
        let before = held.agent.caller.get(&path).await.expect(200);
        assert_eq!((&before["checks"], &before["axes"]), (&json!([]), &json!({})));
        assert!(!before.text().contains(MARK) && !before.text().contains(LATE));
        let completed = held.agent.complete(0).await.expect(200);
        assert!(completed.text().contains(&format!("{MARK}-expected")));
        assert!(completed["checks"].as_array().unwrap().iter().all(|check| check["details"].is_string()));
        // Nothing of the second task, which is not completed.
        assert!(!completed.text().contains("second-"), "{}", completed.text());
        let summary = held.agent.read().await.to_string();
        assert!(!summary.contains(MARK) && !summary.contains("details"), "{summary}");
    }

    async fn a_broken_scenario_is_not_revealed_to_the_agent(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        let step = json!({"do": "fhir", "bundle": {"resourceType": "Bundle", "type": "transaction", "entry": [
            {"resource": {"resourceType": "Basic", "code": {"text": "{{entity.data.qzx7mark-of-nobody}}"}},
             "request": {"method": "POST", "url": "Basic"}}]}});
        let task = bench.task_with(json!({"name": "Broken", "scenario": {"steps": [step]}}), &[]).await;
        let entity = json!({"name": "nobody", "ref": "Patient/p1", "data": {}});
        let entity = author.post(&format!("/datasets/{}/entities", bench.dataset), entity).await.expect(201).id();
        author.post(&format!("/tasks/{task}/entities"), json!({"entity_id": entity})).await.expect(200);
        let reference = bench.publish().await;
        let solver = solver(&server, &author, "agent-1").await;
        let agent = Agent::begin(&server, &solver, &reference, true).await;
        let refused = agent.start(0).await.expect_error(409, "CONFLICT");
        assert!(!refused.text().contains(MARK) && !refused.text().contains("steps"), "{}", refused.text());
        let read = agent.caller.get(&format!("/v1/task-runs/{}", agent.task_runs[0])).await.expect(200);
        assert!(!read.text().contains(MARK), "{}", read.text());
        // Its author sees the reason.
        let told = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
        assert!(told["failure"].as_str().unwrap_or_default().contains(MARK), "{}", told.text());
        let agent = Agent::begin(&server, &solver, &reference, true).await;
        let told = author.send(Method::POST, &format!("/task-runs/{}/start", agent.task_runs[0]), &[], None).await;
        assert!(told.expect_error(409, "CONFLICT").text().contains(MARK));
    }
}

struct Crawl<'a> {
    server: &'a TestServer,
    surface: &'a Surface,
    trap: &'a MarkedBenchmark,
    forbidden: Vec<&'a str>,
    asked: usize,
}

impl Crawl<'_> {
    fn check(&self, text: &str, about: &str) {
        let lower = text.to_lowercase();
        for forbidden in &self.forbidden {
            assert!(!lower.contains(forbidden), "{about} shows {forbidden}: {text}");
        }
    }

    async fn send(&mut self, key: &str, requests: Vec<Request>) {
        self.asked += requests.len();
        let caller = self.server.caller(key);
        let mut answers = Vec::new();
        send_all(&caller, requests, |response| {
            assert!(response.status < 500, "{}: {}", response.request, response.text());
            answers.push(full_response(response));
        })
        .await;
        answers.iter().for_each(|(asked, text)| self.check(text, asked));
    }

    async fn everything(&mut self, held: &AgentCredentials) {
        for credential in &held.credentials {
            self.send(credential, self.operations(held)).await;
        }
        for (number, (base, credential)) in held.fhir.iter().enumerate() {
            let mut requests = odd(base);
            if number == 0 {
                requests.extend(every_type(base));
            }
            self.send(credential, requests).await;
        }
    }

    /// Every operation of the document that does not end the run, with every possible id in its path.
    fn operations(&self, held: &AgentCredentials) -> Vec<Request> {
        let mut requests = Vec::new();
        for operation in &self.surface.operations {
            // Operations that change the run are sent by the test itself.
            let is_of_run = operation.method == Method::POST && operation.pattern.starts_with("/v1/");
            let mut paths = vec![String::new()];
            for segment in operation.pattern.split('/').skip(1) {
                let values = match segment.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                    Some(variable) => self.trap.ids(variable, held),
                    None => vec![segment.to_owned()],
                };
                let longer = |path: &String| values.iter().map(|value| format!("{path}/{value}")).collect::<Vec<_>>();
                paths = paths.iter().flat_map(longer).collect();
            }
            for path in paths {
                if is_of_run {
                    // Rejected before it takes effect.
                    let refused = Request::new(operation.method.clone(), &path).content("application/json", "{\"x\":");
                    requests.push(refused.header("idempotency-key", "x".repeat(256)));
                    continue;
                }
                requests.push(Request::new(operation.method.clone(), &path));
                if operation.method != Method::GET {
                    requests.push(Request::new(operation.method.clone(), &path).json(&json!({})));
                } else {
                    requests.push(Request::get(format!("{path}?limit=100&include=criteria&expand=true")));
                }
            }
        }
        requests
    }
}

/// Status line, headers and body.
fn full_response(response: &TestResponse) -> (String, String) {
    let headers: Vec<String> = response
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    (response.request.clone(), format!("{} {}\n{}", response.status, headers.join("\n"), response.text()))
}

fn every_type(base: &str) -> Vec<Request> {
    let of_type = |kind: fhir::ResourceType| {
        let search = Request::new(Method::POST, format!("{base}/{kind}/_search"));
        [
            Request::get(format!("{base}/{kind}?_include=*&_revinclude=*&_count=1000")),
            Request::get(format!("{base}/{kind}/_history?_count=1000")),
            search.content("application/x-www-form-urlencoded", "_count=1000&_total=accurate"),
        ]
    };
    fhir::ResourceType::all().flat_map(of_type).collect()
}

/// Paths that no client requests.
const ODD: [&str; 70] = [
    "",
    "/",
    "metadata",
    "metadata?mode=full",
    ".well-known/smart-configuration",
    "_history",
    "_history?_count=1000",
    "_history?_since=2000-01-01T00:00:00Z",
    "?_type=Basic",
    "?_type=scheduled",
    "_search",
    "scheduled",
    "scheduled/000001",
    "scheduled/000001/_history",
    "scheduled/_history",
    "scheduled?_count=1",
    "Scheduled",
    "Basic/000001",
    "Basic/000001/_history/1",
    "scenario_step",
    "events",
    "state",
    "diff",
    "config",
    "../state",
    "..%2fstate",
    "%2e%2e/events",
    "Patient/p1",
    "Patient/p1/_history",
    "Patient/p1/_history/1",
    "Patient/p1/_history/99",
    "Patient/p1/$everything",
    "Patient/p1/$everything?_count=1000",
    "Patient/$everything",
    "$everything",
    "$export",
    "Patient/p1/$validate",
    "Basic/$validate",
    "Basic?code:text=q",
    "Basic?code:not=a",
    "Basic?_filter=code eq a",
    "Basic?_lastUpdated=gt2000",
    "Basic?_lastUpdated=gt2100",
    "Basic?_sort=-_lastUpdated&_elements=code",
    "Basic?_summary=true",
    "Basic?_summary=count",
    "Basic?_contained=both",
    "Basic?unknown=1",
    "Basic?_has:Basic:subject:code=x",
    "Basic?subject:Patient.name=x",
    "Basic?_id=000000,000001,000002",
    "Basic?_query=x",
    "Basic?_text=q",
    "Basic?_content=q",
    "Basic?_page=x",
    "Basic?_cursor=AAAA",
    "Basic?_count=-1",
    "Basic?_count=99999999999999",
    "Basic?_format=xml",
    "Nonsense",
    "Nonsense/1",
    "Patient/%00",
    "Patient/%ff",
    "Patient/p1?_elements=*",
    "Parameters",
    "AuditEvent",
    "Provenance",
    "Basic/{{entity.data.hidden}}",
    "Basic?code={{entity.data.hidden}}",
    "Basic?code={{task.name}}",
];

/// Requests that no client sends.
fn odd(base: &str) -> Vec<Request> {
    let mut requests: Vec<Request> = ODD.iter().map(|path| Request::get(at(base, path))).collect();
    let strict = |path: &&str| Request::get(at(base, path)).header("prefer", "handling=strict");
    requests.extend(ODD.iter().map(strict));
    for method in ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "QUERY"] {
        requests.extend(odd_writes(base, &Method::from_bytes(method.as_bytes()).unwrap()));
    }
    for url in ["scheduled/000001", "scheduled", "_history", "Basic?code=none", "../state", "Patient/p1/$everything"] {
        let bundle =
            json!({"resourceType": "Bundle", "type": "batch", "entry": [{"request": {"method": "GET", "url": url}}]});
        requests.push(Request::new(Method::POST, base).content("application/fhir+json", bundle.to_string()));
    }
    for media in ["text/html", "application/fhir+xml", "*/*", "application/json;q=0"] {
        requests.push(Request::get(at(base, "Basic")).header("accept", media));
    }
    requests
}

/// Bodies that every endpoint rejects.
fn odd_writes(base: &str, method: &Method) -> Vec<Request> {
    let paths =
        ["", "scheduled", "scheduled/000001", "Basic/none", "Basic?code=none", "Nonsense", "metadata", "$everything"];
    let of_path = |path: &str| {
        let request = Request::new(method.clone(), at(base, path)).header("if-match", "W/\"1\"");
        let forged = json!({"resourceType": "scheduled", "id": "000001"}).to_string();
        [
            request.clone().content("application/fhir+json", "{\"resourceType\":"),
            request.clone().content("application/xml", "<Basic/>"),
            request.content("application/fhir+json", forged),
        ]
    };
    paths.into_iter().flat_map(of_path).collect()
}

fn at(base: &str, path: &str) -> String {
    if path.is_empty() { base.to_owned() } else { format!("{base}/{}", path.replace(' ', "%20")) }
}

impl AgentCredentials {
    async fn complete(&self, key: &str) -> TestResponse {
        let path = format!("/v1/task-runs/{}/complete", self.agent.task_runs[0]);
        self.agent.caller.send(Method::POST, &path, &[("idempotency-key", key)], None).await
    }
}

/// Checks that the marks exist, without which the crawl would prove nothing.
async fn the_marks_are_there(trap: &MarkedBenchmark, held: &AgentCredentials) {
    let mut shown = String::new();
    let mut read = async |path: &str| shown.push_str(&trap.author.get(path).await.expect(200).text());
    for list in ["benchmarks", "environments", "simulators", "datasets", "tasks", "criteria", "solvers", "api-keys"] {
        read(&format!("/{list}?limit=100")).await;
    }
    for list in ["criterion-runs", "sandboxes"] {
        read(&format!("/{list}?limit=100")).await;
    }
    read(&format!("/benchmarks/{}", trap.reference)).await;
    for id in trap.ids("sandbox_id", held) {
        read(&format!("/sandboxes/{id}/state?limit=100")).await;
    }
    for id in trap.ids("dataset_id", held) {
        read(&format!("/datasets/{id}/entities")).await;
    }
    for mark in &trap.marks {
        assert!(shown.contains(mark), "{mark} was not planted");
    }
}

/// Everything an agent reads of its run before the task is completed, with ids and times replaced.
async fn all_told(agent: &Agent, solver: &Caller) -> String {
    let mut told = agent.created.to_string();
    told.push_str(&agent.start(0).await.expect(200).json.to_string());
    agent.write(basic("0")).await.expect(201);
    told.push_str(&agent.read().await.to_string());
    told.push_str(&solver.get(&format!("/v1/benchmark-runs/{}", agent.run)).await.expect(200).json.to_string());
    let task_run = agent.caller.get(&format!("/v1/task-runs/{}", agent.task_runs[0])).await.expect(200);
    told.push_str(&task_run.json.to_string());
    let words = told.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric() && !"_-:.".contains(letter));
    let is_told_to_all = |word: &&str| word.len() < 24;
    words.filter(is_told_to_all).collect::<String>().replace("with-1", "with-n").replace("with-7", "with-n")
}
