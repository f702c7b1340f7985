//! Takes an agent through a published benchmark, task by task.

use anyhow::Context;
use client::{Client, Method};
use serde_json::{Value, json};

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
}

/// What one task came to.
#[derive(Clone, Debug)]
pub struct Result {
    /// Its place in the benchmark.
    pub place: usize,
    pub task: String,
    pub score: f64,
    pub checks: Vec<Check>,
    pub complaint: Option<String>,
    /// Whether the agent's way of going wrong touched anything that it sent.
    pub applied: bool,
    pub plan: Plan,
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
    let created = owner.call(Method::POST, "/benchmark-runs", &[], Some(&json!({"benchmark": benchmark}))).await?;
    let run = Run {
        agent: owner.with_key(created["bearer_token"].as_str().context("the run has no token")?),
        token: text(&created["bearer_token"]),
        id: text(&created["benchmark_run_id"]),
        benchmark,
    };
    let mut results = Vec::new();
    for (place, task_run) in created["task_runs"].as_array().into_iter().flatten().enumerate() {
        if let Some(error) = worker.given_up() {
            return Err(error);
        }
        if let Some(manner) = manner(place) {
            results.push(run.one(worker, manner, place, task_run).await?);
        }
    }
    // Also after the last task, which nothing follows.
    if let Some(error) = worker.given_up() {
        return Err(error);
    }
    Ok(results)
}

struct Run<'a> {
    agent: Client,
    token: String,
    id: String,
    benchmark: &'a str,
}

impl Run<'_> {
    async fn one(
        &self,
        worker: &impl Worker,
        manner: Manner,
        place: usize,
        task_run: &Value,
    ) -> anyhow::Result<Result> {
        let (id, name) = (text(&task_run["id"]), text(&task_run["name"]));
        let whole = self.step(&id, "start").await.with_context(|| name.clone())?;
        let assignment = Assignment {
            base_url: self.agent.base_url().to_owned(),
            token: self.token.clone(),
            task_run_id: id.clone(),
            benchmark: self.benchmark.to_owned(),
            item: whole["task"]["task_item"].clone(),
        };
        let started = Started { assignment, run: self.id.clone(), whole };
        let is_late = matches!(&manner, Manner::Mutant(miss) if miss.is_late());
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
            task: name,
            score: completed["score"].as_f64().unwrap_or_default(),
            checks: checks.collect(),
            applied: worked.is_altered,
            complaint: worked.complaint,
            plan: Plan { item: started.assignment.item, sent: worked.sent },
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
