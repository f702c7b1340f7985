//! An author's own agent in an audit: its command is started for each task, and what it sends goes through a proxy that has
//! one thing wrong, or says the same otherwise.

mod proxy;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agents::drive::{Started, Worked, Worker};
use agents::{Courier, Manner};
use anyhow::Context;
use client::Client;
use model::run::StartedTaskRun;
use serde_json::Value;

use crate::exit;
use crate::run::{Agent, End, Handover, Interrupt, Times};
use proxy::Proxy;

/// How much of its output is told when an agent fails.
const LAST_WORDS: usize = 400;

pub(crate) struct CommandAgent {
    command: String,
    timeout: Option<Duration>,
    interrupt: Interrupt,
    /// Why it could not be started: the next task would fare no better.
    not_started: OnceLock<String>,
    /// Logs and credentials, gone afterwards.
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

    fn times(&self, started: &StartedTaskRun) -> Times {
        let allowed = started.deadline_at.milliseconds() - started.started_at.milliseconds();
        let allowed = Duration::from_millis(u64::try_from(allowed).unwrap_or_default());
        let work = self.timeout.map_or(allowed, |limit| limit.min(allowed));
        Times { work, grace: Duration::from_secs(5) }
    }

    /// Everything that it is told points to the proxy.
    async fn run(&self, started: &Started, proxy: &Proxy) -> anyhow::Result<Ending> {
        let assignment = &started.assignment;
        let whole = pointed(&started.whole, &assignment.base_url, &proxy.url);
        let task: StartedTaskRun = serde_json::from_value(whole).context("the server's answer to a start")?;
        let run = started.run.parse().ok().context("the run has no id")?;
        let run = (&run, assignment.token.as_str());
        let handover = Handover::new(&proxy.url, &assignment.benchmark, run, &task, self.folder.path())?;
        let log = self.log(&assignment.task_run_id);
        let agent = match Agent::start(&self.command, &handover.variables(), &log) {
            Ok(agent) => agent,
            Err(error) => return Ok(Ending::NotStarted(format!("{error:#}"))),
        };
        let (end, ended) = agent.wait(self.times(&task), &self.interrupt, &log).await;
        match end {
            End::Interrupted => anyhow::bail!("interrupted"),
            End::TimedOut => Ok(Ending::Failed("it used up its time".to_owned())),
            End::ByItself if ended.exit_code == Some(0) => Ok(Ending::Done),
            End::ByItself => {
                let words = last_words(&std::fs::read_to_string(&log).unwrap_or_default());
                Ok(match ended.exit_code {
                    Some(code) if ended.was_not_started() => Ending::NotStarted(format!("exit code {code}: {words}")),
                    _ => Ending::Failed(words),
                })
            }
        }
    }
}

/// What became of the agent's process, with its last words.
enum Ending {
    Done,
    Failed(String),
    NotStarted(String),
}

impl Worker for CommandAgent {
    async fn work(&self, manner: Manner, started: &Started) -> anyhow::Result<Worked> {
        anyhow::ensure!(!self.interrupt.is_stopped(), "interrupted");
        // A near miss may lead an agent anywhere; only of the work as it is, it says that there is no agent.
        let is_reference = manner == Manner::Reference;
        let client = Client::new(&started.assignment.base_url, &started.assignment.token)?;
        let courier = Arc::new(Courier::new(client.clone(), &started.assignment.task_run_id, manner));
        let proxy = Proxy::start(courier.clone(), client).await?;
        courier.begin().await;
        let ended = self.run(started, &proxy).await;
        proxy.stop().await;
        let complaint = match ended? {
            Ending::Done => None,
            Ending::Failed(words) => Some(words),
            Ending::NotStarted(words) => {
                if is_reference {
                    let _ = self.not_started.set(format!("the agent cannot be started: {words}"));
                }
                Some(words)
            }
        };
        courier.finish().await?;
        Ok(courier.worked(complaint))
    }

    fn given_up(&self) -> Option<anyhow::Error> {
        if self.interrupt.is_stopped() {
            return Some(exit::interrupted("interrupted"));
        }
        self.not_started.get().map(exit::infrastructure)
    }
}

/// The same with every address of the server the proxy's.
fn pointed(value: &Value, from: &str, to: &str) -> Value {
    match value {
        Value::String(text) => text.replace(from, to).into(),
        Value::Array(items) => items.iter().map(|item| pointed(item, from, to)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| (key.clone(), pointed(member, from, to)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

fn last_words(log: &str) -> String {
    let words: Vec<char> = log.trim().chars().collect();
    let from = words.len().saturating_sub(LAST_WORDS);
    let words: String = words.into_iter().skip(from).collect();
    if words.is_empty() { "it failed without a word".to_owned() } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_address_is_the_proxys() {
        let told = json!({"endpoints": {"fhir": "http://a:1/x"}, "list": ["http://a:1", 3]});
        let wanted = json!({"endpoints": {"fhir": "http://b:2/x"}, "list": ["http://b:2", 3]});
        assert_eq!(pointed(&told, "http://a:1", "http://b:2"), wanted);
        assert_eq!(last_words(" \n"), "it failed without a word");
        assert_eq!(last_words(&"x".repeat(900)).len(), LAST_WORDS);
    }
}
