//! Benchmark runs for tests: a published benchmark, and an agent that runs it.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{Caller, TestResponse, TestServer, world};

/// A benchmark over one FHIR sandbox with the patients `p1` to `p3`.
pub struct Bench {
    pub author: Caller,
    pub benchmark: String,
    pub dataset: String,
    pub environment: String,
}

impl Bench {
    /// `fields` are added to the benchmark: `{"concurrency": 2}`.
    pub async fn new(author: &Caller, fields: Value) -> Self {
        let dataset = author.post("/datasets", json!({"name": "Patients", "type": "fhir"})).await.expect(201).id();
        let upload = format!("/datasets/{dataset}/data");
        author.put_bytes(&upload, "application/fhir+ndjson", world::patients(3)).await.expect(200);
        let simulator = author.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
        let environment = author.post("/environments", json!({"name": "Clinic"})).await.expect(201).id();
        for path in [
            format!("/simulators/{simulator}/datasets/{dataset}"),
            format!("/environments/{environment}/simulators/{simulator}"),
        ] {
            author.send(Method::POST, &path, &[], None).await.expect(200);
        }
        let mut body = json!({"name": "Orders", "environment_id": environment});
        for (name, value) in fields.as_object().unwrap() {
            body[name] = value.clone();
        }
        let benchmark = author.post("/benchmarks", body).await.expect(201).id();
        Self { author: author.clone(), benchmark, dataset, environment }
    }

    /// Publishes the benchmark and begins a run of it that is not scored, with a new solver.
    pub async fn begin(&self, server: &TestServer) -> Agent {
        let (reference, solver) = (self.publish().await, solver(server, &self.author, "agent-1").await);
        Agent::begin(server, &solver, &reference, false).await
    }

    /// Creates a task with `{"label", "assertion", …}` criteria.
    pub async fn task(&self, name: &str, criteria: &[Value]) -> String {
        self.task_with(json!({"name": name}), criteria).await
    }

    pub async fn task_with(&self, mut task: Value, criteria: &[Value]) -> String {
        task["benchmark_id"] = json!(self.benchmark);
        let task = self.author.post("/tasks", task).await.expect(201).id();
        for criterion in criteria {
            let mut criterion = criterion.clone();
            criterion["task_id"] = json!(task);
            self.author.post("/criteria", criterion).await.expect(201);
        }
        task
    }

    /// Publishes the benchmark and returns `slug@version`.
    pub async fn publish(&self) -> String {
        let version =
            self.author.post(&format!("/benchmarks/{}/publish", self.benchmark), json!({})).await.expect(201).json;
        format!("{}@{}", version["slug"].as_str().unwrap(), version["version"])
    }
}

/// Creates a solver and returns a caller with its key.
pub async fn solver(server: &TestServer, organization: &Caller, alias: &str) -> Caller {
    let solver = organization.post("/solvers", json!({"alias": alias})).await.expect(201).id();
    let key = organization.post(&format!("/solvers/{solver}/api-keys"), json!({"name": "ci"})).await.expect(201).json;
    server.caller(key["key"].as_str().unwrap())
}

/// An agent that calls the API with the token of its run.
pub struct Agent {
    pub caller: Caller,
    pub run: String,
    /// The response to the creation.
    pub created: Value,
    /// Task runs in the order of the response: the order of the tasks, or a shuffled one for a scored run.
    pub task_runs: Vec<String>,
}

impl Agent {
    pub async fn begin(server: &TestServer, solver: &Caller, benchmark: &str, scored: bool) -> Self {
        let body = json!({"benchmark": benchmark, "scored": scored});
        Self::from(server, &solver.post("/v1/benchmark-runs", body).await.expect(201))
    }

    pub fn from(server: &TestServer, created: &TestResponse) -> Self {
        let created = created.json.clone();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let task_runs = created["task_runs"].as_array().unwrap().iter().map(|task_run| text(&task_run["id"]));
        Self {
            caller: server.caller(&text(&created["bearer_token"])),
            run: text(&created["benchmark_run_id"]),
            task_runs: task_runs.collect(),
            created,
        }
    }

    /// Begins a run with more members in the request: `{"scored": true, "agent": "a"}`.
    pub async fn begin_with(server: &TestServer, solver: &Caller, benchmark: &str, fields: Value) -> Self {
        let mut body = fields;
        body["benchmark"] = json!(benchmark);
        Self::from(server, &solver.post("/v1/benchmark-runs", body).await.expect(201))
    }

    /// Sorts the task runs of a scored run into the benchmark's order, which only its organization can read.
    pub async fn in_order(mut self, owner: &Caller) -> Self {
        let run = owner.get(&format!("/benchmark-runs/{}", self.run)).await.expect(200).json;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let task_runs = run["task_runs"].as_array().unwrap().iter();
        // Task ids increase in creation order.
        let mut by_task: Vec<(String, String)> =
            task_runs.map(|task_run| (text(&task_run["task_id"]), text(&task_run["id"]))).collect();
        by_task.sort();
        self.task_runs = by_task.into_iter().map(|(_, id)| id).collect();
        self
    }

    pub async fn start(&self, task: usize) -> TestResponse {
        self.caller.send(Method::POST, &format!("/v1/task-runs/{}/start", self.task_runs[task]), &[], None).await
    }

    pub async fn complete(&self, task: usize) -> TestResponse {
        self.caller.send(Method::POST, &format!("/v1/task-runs/{}/complete", self.task_runs[task]), &[], None).await
    }

    /// Sends a request to the run's FHIR server.
    pub async fn fhir(&self, method: Method, path: &str, body: Option<Value>) -> TestResponse {
        self.caller.send(method, &format!("/v1/benchmark-runs/{}/fhir/{path}", self.run), &[], body).await
    }

    /// Creates a resource in the started task's sandbox.
    pub async fn write(&self, resource: Value) -> TestResponse {
        let path = resource["resourceType"].as_str().unwrap().to_owned();
        self.fhir(Method::POST, &path, Some(resource)).await
    }

    /// Starts a task, writes one resource for each code, and completes it.
    pub async fn do_task(&self, task: usize, codes: &[&str]) -> Value {
        self.start(task).await.expect(200);
        for code in codes {
            self.write(basic(code)).await.expect(201);
        }
        self.complete(task).await.expect(200).json
    }

    /// The result of a task run, or its current state.
    pub async fn result(&self, task: usize) -> Value {
        self.caller.get(&format!("/v1/task-runs/{}", self.task_runs[task])).await.expect(200).json
    }

    pub async fn read(&self) -> Value {
        self.caller.get(&format!("/v1/benchmark-runs/{}", self.run)).await.expect(200).json
    }
}

/// A criterion that passes when a Basic resource with this code was written.
pub fn wants_code(code: &str) -> Value {
    let fields = json!([{"path": "code.text", "expected": code}]);
    let assertion =
        json!({"assert": "fhir-resource-state", "resource_type": "Basic", "match": "any", "fields": fields});
    json!({"label": format!("Basic {code}"), "assertion": assertion})
}

/// The resource that satisfies [`wants_code`].
pub fn basic(code: &str) -> Value {
    json!({"resourceType": "Basic", "code": {"text": code}})
}
