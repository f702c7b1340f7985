//! A benchmark in which all secret content is marked, and everything an agent is given.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{Caller, TestResponse, TestServer};

use crate::fhir_client::{entry, token_request, transaction};

/// Part of every mark that no agent may ever see.
pub(crate) const MARK: &str = "qzx7mark";
/// Part of every mark that an agent may see once the task is completed: labels and axes.
pub(crate) const LATE: &str = "qzx7late";
/// Part of names and tags of tasks, which the agent of a scored run must not see before the run has ended.
pub(crate) const NAME: &str = "qzx7name";

/// The author of the benchmark, and its parts.
pub(crate) struct MarkedBenchmark {
    pub(crate) author: Caller,
    pub(crate) solver: Caller,
    pub(crate) reference: String,
    /// Marks that are planted in the benchmark.
    pub(crate) marks: Vec<String>,
    /// Ids by path parameter, including those that no agent is told.
    ids: Vec<(&'static str, String)>,
}

/// Creates a mark.
fn mark(place: &str) -> String {
    format!("{MARK}-{place}")
}

fn late(place: &str) -> String {
    format!("{LATE}-{place}")
}

impl MarkedBenchmark {
    pub(crate) async fn set(server: &TestServer) -> Self {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({"description": mark("benchmark")})).await;
        let mut ids = author_marked(&author, &bench).await;
        let reference = bench.publish().await;
        let drafted = json!({"description": mark("draft")});
        author.patch(&format!("/benchmarks/{}", bench.benchmark), drafted).await.expect(200);
        ids.extend(write_elsewhere(&author, &bench).await);
        let content = author.get(&format!("/benchmarks/{reference}/content")).await.expect(200);
        let chunk = content["content"]["datasets"][0]["manifest"]["chunks"][0]["sha256"].as_str().unwrap().to_owned();
        let solver = solver(server, &author, "agent-1").await;
        let mine = author.get("/solvers").await.expect(200).data()[0]["id"].as_str().unwrap().to_owned();
        let about = json!({"real_name": mark("real-name"), "contact_email": format!("{MARK}@example.org")});
        author.patch(&format!("/solvers/{mine}"), about).await.expect(200);
        let key = author.post("/api-keys", json!({"name": mark("key")})).await.expect(201).id();
        ids.extend([
            ("environment_id", bench.environment.clone()),
            ("dataset_id", bench.dataset.clone()),
            ("benchmark_id", bench.benchmark.clone()),
            ("solver_id", mine),
            ("key_id", key),
            ("reference", reference.clone()),
            ("benchmark_id", reference.clone()),
            ("sha256", chunk),
            ("path", "inbox/a.txt".into()),
            ("auth_number", "PA-100001".into()),
            ("fax_id", "fax_01K9Z3T5Q8W7N4M2R6V0XBHCDE".into()),
            ("page", "1.png".into()),
            ("message_id", testkit::world::HL7_MESSAGE.into()),
            ("call_id", "call_01K9Z3T5Q8W7N4M2R6V0XBHCDE".into()),
            ("voicemail_id", testkit::world::VOICEMAIL.into()),
            ("service_id", "svc_0123456789abcdef".into()),
            ("invocation_id", "inv_01K9Z3T5Q8W7N4M2R6V0XBHCDE".into()),
            ("hook", "patient-view".into()),
            ("response_id", "x12_01K9Z3T5Q8W7N4M2R6V0XBHCDE".into()),
        ]);
        let marks = PLACES.split(' ').map(mark).collect();
        Self { author, solver, reference, marks, ids }
    }

    /// Possible values of a path parameter, for an agent that knows all ids.
    pub(crate) fn ids(&self, variable: &str, held: &AgentCredentials) -> Vec<String> {
        let known = self.ids.iter().chain(&held.ids).filter(|(name, _)| *name == variable);
        let known: Vec<String> = known.map(|(_, id)| id.clone()).collect();
        assert!(!known.is_empty(), "say here what `{variable}` is");
        known
    }
}

impl MarkedBenchmark {
    /// In lower case.
    pub(crate) fn task_ids(&self) -> Vec<String> {
        let tasks = self.ids.iter().filter(|(name, _)| *name == "task_id");
        tasks.map(|(_, id)| id.to_lowercase()).collect()
    }
}

/// Environment, data, entity and tasks with their criteria.
async fn author_marked(author: &Caller, bench: &Bench) -> Vec<(&'static str, String)> {
    let environment = format!("/environments/{}", bench.environment);
    author.patch(&environment, json!({"description": mark("environment")})).await.expect(200);
    let payer = author.post("/simulators", payer()).await.expect(201).id();
    author.send(Method::POST, &format!("{environment}/simulators/{payer}"), &[], None).await.expect(200);
    let dataset = format!("/datasets/{}", bench.dataset);
    author.patch(&dataset, json!({"name": mark("dataset"), "description": mark("about-data")})).await.expect(200);
    let entity = json!({"name": mark("entity"), "ref": "Patient/p1",
        "data": {"shown": "Ann", "hidden": mark("entity-data"), "wanted": mark("entity-wanted")}});
    let entity = author.post(&format!("{dataset}/entities"), entity).await.expect(201).id();
    let task = bench.task_with(first_task(), &[]).await;
    author.post(&format!("/tasks/{task}/entities"), json!({"entity_id": entity})).await.expect(200);
    let second = bench.task_with(second_task(), &[wants_code(&mark("second-expected"))]).await;
    let mut ids = vec![("simulator_id", payer), ("task_id", second), ("task_id", task.clone())];
    for mut body in criteria(&entity) {
        body["task_id"] = json!(task);
        ids.push(("criterion_id", author.post("/criteria", body).await.expect(201).id()));
    }
    ids.push(("entity_id", entity));
    ids
}

/// A sandbox of the organization outside of any run.
async fn write_elsewhere(author: &Caller, bench: &Bench) -> Vec<(&'static str, String)> {
    let other = author.post("/sandboxes", json!({"simulator_id": simulator_of(author, bench).await})).await.expect(201);
    let resource = testkit::runs::basic(&mark("another-sandbox"));
    author.post(&format!("/sandboxes/{}/fhir/Basic", other.id()), resource).await.expect(201);
    vec![("playground_id", other["own_playground_id"].as_str().unwrap().to_owned()), ("sandbox_id", other.id())]
}

const PLACES: &str = "benchmark draft environment determination dataset about-data entity entity-data entity-wanted \
    expected path fhirpath search pattern phrase unsupported later second-item second-expected second-tag second-step \
    another-sandbox real-name key";

fn payer() -> Value {
    json!({"type": "Payer", "name": "Portal", "config": {"determinations":
        [{"match": {"procedure_code": "70551"}, "determination": {"status": "denied", "reason": mark("determination")}}]}})
}

async fn simulator_of(author: &Caller, bench: &Bench) -> String {
    let environment = author.get(&format!("/environments/{}", bench.environment)).await.expect(200).json;
    let simulators = environment["simulators"].as_array().unwrap();
    simulators.iter().find(|one| one["type"] == "Fhir").unwrap()["id"].as_str().unwrap().to_owned()
}

fn arrives(code: &str, after_seconds: i64) -> Value {
    let resource = testkit::runs::basic(code);
    json!({"do": "fhir", "after_seconds": after_seconds, "bundle": transaction(vec![entry("POST", "Basic", Some(resource))])})
}

fn first_task() -> Value {
    json!({"name": format!("{NAME}-first"), "tags": [format!("{NAME}-tag")], "task_item": {"instruction": "Do it for {{entity.data.shown}}."},
        "scenario": {"steps": [arrives("brought by the scenario", 0), arrives(&mark("later"), 86_400)]}})
}

fn second_task() -> Value {
    json!({"name": format!("{NAME}-second"), "task_item": {"instruction": mark("second-item")}, "tags": [mark("second-tag")],
        "scenario": {"steps": [arrives(&mark("second-step"), 0)]}})
}

fn criteria(entity: &str) -> Vec<Value> {
    let state = |fields: Value| json!({"assert": "fhir-resource-state", "resource_type": "Basic", "match": "any", "fields": fields});
    let mut searching = state(json!([]));
    searching["search"] = json!({"code": mark("search")});
    let assertions = [
        state(json!([{"path": "code.text", "expected": mark("expected")}])),
        state(json!([{"path": format!("code.{}", mark("path")), "op": "exists"}])),
        state(json!([{"fhirpath": format!("code.text = '{}'", mark("fhirpath")), "expected": true}])),
        state(json!([{"path": "code.text", "op": "matches", "expected": format!("^{}.*$", mark("pattern"))}])),
        state(json!([{"path": "code.text", "expected": "{{entity.data.wanted}}"}])),
        searching,
        json!({"assert": "message-transcript", "contains": [mark("phrase")]}),
        json!({"assert": mark("unsupported"), "secret": mark("unsupported")}),
    ];
    let shown = |(number, assertion): (usize, Value)| {
        json!({"label": late(&format!("label-{number}")), "axis": late("axis"), "assertion": assertion,
            "input_entity_id": entity})
    };
    assertions.into_iter().enumerate().map(shown).collect()
}

/// Everything the agent of a run was given.
pub(crate) struct AgentCredentials {
    pub(crate) agent: Agent,
    /// Bearer credentials: the solver's key, the run's token, and when a task was started those of its sandbox.
    pub(crate) credentials: Vec<String>,
    /// FHIR base URLs, each with its credential.
    pub(crate) fhir: Vec<(String, String)>,
    ids: Vec<(&'static str, String)>,
}

impl AgentCredentials {
    pub(crate) async fn begin(server: &TestServer, trap: &MarkedBenchmark, scored: bool) -> Self {
        let agent = Agent::begin(server, &trap.solver, &trap.reference, scored).await.in_order(&trap.author).await;
        let mut ids = vec![("benchmark_run_id", agent.run.clone())];
        ids.extend(agent.task_runs.iter().map(|id| ("task_run_id", id.clone())));
        ids.push(("criterion_run_id", "crun_01K9Z3T5Q8W7N4M2R6V0XBHCDE".into()));
        let token = agent.caller.key().to_owned();
        let mut fhir = vec![(format!("/v1/benchmark-runs/{}/fhir", agent.run), token.clone())];
        fhir.extend(agent.task_runs.iter().map(|id| (format!("/v1/task-runs/{id}/sandbox/fhir"), token.clone())));
        let credentials = vec![trap.solver.key().to_owned(), token];
        Self { agent, credentials, fhir, ids }
    }

    /// Starts a task and collects the credentials of its sandbox.
    pub(crate) async fn start(&mut self, server: &TestServer, task: usize) -> TestResponse {
        let started = self.agent.start(task).await.expect(200);
        let sandboxes = started["sandboxes"].as_array().unwrap();
        let sandbox = sandboxes.iter().find(|sandbox| sandbox["type"] == "Fhir").unwrap();
        let id = sandbox["id"].as_str().unwrap().to_owned();
        let secret = sandbox["credentials"]["client_secret"].as_str().unwrap().to_owned();
        let form =
            format!("grant_type=client_credentials&client_id={id}&client_secret={secret}&scope=system%2F*.cruds");
        let token = token_request(&id, &form).send(&server.anonymous()).await.expect(200);
        let token = token["access_token"].as_str().unwrap().to_owned();
        for base in ["sandboxes", "services"] {
            self.fhir.push((format!("/{base}/{id}/fhir"), token.clone()));
        }
        self.ids.push(("sandbox_id", id));
        self.credentials.extend([token, secret]);
        started
    }

    /// Credentials that only the organization is told.
    pub(crate) async fn find_out(&mut self, trap: &MarkedBenchmark) {
        let run = trap.author.get(&format!("/benchmark-runs/{}", self.agent.run)).await.expect(200).json;
        for task_run in run["task_runs"].as_array().unwrap() {
            self.ids.extend(task_run["playground_id"].as_str().map(|id| ("playground_id", id.to_owned())));
            for criterion_run in task_run["criterion_runs"].as_array().unwrap() {
                self.ids.push(("criterion_run_id", criterion_run["id"].as_str().unwrap().to_owned()));
            }
        }
    }
}
