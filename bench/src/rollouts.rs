//! A published benchmark with one task, and agents that work through it over HTTP.

use std::net::SocketAddr;

use anyhow::Context;
use serde_json::{Value, json};

use crate::connection::{Connection, text};
use crate::{Stage, Ward};

pub struct Rollouts {
    address: SocketAddr,
    solver_key: String,
    reference: String,
}

/// A run and its one task run.
pub struct Run {
    id: String,
    task_run: String,
    token: String,
}

impl Rollouts {
    /// Over a ward, with so many criteria. All of it is authored over the API.
    pub async fn prepare(stage: &Stage, address: SocketAddr, ward: Ward, criteria: usize) -> anyhow::Result<Self> {
        let environment = stage.environment(&stage.upload(ward).await?).await?;
        let (mut connection, key) = (Connection::open(address).await?, stage.key.as_str());
        let name = format!("Ward {} {criteria}", ward.resources());
        let body = json!({"name": name, "environment_id": environment});
        let benchmark = connection.make("/benchmarks", key, &body).await?;
        let body = json!({"benchmark_id": benchmark, "name": "Document a pulse", "task_item": {"instruction": "Document it."}});
        let task = connection.make("/tasks", key, &body).await?;
        for number in 0..criteria {
            let body = json!({"task_id": task, "label": format!("Criterion {number}"), "assertion": assertion(number)});
            connection.make("/criteria", key, &body).await?;
        }
        let publish = format!("POST /benchmarks/{benchmark}/publish");
        let version = connection.ask(&publish, key, "{}", 201).await?;
        let alias = json!({"alias": format!("agent-{}-{criteria}", ward.resources())});
        let solver = connection.make("/solvers", key, &alias).await?;
        let made = connection.ask(&format!("POST /solvers/{solver}/api-keys"), key, r#"{"name":"bench"}"#, 201).await?;
        let reference = format!("{}@{}", text(&version, "slug")?, version["version"]);
        Ok(Self { address, solver_key: text(&made, "key")?, reference })
    }

    pub async fn agent(&self) -> anyhow::Result<Agent> {
        Ok(Agent { connection: Connection::open(self.address).await? })
    }
}

/// Of several kinds: by search, by FHIRPath, by count, absence, and nothing else changed.
fn assertion(number: usize) -> Value {
    let state = |more: Value| {
        let mut assertion = json!({"assert": "fhir-resource-state", "resource_type": "Observation"});
        for (name, value) in more.as_object().into_iter().flatten() {
            assertion[name] = value.clone();
        }
        assertion
    };
    let written = json!({"subject": "Patient/p0", "date": "2026-04-01"});
    match number % 5 {
        0 => state(json!({"search": written, "fields": [{"path": "status", "expected": "final"}]})),
        1 => state(json!({"search": written, "fields": [
            {"fhirpath": "value.value", "op": "between", "expected": [60, 100]},
            {"path": "code.coding.0.code", "expected": "8003-3"},
        ]})),
        2 => {
            state(json!({"search": {"subject": "Patient/p0", "code": "http://loinc.org|8003-3"}, "count": {"min": 1}}))
        }
        3 => state(json!({"search": {"subject": "Patient/p0", "status": "entered-in-error"}, "count": {"max": 0}})),
        _ => json!({"assert": "no-side-effects", "allow": ["fhir/Observation"]}),
    }
}

/// One agent on one connection.
pub struct Agent {
    connection: Connection,
}

impl Agent {
    pub async fn create(&mut self, rollouts: &Rollouts) -> anyhow::Result<Run> {
        let body = json!({"benchmark": rollouts.reference}).to_string();
        let made = self.connection.ask("POST /v1/benchmark-runs", &rollouts.solver_key, &body, 201).await?;
        let task_run = text(made["task_runs"].get(0).context("a run without tasks")?, "id")?;
        Ok(Run { id: text(&made, "benchmark_run_id")?, task_run, token: text(&made, "bearer_token")? })
    }

    pub async fn start(&mut self, run: &Run) -> anyhow::Result<()> {
        self.connection.ask(&format!("POST /v1/task-runs/{}/start", run.task_run), &run.token, "", 200).await?;
        Ok(())
    }

    /// Reads, a search, and writes.
    pub async fn work(&mut self, run: &Run, calls: usize) -> anyhow::Result<()> {
        let base = format!("/v1/benchmark-runs/{}/fhir", run.id);
        for call in 0..calls {
            let (request, body, status) = match call % 5 {
                0 => (format!("GET {base}/Patient/p0"), "", 200),
                1 => (format!("GET {base}/Observation?subject=Patient/p0&code=8003-3&_count=3"), "", 200),
                2 | 3 => (format!("GET {base}/Observation/{}", Ward::observation_id(0, call)), "", 200),
                _ => (format!("POST {base}/Observation"), Ward::new_observation(), 201),
            };
            self.connection.ask(&request, &run.token, body, status).await?;
        }
        Ok(())
    }

    pub async fn complete(&mut self, run: &Run) -> anyhow::Result<()> {
        let request = format!("POST /v1/task-runs/{}/complete", run.task_run);
        let result = self.connection.ask(&request, &run.token, "", 200).await?;
        anyhow::ensure!(result["verdict"] == "pass", "the agent failed: {result}");
        Ok(())
    }
}
