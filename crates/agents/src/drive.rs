//! Takes an agent through a published benchmark, task by task.

use anyhow::Context;
use client::{Client, Method};
use serde_json::{Value, json};

use crate::attacks::Survey;
use crate::{Assignment, Manner, Message, Plan};

/// Who does the work of a task.
pub trait Worker: Sync {
    fn work(&self, manner: Manner, started: &Started) -> impl Future<Output = anyhow::Result<Worked>> + Send;

    /// Why no more work is to be given: what is driven ends with it.
    fn given_up(&self) -> Option<anyhow::Error> {
        None
    }
}

/// A task that waits for its work.
pub struct Started {
    pub assignment: Assignment,
    pub run: String,
    /// All that the server says of it.
    pub whole: Value,
}

/// How the work went.
#[derive(Clone, Debug, Default)]
pub struct Worked {
    /// Whether anything was sent in another way than the reference has it.
    pub is_altered: bool,
    pub sent: Vec<Message>,
    /// What the agent itself had to say when it could not go on.
    pub complaint: Option<String>,
    /// What the task held, and what was exchanged in it, when it was surveyed.
    pub survey: Survey,
    /// The first message of an attack that the server refused.
    pub refusal: Option<String>,
}

/// What one task came to.
#[derive(Clone, Debug)]
pub struct Result {
    /// Its place in the benchmark.
    pub place: usize,
    pub task: String,
    pub task_id: String,
    pub score: f64,
    pub checks: Vec<Check>,
    pub complaint: Option<String>,
    /// Whether the agent's way of going wrong touched anything that it sent.
    pub applied: bool,
    pub plan: Plan,
    pub survey: Survey,
    /// The first message of an attack that the server refused.
    pub refusal: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Check {
    pub label: String,
    /// Whether it is a guard: its check asks for no work.
    pub guard: bool,
    pub passed: bool,
    pub score: f64,
    pub details: String,
}

/// With an organization's key; `benchmark` is `slug@version`. A task without a manner is not started.
pub async fn drive(
    owner: &Client,
    benchmark: &str,
    worker: &impl Worker,
    manner: impl Fn(usize) -> Option<Manner>,
) -> anyhow::Result<Vec<Result>> {
    let run = Run::create(owner, benchmark, false).await?;
    let mut results = Vec::new();
    for place in 0..run.task_runs.len() {
        if let Some(error) = worker.given_up() {
            return Err(error);
        }
        if let Some(manner) = manner(place) {
            let started = run.start(place).await?;
            results.push(run.finish(worker, manner, place, started).await?);
        }
    }
    // Also after the last task, which nothing follows.
    if let Some(error) = worker.given_up() {
        return Err(error);
    }
    Ok(results)
}

/// A run of a benchmark, driven by its token alone.
pub(crate) struct Run {
    agent: Client,
    token: String,
    id: String,
    benchmark: String,
    pub(crate) task_runs: Vec<Value>,
}

impl Run {
    pub(crate) async fn create(owner: &Client, benchmark: &str, scored: bool) -> anyhow::Result<Self> {
        let body = json!({"benchmark": benchmark, "scored": scored});
        let created = owner.call(Method::POST, "/benchmark-runs", &[], Some(&body)).await?;
        let agent = owner.with_key(created["bearer_token"].as_str().context("the run has no token")?);
        let id = text(&created["benchmark_run_id"]);
        // The answer to the owner says which task is which; an agent of a scored run must not know.
        let seen: Value = agent.get(&format!("/v1/benchmark-runs/{id}")).await?;
        Ok(Self {
            agent,
            token: text(&created["bearer_token"]),
            id,
            benchmark: benchmark.to_owned(),
            task_runs: seen["task_runs"].as_array().cloned().unwrap_or_default(),
        })
    }

    fn text(&self, place: usize, member: &str) -> String {
        self.task_runs.get(place).map(|task_run| text(&task_run[member])).unwrap_or_default()
    }

    /// What the task is called, as the run's token sees it.
    pub(crate) fn name(&self, place: usize) -> String {
        self.text(place, "name")
    }

    pub(crate) fn task_id(&self, place: usize) -> String {
        self.text(place, "task_id")
    }

    pub(crate) async fn start(&self, place: usize) -> anyhow::Result<Started> {
        let id = self.text(place, "id");
        let whole = self.step(&id, "start").await.with_context(|| self.name(place))?;
        let assignment = Assignment {
            base_url: self.agent.base_url().to_owned(),
            token: self.token.clone(),
            task_run_id: id,
            benchmark: self.benchmark.clone(),
            item: whole["task"]["task_item"].clone(),
        };
        Ok(Started { assignment, run: self.id.clone(), whole })
    }

    /// Completes a task without any work.
    pub(crate) async fn abandon(&self, place: usize) -> anyhow::Result<()> {
        self.step(&self.text(place, "id"), "complete").await.map(drop)
    }

    pub(crate) async fn finish(
        &self,
        worker: &impl Worker,
        manner: Manner,
        place: usize,
        started: Started,
    ) -> anyhow::Result<Result> {
        let id = started.assignment.task_run_id.clone();
        let is_late = match &manner {
            Manner::Mutant(miss) => miss.is_late(),
            Manner::Attack(case) => case.is_late(),
            _ => false,
        };
        let worked = if is_late {
            self.step(&id, "complete").await?;
            // Every step of it is to be refused; whether any was not, the score tells.
            let late = worker.work(Manner::Reference, &started).await.unwrap_or_default();
            Worked { is_altered: true, ..late }
        } else {
            worker
                .work(manner, &started)
                .await
                .unwrap_or_else(|error| Worked { complaint: Some(format!("{error:#}")), ..Worked::default() })
        };
        let completed = match is_late {
            true => self.agent.call(Method::GET, &format!("/v1/task-runs/{id}"), &[], None).await?,
            false => self.step(&id, "complete").await?,
        };
        let checks = completed["checks"].as_array().into_iter().flatten().map(check);
        Ok(Result {
            place,
            task: self.name(place),
            task_id: self.task_id(place),
            score: completed["score"].as_f64().unwrap_or_default(),
            checks: checks.collect(),
            applied: worked.is_altered,
            complaint: worked.complaint,
            plan: Plan { item: started.assignment.item, sent: worked.sent },
            survey: worked.survey,
            refusal: worked.refusal,
        })
    }

    async fn step(&self, task_run: &str, step: &str) -> anyhow::Result<Value> {
        Ok(self.agent.call(Method::POST, &format!("/v1/task-runs/{task_run}/{step}"), &[], None).await?)
    }
}

fn check(check: &Value) -> Check {
    Check {
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
