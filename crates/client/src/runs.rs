//! An agent's way through a run, as `verial run` goes it: every step can be asked for again.

use std::time::Duration;

use model::run::{BenchmarkRun, CreatedRun, RunSummary, StartedTaskRun, TaskRunResult};
use model::stats::Comparison;
use model::{BenchmarkRunId, TaskRunId};
use serde_json::{Value, json};

use crate::{Client, ClientError};

/// Starting makes a playground, completing scores it: both may take their time.
const LONGEST_STEP: Duration = Duration::from_secs(120);

impl Client {
    /// With a solver key.
    pub async fn begin_run(&self, body: &Value, key: &str) -> Result<CreatedRun, ClientError> {
        self.post_once("/v1/benchmark-runs", Some(body), key, LONGEST_STEP).await
    }

    /// With an organization key.
    pub async fn begin_run_as_owner(&self, body: &Value, key: &str) -> Result<CreatedRun, ClientError> {
        self.post_once("/benchmark-runs", Some(body), key, LONGEST_STEP).await
    }

    /// What is known about a version before it is run, with a solver key.
    pub async fn runnable_version(&self, reference: &str) -> Result<Value, ClientError> {
        self.get(&format!("/v1/benchmarks/{}", crate::segment(reference, false))).await
    }

    /// With the run's token, as everything below.
    pub async fn start_task(&self, task_run: &TaskRunId, key: &str) -> Result<StartedTaskRun, ClientError> {
        self.post_once(&format!("/v1/task-runs/{task_run}/start"), None, key, LONGEST_STEP).await
    }

    pub async fn complete_task(&self, task_run: &TaskRunId, key: &str) -> Result<TaskRunResult, ClientError> {
        self.post_once(&format!("/v1/task-runs/{task_run}/complete"), None, key, LONGEST_STEP).await
    }

    /// Ends a task run without scoring it.
    pub async fn cancel_task(&self, task_run: &TaskRunId, key: &str) -> Result<TaskRunResult, ClientError> {
        self.post_once(&format!("/v1/task-runs/{task_run}/cancel"), None, key, LONGEST_STEP).await
    }

    pub async fn task_result(&self, task_run: &TaskRunId) -> Result<TaskRunResult, ClientError> {
        self.get(&format!("/v1/task-runs/{task_run}")).await
    }

    pub async fn run_summary(&self, run: &BenchmarkRunId) -> Result<RunSummary, ClientError> {
        self.get(&format!("/v1/benchmark-runs/{run}")).await
    }

    /// With an organization key.
    pub async fn run(&self, run: &BenchmarkRunId) -> Result<BenchmarkRun, ClientError> {
        self.get(&format!("/benchmark-runs/{run}")).await
    }

    /// Runs side by side, with an organization key.
    pub async fn compare(&self, runs: &[BenchmarkRunId], group_by: &str) -> Result<Comparison, ClientError> {
        let ids: Vec<String> = runs.iter().map(ToString::to_string).collect();
        let query = [("ids".to_owned(), ids.join(",")), ("group_by".to_owned(), group_by.to_owned())];
        self.get(&crate::with_query("/benchmark-runs/compare", &query)).await
    }

    /// The solver of the organization with this alias, made when there is none.
    pub async fn solver(&self, alias: &str) -> Result<String, ClientError> {
        if let Some(known) = self.find_solver(alias).await? {
            return Ok(known);
        }
        match self.post::<Value>("/solvers", &json!({"alias": alias})).await {
            Ok(made) => Ok(made["id"].as_str().unwrap_or_default().to_owned()),
            // Another process was faster.
            Err(error) if error.status() == Some(409) => match self.find_solver(alias).await? {
                Some(known) => Ok(known),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    async fn find_solver(&self, alias: &str) -> Result<Option<String>, ClientError> {
        let all = self.all("/solvers", &[]).await?;
        let known = all.iter().find(|solver| solver["alias"] == alias);
        Ok(known.and_then(|solver| solver["id"].as_str()).map(ToOwned::to_owned))
    }

    /// Every item of a list, page after page.
    pub async fn all(&self, path: &str, query: &[(String, String)]) -> Result<Vec<Value>, ClientError> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut asked = query.to_vec();
            asked.push(("limit".into(), "100".into()));
            asked.extend(cursor.take().map(|cursor| ("cursor".to_owned(), cursor)));
            let mut page = self.call(reqwest::Method::GET, path, &asked, None).await?;
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
