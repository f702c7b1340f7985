//! Takes an agent of ours through a published benchmark, task by task.

use anyhow::Context;
use client::{Client, Method};
use serde_json::{Value, json};

use crate::{Assignment, Manner, work};

/// What one task came to.
#[derive(Clone, Debug)]
pub struct Result {
    pub task: String,
    pub score: f64,
    pub checks: Vec<Check>,
    /// What the agent itself had to say when it could not go on.
    pub complaint: Option<String>,
    /// Whether the agent's way of going wrong touched anything that it sent.
    pub applied: bool,
}

#[derive(Clone, Debug)]
pub struct Check {
    pub label: String,
    pub passed: bool,
    pub score: f64,
    pub details: String,
}

/// With an organization's key; `benchmark` is `slug@version`.
pub async fn drive(owner: &Client, benchmark: &str, manner: Manner) -> anyhow::Result<Vec<Result>> {
    let created = owner.call(Method::POST, "/benchmark-runs", &[], Some(&json!({"benchmark": benchmark}))).await?;
    let token = created["bearer_token"].as_str().context("the run has no token")?;
    let agent = owner.with_key(token);
    let mut results = Vec::new();
    for task_run in created["task_runs"].as_array().into_iter().flatten() {
        results.push(one(&agent, token, benchmark, task_run, manner).await?);
    }
    Ok(results)
}

async fn one(agent: &Client, token: &str, benchmark: &str, task_run: &Value, manner: Manner) -> anyhow::Result<Result> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let id = text(&task_run["id"]);
    let path = |step: &str| format!("/v1/task-runs/{id}/{step}");
    let started = agent.call(Method::POST, &path("start"), &[], None).await.context(text(&task_run["name"]))?;
    let assignment = Assignment {
        base_url: agent.base_url().to_owned(),
        token: token.to_owned(),
        task_run_id: id.clone(),
        benchmark: benchmark.to_owned(),
        item: started["task"]["task_item"].clone(),
    };
    let worked = work(manner, &assignment).await;
    let completed = agent.call(Method::POST, &path("complete"), &[], None).await?;
    let checks = completed["checks"].as_array().into_iter().flatten().map(|check| Check {
        label: text(&check["label"]),
        passed: check["result"] == "pass",
        score: check["score"].as_f64().unwrap_or_default(),
        details: format!("{} {}", text(&check["details"]), check["evidence"]),
    });
    Ok(Result {
        task: text(&task_run["name"]),
        score: completed["score"].as_f64().unwrap_or_default(),
        checks: checks.collect(),
        applied: *worked.as_ref().unwrap_or(&false),
        complaint: worked.err().map(|error| format!("{error:#}")),
    })
}
