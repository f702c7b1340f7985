//! Runs an agent on a published benchmark, task by task.

use anyhow::Context;
use client::{Client, Method};
use serde_json::{Value, json};

use crate::attacks::Survey;
use crate::{AgentMode, Assignment, Message, Plan};

/// An agent that can be run on a task.
pub trait TaskAgent: Sync {
    /// Runs the agent on a started task.
    fn run_task(
        &self,
        mode: AgentMode,
        started: &StartedTask,
    ) -> impl Future<Output = anyhow::Result<RunRecord>> + Send;

    /// Why the agent must not be given more tasks, if so. The run fails with this error.
    fn stop_reason(&self) -> Option<anyhow::Error> {
        None
    }
}

/// A task that was started for an agent.
pub struct StartedTask {
    pub assignment: Assignment,
    /// The id of the benchmark run.
    pub run: String,
    /// The server's full response to the start.
    pub response: Value,
}

/// What an agent did in one task.
#[derive(Clone, Debug, Default)]
pub struct RunRecord {
    /// Whether any request was altered on its way from the agent to the server.
    pub is_altered: bool,
    /// The agent's own write requests, before any alteration.
    pub sent: Vec<Message>,
    /// Why the agent itself failed, if it did.
    pub agent_error: Option<String>,
    /// The content of the task and its requests and responses, in [`AgentMode::Survey`] and attacks.
    pub survey: Survey,
    /// The first message of an attack that the server rejected.
    pub rejection: Option<String>,
}

/// The result of one task.
#[derive(Clone, Debug)]
pub struct TaskResult {
    /// The index of the task in the benchmark.
    pub task_index: usize,
    pub task: String,
    pub task_id: String,
    pub score: f64,
    pub checks: Vec<CheckResult>,
    pub agent_error: Option<String>,
    /// Whether the agent's mode altered anything that it sent.
    pub applied: bool,
    pub plan: Plan,
    pub survey: Survey,
    /// The first message of an attack that the server rejected.
    pub rejection: Option<String>,
}

#[derive(Clone, Debug)]
pub struct CheckResult {
    pub label: String,
    /// Whether the check is a guard: it passes when the agent does nothing.
    pub guard: bool,
    pub passed: bool,
    pub score: f64,
    pub details: String,
}

/// Runs an agent on `benchmark`, which is `slug@version`. `owner` has an organization's key. Tasks for which `mode` returns
/// `None` are not started.
pub async fn run_benchmark(
    owner: &Client,
    benchmark: &str,
    agent: &impl TaskAgent,
    mode: impl Fn(usize) -> Option<AgentMode>,
) -> anyhow::Result<Vec<TaskResult>> {
    let run = BenchmarkRun::create(owner, benchmark, false).await?;
    let mut results = Vec::new();
    for index in 0..run.task_runs.len() {
        if let Some(error) = agent.stop_reason() {
            return Err(error);
        }
        if let Some(mode) = mode(index) {
            let started = run.start(index).await?;
            results.push(run.finish(agent, mode, index, started).await?);
        }
    }
    // The loop does not check after the last task.
    if let Some(error) = agent.stop_reason() {
        return Err(error);
    }
    Ok(results)
}

/// A benchmark run, controlled with its token.
pub(crate) struct BenchmarkRun {
    client: Client,
    token: String,
    id: String,
    benchmark: String,
    pub(crate) task_runs: Vec<Value>,
}

impl BenchmarkRun {
    pub(crate) async fn create(owner: &Client, benchmark: &str, scored: bool) -> anyhow::Result<Self> {
        let body = json!({"benchmark": benchmark, "scored": scored});
        let created = owner.call(Method::POST, "/benchmark-runs", &[], Some(&body)).await?;
        let client = owner.with_key(created["bearer_token"].as_str().context("the run has no token")?);
        let id = text(&created["benchmark_run_id"]);
        // The owner's response identifies the tasks; an agent in a scored run must not see that.
        let visible: Value = client.get(&format!("/v1/benchmark-runs/{id}")).await?;
        Ok(Self {
            client,
            token: text(&created["bearer_token"]),
            id,
            benchmark: benchmark.to_owned(),
            task_runs: visible["task_runs"].as_array().cloned().unwrap_or_default(),
        })
    }

    /// A text member of a task run.
    fn text(&self, index: usize, member: &str) -> String {
        self.task_runs.get(index).map(|task_run| text(&task_run[member])).unwrap_or_default()
    }

    /// The task's name, as the run's token sees it.
    pub(crate) fn name(&self, index: usize) -> String {
        self.text(index, "name")
    }

    pub(crate) fn task_id(&self, index: usize) -> String {
        self.text(index, "task_id")
    }

    pub(crate) async fn start(&self, index: usize) -> anyhow::Result<StartedTask> {
        let id = self.text(index, "id");
        let response = self.step(&id, "start").await.with_context(|| self.name(index))?;
        let assignment = Assignment {
            base_url: self.client.base_url().to_owned(),
            token: self.token.clone(),
            task_run_id: id,
            benchmark: self.benchmark.clone(),
            item: response["task"]["task_item"].clone(),
        };
        Ok(StartedTask { assignment, run: self.id.clone(), response })
    }

    /// Completes a task without running an agent.
    pub(crate) async fn complete_without_agent(&self, index: usize) -> anyhow::Result<()> {
        self.step(&self.text(index, "id"), "complete").await.map(drop)
    }

    /// Runs the agent on a started task, completes the task and returns its result.
    pub(crate) async fn finish(
        &self,
        agent: &impl TaskAgent,
        mode: AgentMode,
        index: usize,
        started: StartedTask,
    ) -> anyhow::Result<TaskResult> {
        let id = started.assignment.task_run_id.clone();
        let is_late = match &mode {
            AgentMode::Mutant(mutant) => mutant.is_late(),
            AgentMode::Attack(case) => case.is_late(),
            _ => false,
        };
        let record = if is_late {
            self.step(&id, "complete").await?;
            // The server must reject every request now. If it does not, the score shows it.
            let late = agent.run_task(AgentMode::Reference, &started).await.unwrap_or_default();
            RunRecord { is_altered: true, ..late }
        } else {
            agent
                .run_task(mode, &started)
                .await
                .unwrap_or_else(|error| RunRecord { agent_error: Some(format!("{error:#}")), ..RunRecord::default() })
        };
        let completed = match is_late {
            true => self.client.call(Method::GET, &format!("/v1/task-runs/{id}"), &[], None).await?,
            false => self.step(&id, "complete").await?,
        };
        let checks = completed["checks"].as_array().into_iter().flatten().map(check_result);
        Ok(TaskResult {
            task_index: index,
            task: self.name(index),
            task_id: self.task_id(index),
            score: completed["score"].as_f64().unwrap_or_default(),
            checks: checks.collect(),
            applied: record.is_altered,
            agent_error: record.agent_error,
            plan: Plan { item: started.assignment.item, sent: record.sent },
            survey: record.survey,
            rejection: record.rejection,
        })
    }

    async fn step(&self, task_run: &str, step: &str) -> anyhow::Result<Value> {
        Ok(self.client.call(Method::POST, &format!("/v1/task-runs/{task_run}/{step}"), &[], None).await?)
    }
}

fn check_result(check: &Value) -> CheckResult {
    CheckResult {
        label: text(&check["label"]),
        guard: check["guard"] == true,
        passed: check["result"] == "pass",
        score: check["score"].as_f64().unwrap_or_default(),
        details: format!("{} {}", text(&check["details"]), check["evidence"]),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
