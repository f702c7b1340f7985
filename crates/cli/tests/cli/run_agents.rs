//! Agents that execute runs while servers are killed, and what was acknowledged to them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use testkit::Caller;
use testkit::runs::{Bench, wants_code};
use tokio::sync::{Mutex, Semaphore};

use crate::api::Api;

/// The number of tasks of the benchmark.
pub(crate) const TASKS: usize = 3;
/// The codes that each task requires; each is one criterion.
pub(crate) const WANTED: [&str; 3] = ["a", "b", "c"];

/// A published benchmark and a solver's key.
#[derive(Clone)]
pub(crate) struct RunSetup {
    pub(crate) reference: String,
    pub(crate) solver: String,
}

impl RunSetup {
    pub(crate) async fn open(author: &Caller) -> Self {
        let bench = Bench::new(author, json!({"concurrency": 2})).await;
        for number in 0..TASKS {
            bench.task(&format!("Task {number}"), &WANTED.map(wants_code)).await;
        }
        let solver = author.post("/solvers", json!({"alias": "agent-1"})).await.expect(201).id();
        let key = author.post(&format!("/solvers/{solver}/api-keys"), json!({"name": "ci"})).await.expect(201).json;
        Self { reference: bench.publish().await, solver: key["key"].as_str().unwrap().to_owned() }
    }
}

/// What the agents know about all runs, by id.
pub(crate) type Journal = Mutex<BTreeMap<String, KnownRun>>;

pub(crate) struct KnownRun {
    pub(crate) token: String,
    pub(crate) task_runs: BTreeMap<String, KnownTask>,
}

/// Attempted and acknowledged actions.
#[derive(Default)]
pub(crate) struct KnownTask {
    pub(crate) is_started: bool,
    pub(crate) attempted: BTreeSet<String>,
    pub(crate) written: BTreeSet<String>,
    /// The response to the completion.
    pub(crate) result: Option<Value>,
}

/// Servers on one database: if one does not respond, the same request is sent to the next.
pub(crate) struct Servers {
    pub(crate) base_urls: Vec<String>,
    pub(crate) acknowledged: Semaphore,
}

impl Servers {
    /// `None` when no server responds.
    async fn ask(&self, apis: &[Api], method: &str, path: &str, key: &str, body: Option<Value>) -> Option<Value> {
        for api in apis {
            if let Some((status, response)) = api.call(method, path, key, body.clone()).await {
                assert!((200..300).contains(&status), "{method} {path}: {status} {response}");
                self.acknowledged.add_permits(1);
                return Some(response);
            }
        }
        None
    }

    fn with(&self, token: &str) -> Vec<Api> {
        self.base_urls.iter().map(|base_url| Api::new(base_url, token)).collect()
    }

    /// Creates and executes a run. `None` when no server responds.
    pub(crate) async fn work(&self, setup: &RunSetup, name: &str, journal: &Journal) -> Option<()> {
        let body = json!({"benchmark": setup.reference, "agent": name});
        let created = self.ask(&self.with(&setup.solver), "POST", "/v1/benchmark-runs", name, Some(body)).await?;
        let (run, token) = (text(&created["benchmark_run_id"]), text(&created["bearer_token"]));
        let task_runs: Vec<String> =
            created["task_runs"].as_array().unwrap().iter().map(|task_run| text(&task_run["id"])).collect();
        let known = task_runs.iter().map(|id| (id.clone(), KnownTask::default())).collect();
        journal.lock().await.insert(run.clone(), KnownRun { token: token.clone(), task_runs: known });
        let apis = self.with(&token);
        for (number, task_run) in task_runs.iter().enumerate() {
            let path = format!("/v1/task-runs/{task_run}");
            self.ask(&apis, "POST", &format!("{path}/start"), &format!("start-{number}"), None).await?;
            note(journal, &run, task_run, |known| known.is_started = true).await;
            // Each task gets a different amount of work.
            for code in &WANTED[..=number % WANTED.len()] {
                note(journal, &run, task_run, |known| known.attempted.extend([(*code).to_owned()])).await;
                let resource = json!({"resourceType": "Basic", "id": code, "code": {"text": code}});
                self.ask(&apis, "PUT", &format!("{path}/sandbox/fhir/Basic/{code}"), "", Some(resource)).await?;
                note(journal, &run, task_run, |known| known.written.extend([(*code).to_owned()])).await;
            }
            let result =
                self.ask(&apis, "POST", &format!("{path}/complete"), &format!("complete-{number}"), None).await?;
            note(journal, &run, task_run, |known| known.result = Some(result)).await;
        }
        Some(())
    }
}

async fn note(journal: &Journal, run: &str, task_run: &str, change: impl FnOnce(&mut KnownTask) + Send) {
    let mut journal = journal.lock().await;
    let known = journal.get_mut(run).and_then(|known| known.task_runs.get_mut(task_run));
    change(known.expect("a known task run"));
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}
