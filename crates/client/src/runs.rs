//! The calls of a benchmark run, as `verial run` makes them. Each step takes an idempotency key and can be retried.

use std::time::Duration;

use model::run::{BenchmarkRun, CreatedRun, RunSummary, StartedTaskRun, TaskRunResult};
use model::stats::Comparison;
use model::{BenchmarkRunId, TaskRunId};
use serde_json::{Value, json};

use crate::{Client, ClientError};

/// Timeout of a step. It is long because starting a task creates a playground and completing it computes the score.
const STEP_TIMEOUT: Duration = Duration::from_secs(120);

impl Client {
    /// Creates a run with a solver key.
    pub async fn create_run(&self, body: &Value, key: &str) -> Result<CreatedRun, ClientError> {
        self.post_once("/v1/benchmark-runs", Some(body), key, STEP_TIMEOUT).await
    }

    /// Creates a run with an organization key.
    pub async fn create_run_as_owner(&self, body: &Value, key: &str) -> Result<CreatedRun, ClientError> {
        self.post_once("/benchmark-runs", Some(body), key, STEP_TIMEOUT).await
    }

    /// Returns what a solver can see of a version before running it. Needs a solver key.
    pub async fn runnable_version(&self, reference: &str) -> Result<Value, ClientError> {
        self.get(&format!("/v1/benchmarks/{}", crate::segment(reference, false))).await
    }

    /// Starts a task run. This and the task calls below need the run's token.
    pub async fn start_task(&self, task_run: &TaskRunId, key: &str) -> Result<StartedTaskRun, ClientError> {
        self.post_once(&format!("/v1/task-runs/{task_run}/start"), None, key, STEP_TIMEOUT).await
    }

    pub async fn complete_task(&self, task_run: &TaskRunId, key: &str) -> Result<TaskRunResult, ClientError> {
        self.post_once(&format!("/v1/task-runs/{task_run}/complete"), None, key, STEP_TIMEOUT).await
    }

    /// Ends a task run without scoring it.
    pub async fn cancel_task(&self, task_run: &TaskRunId, key: &str) -> Result<TaskRunResult, ClientError> {
        self.post_once(&format!("/v1/task-runs/{task_run}/cancel"), None, key, STEP_TIMEOUT).await
    }

    pub async fn task_result(&self, task_run: &TaskRunId) -> Result<TaskRunResult, ClientError> {
        self.get(&format!("/v1/task-runs/{task_run}")).await
    }

    pub async fn run_summary(&self, run: &BenchmarkRunId) -> Result<RunSummary, ClientError> {
        self.get(&format!("/v1/benchmark-runs/{run}")).await
    }

    /// Returns a run. Needs an organization key.
    pub async fn run(&self, run: &BenchmarkRunId) -> Result<BenchmarkRun, ClientError> {
        self.get(&format!("/benchmark-runs/{run}")).await
    }

    /// Compares runs. Needs an organization key.
    pub async fn compare(&self, runs: &[BenchmarkRunId], group_by: &str) -> Result<Comparison, ClientError> {
        let ids: Vec<String> = runs.iter().map(ToString::to_string).collect();
        let query = [("ids".to_owned(), ids.join(",")), ("group_by".to_owned(), group_by.to_owned())];
        self.get(&crate::with_query("/benchmark-runs/compare", &query)).await
    }

    /// Returns the id of the organization's solver with this alias, creating the solver if there is none.
    pub async fn find_or_create_solver(&self, alias: &str) -> Result<String, ClientError> {
        if let Some(known) = self.find_solver(alias).await? {
            return Ok(known);
        }
        match self.post::<Value>("/solvers", &json!({"alias": alias})).await {
            Ok(created) => Ok(created["id"].as_str().unwrap_or_default().to_owned()),
            // Another process created it in the meantime.
            Err(error) if error.status() == Some(409) => match self.find_solver(alias).await? {
                Some(known) => Ok(known),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    async fn find_solver(&self, alias: &str) -> Result<Option<String>, ClientError> {
        let all = self.list_all("/solvers", &[]).await?;
        let known = all.iter().find(|solver| solver["alias"] == alias);
        Ok(known.and_then(|solver| solver["id"].as_str()).map(ToOwned::to_owned))
    }

    /// Returns all items of a list, following its pages.
    pub async fn list_all(&self, path: &str, query: &[(String, String)]) -> Result<Vec<Value>, ClientError> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut parameters = query.to_vec();
            parameters.push(("limit".into(), "100".into()));
            parameters.extend(cursor.take().map(|cursor| ("cursor".to_owned(), cursor)));
            let mut page = self.call(reqwest::Method::GET, path, &parameters, None).await?;
            if let Some(data) = page["data"].as_array_mut() {
                items.append(data);
            }
            match page["_meta"]["next"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return Ok(items),
            }
        }
    }
}
