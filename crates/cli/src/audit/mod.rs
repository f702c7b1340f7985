//! Runs an author's own agent in an audit: its command is started for each task, and its requests go through a proxy that
//! mutates them.

mod proxy;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agents::runner::{RunRecord, StartedTask, TaskAgent};
use agents::{AgentMode, MutatingProxy};
use anyhow::Context;
use client::Client;
use model::run::StartedTaskRun;
use serde_json::Value;

use crate::exit;
use crate::run::{Agent, AgentInputs, AgentLimits, EndReason, Interrupt};
use proxy::Proxy;

/// How much of the output is reported when an agent fails.
const MAX_OUTPUT_CHARS: usize = 400;

pub(crate) struct CommandAgent {
    command: String,
    timeout: Option<Duration>,
    interrupt: Interrupt,
    /// Why it could not be started. No more tasks are tried then.
    not_started: OnceLock<String>,
    /// The temporary folder for logs and credentials.
    folder: tempfile::TempDir,
}

impl CommandAgent {
    pub(crate) fn new(command: &str, timeout: Option<Duration>) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("verial-audit-").tempdir().context("no temporary folder")?;
        let (command, interrupt) = (command.to_owned(), Interrupt::listen()?);
        Ok(Self { command, timeout, interrupt, not_started: OnceLock::new(), folder })
    }

    fn log(&self, task_run: &str) -> PathBuf {
        self.folder.path().join(format!("{task_run}.log"))
    }

    fn limits(&self, started: &StartedTaskRun) -> AgentLimits {
        let allowed = started.deadline_at.milliseconds() - started.started_at.milliseconds();
        let allowed = Duration::from_millis(u64::try_from(allowed).unwrap_or_default());
        let work = self.timeout.map_or(allowed, |limit| limit.min(allowed));
        AgentLimits { work, grace: Duration::from_secs(5) }
    }

    /// Runs the agent with all URLs pointing to the proxy.
    async fn run(&self, started: &StartedTask, proxy: &Proxy) -> anyhow::Result<AgentOutcome> {
        let assignment = &started.assignment;
        let task_json = replace_url(&started.response, &assignment.base_url, &proxy.url);
        let task: StartedTaskRun = serde_json::from_value(task_json).context("the server's response to a start")?;
        let run = started.run.parse().ok().context("the run has no id")?;
        let run = (&run, assignment.token.as_str());
        let inputs = AgentInputs::new(&proxy.url, &assignment.benchmark, run, &task, self.folder.path())?;
        let log = self.log(&assignment.task_run_id);
        let agent = match Agent::start(&self.command, &inputs.variables(), &log) {
            Ok(agent) => agent,
            Err(error) => return Ok(AgentOutcome::NotStarted(format!("{error:#}"))),
        };
        let (end, outcome) = agent.wait(self.limits(&task), &self.interrupt, &log).await;
        match end {
            EndReason::Interrupted => anyhow::bail!("interrupted"),
            EndReason::TimedOut => Ok(AgentOutcome::Failed("it reached its time limit".to_owned())),
            EndReason::ByItself if outcome.exit_code == Some(0) => Ok(AgentOutcome::Done),
            EndReason::ByItself => {
                let output = last_output(&std::fs::read_to_string(&log).unwrap_or_default());
                Ok(match outcome.exit_code {
                    Some(code) if outcome.was_not_started() => {
                        AgentOutcome::NotStarted(format!("exit code {code}: {output}"))
                    }
                    _ => AgentOutcome::Failed(output),
                })
            }
        }
    }
}

/// The outcome of the agent's process, with its last output.
enum AgentOutcome {
    Done,
    Failed(String),
    NotStarted(String),
}

impl TaskAgent for CommandAgent {
    async fn run_task(&self, mode: AgentMode, started: &StartedTask) -> anyhow::Result<RunRecord> {
        anyhow::ensure!(!self.interrupt.is_stopped(), "interrupted");
        // A mutant may make an agent fail in any way. Only a failure of the unmodified work means that the agent cannot start.
        let is_reference = mode == AgentMode::Reference;
        let client = Client::new(&started.assignment.base_url, &started.assignment.token)?;
        let mutating = Arc::new(MutatingProxy::new(client.clone(), &started.assignment.task_run_id, mode));
        let proxy = Proxy::start(mutating.clone(), client).await?;
        mutating.begin().await;
        let outcome = self.run(started, &proxy).await;
        proxy.stop().await;
        let complaint = match outcome? {
            AgentOutcome::Done => None,
            AgentOutcome::Failed(output) => Some(output),
            AgentOutcome::NotStarted(output) => {
                if is_reference {
                    let _ = self.not_started.set(format!("the agent cannot be started: {output}"));
                }
                Some(output)
            }
        };
        mutating.finish().await?;
        Ok(mutating.run_record(complaint))
    }

    fn stop_reason(&self) -> Option<anyhow::Error> {
        if self.interrupt.is_stopped() {
            return Some(exit::interrupted("interrupted"));
        }
        self.not_started.get().map(exit::infrastructure)
    }
}

/// Replaces the server's URL by the proxy's in all strings.
fn replace_url(value: &Value, from: &str, to: &str) -> Value {
    match value {
        Value::String(text) => text.replace(from, to).into(),
        Value::Array(items) => items.iter().map(|item| replace_url(item, from, to)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| (key.clone(), replace_url(member, from, to)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

fn last_output(log: &str) -> String {
    let output: Vec<char> = log.trim().chars().collect();
    let from = output.len().saturating_sub(MAX_OUTPUT_CHARS);
    let output: String = output.into_iter().skip(from).collect();
    if output.is_empty() { "it failed without output".to_owned() } else { output }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_url_points_to_the_proxy() {
        let task = json!({"endpoints": {"fhir": "http://a:1/x"}, "list": ["http://a:1", 3]});
        let expected = json!({"endpoints": {"fhir": "http://b:2/x"}, "list": ["http://b:2", 3]});
        assert_eq!(replace_url(&task, "http://a:1", "http://b:2"), expected);
        assert_eq!(last_output(" \n"), "it failed without output");
        assert_eq!(last_output(&"x".repeat(900)).len(), MAX_OUTPUT_CHARS);
    }
}
