//! The way through the runs: every step is written down before it is taken, and each can be taken again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use client::{Client, ClientError};
use futures_util::{StreamExt, stream};
use model::BenchmarkRunId;
use model::run::{CreatedRun, Phase, RunSummary};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::interrupt::Interrupt;
use super::journal::{CreatedRecord, Journal, JournalFile, Place, RunRecord, Step, TaskRecord};
use super::patience::{Outages, insist_aloud};
use super::progress::Progress;
use super::task;
use crate::confine::Confinement;
use crate::report::owned;

/// Who asks for runs.
pub(crate) enum Asker {
    Solver(Client),
    /// For a solver of the organization.
    Organization(Client, String),
}

pub(crate) struct Drive {
    pub(crate) asker: Asker,
    pub(crate) journal: JournalFile,
    /// How agents are isolated, if they are.
    pub(crate) confinement: Option<Confinement>,
    pub(crate) interrupt: Interrupt,
    pub(crate) progress: Progress,
    pub(crate) outages: Outages,
    /// As many agents as may work at a time.
    pub(crate) agents: Semaphore,
    pub(crate) parallel: usize,
    /// The user's own limit for an agent.
    pub(crate) timeout: Option<Duration>,
    pub(crate) grace: Duration,
    pub(crate) patience: Duration,
    /// Nothing more is begun: the next would go the same way.
    pub(crate) is_hopeless: AtomicBool,
    pub(crate) tasks: AtomicU64,
}

impl Asker {
    pub(crate) fn client(&self) -> &Client {
        match self {
            Asker::Solver(client) | Asker::Organization(client, _) => client,
        }
    }

    /// The run as this key sees it: of a scored run that has ended with the real names of its tasks.
    pub(crate) async fn summary(&self, run: &BenchmarkRunId) -> Result<RunSummary, ClientError> {
        match self {
            Asker::Solver(client) => client.run_summary(run).await,
            Asker::Organization(client, _) => Ok(owned::summary(client.run(run).await?)),
        }
    }

    async fn ask(&self, body: &Value, key: &str) -> Result<CreatedRun, ClientError> {
        match self {
            Asker::Solver(client) => client.begin_run(body, key).await,
            Asker::Organization(client, solver) => {
                let mut body = body.clone();
                body["solver_id"] = json!(solver);
                client.begin_run_as_owner(&body, key).await
            }
        }
    }
}

impl Drive {
    /// All runs, as many at a time as agents may work.
    pub(crate) async fn all(&self) -> anyhow::Result<()> {
        let runs = self.journal.read().runs.len();
        let looking = tokio::spawn(self.outages.clone().watch(self.asker.client().clone()));
        let ended: Vec<anyhow::Result<()>> =
            stream::iter(0..runs).map(|run| self.one(run)).buffer_unordered(self.parallel).collect().await;
        looking.abort();
        self.progress.finish();
        ended.into_iter().collect()
    }

    pub(crate) fn goes_on(&self) -> bool {
        !self.interrupt.is_stopped() && !self.is_hopeless.load(Ordering::Relaxed)
    }

    async fn one(&self, run: usize) -> anyhow::Result<()> {
        if self.journal.read().runs.get(run).is_some_and(|record| record.created.is_none()) {
            if !self.goes_on() {
                return Ok(());
            }
            if let Err(error) = self.create(run).await {
                // The next would be refused in the same way.
                self.is_hopeless.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        let record = self.journal.read().runs.get(run).cloned().context("no such run")?;
        let created = record.created.context("a run without an id")?;
        let (begun, waiting): (Vec<usize>, Vec<usize>) = (0..record.tasks.len())
            .partition(|task| record.tasks.get(*task).is_some_and(|task| task.step != Step::Waiting));
        let client = self.asker.client().with_key(&created.token);
        // What an earlier process has begun is in the way of what waits.
        for task in begun {
            task::go_on(self, &client, Place { run, task }, &created).await?;
        }
        let at_a_time = usize::try_from(created.concurrency).unwrap_or(1).clamp(1, self.parallel.max(1));
        let ended: Vec<anyhow::Result<()>> = stream::iter(waiting)
            .map(|task| task::go_on(self, &client, Place { run, task }, &created))
            .buffer_unordered(at_a_time)
            .collect()
            .await;
        ended.into_iter().collect()
    }

    /// The same key gives the same run, also from another process.
    async fn create(&self, run: usize) -> anyhow::Result<()> {
        let journal = self.journal.read();
        let body = request(&journal, journal.runs.get(run));
        let key = format!("verial-run-{}-{run}", journal.id);
        let mut created = insist_aloud(self.patience, || self.asker.ask(&body, &key)).await?;
        if created.scored {
            // The organization key is told the real names, and the agent may be able to read the journal.
            let agent = self.asker.client().with_key(&created.bearer_token);
            let summary = insist_aloud(self.patience, || agent.run_summary(&created.benchmark_run_id)).await?;
            created.task_runs = summary.task_runs;
        }
        let tasks = self.tasks.fetch_add(created.task_runs.len() as u64, Ordering::Relaxed);
        self.progress.expect(tasks + created.task_runs.len() as u64);
        self.journal.change(|journal| {
            if let Some(record) = journal.runs.get_mut(run) {
                record.tasks = created.task_runs.iter().map(TaskRecord::waiting).collect();
                record.created = Some(CreatedRecord {
                    run: created.benchmark_run_id,
                    token: created.bearer_token,
                    concurrency: created.concurrency,
                    benchmark: created.benchmark,
                });
            }
        })
    }
}

/// The body of the request that creates a run.
fn request(journal: &Journal, record: Option<&RunRecord>) -> Value {
    let mut body = json!({"scored": journal.scored});
    match &journal.draft {
        Some(draft) => body["benchmark_id"] = json!(draft),
        None => body["benchmark"] = json!(journal.benchmark),
    }
    if let Some(agent) = &journal.agent_name {
        body["agent"] = json!(agent);
    }
    let again = record.map(|record| &record.only).filter(|only| !only.is_empty());
    if let Some(only) = again.or(Some(&journal.tasks)).filter(|tasks| !tasks.is_empty()) {
        body["tasks"] = json!(only);
    }
    if again.is_none() && !journal.tags.is_empty() {
        body["tags"] = json!(journal.tags);
    }
    if !journal.metadata.is_empty() {
        body["metadata"] = json!(journal.metadata);
    }
    body
}

impl TaskRecord {
    fn waiting(task: &model::run::RunTask) -> Self {
        Self {
            task_run: task.id.clone(),
            task: task.task_id.clone(),
            name: task.name.clone(),
            step: if task.phase == Phase::Completed { Step::Completing } else { Step::Waiting },
            attempts: 0,
            process: None,
            agent: None,
            interrupted: false,
            agent_not_started: false,
            fault: None,
            notes: Vec::new(),
            result: None,
        }
    }
}
