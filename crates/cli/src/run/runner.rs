//! Executes the runs. Every step is written to the journal before it is taken, so that it can be repeated.

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
use super::journal::{CreatedRecord, Journal, JournalFile, RunRecord, TaskIndex, TaskRecord, TaskStage};
use super::progress::Progress;
use super::retry::{Outages, retry_with_notice};
use super::task;
use crate::confine::Confinement;
use crate::report::owned;

/// Whose key creates the runs.
pub(crate) enum RunCreator {
    Solver(Client),
    /// The organization, for one of its solvers.
    Organization(Client, String),
}

pub(crate) struct Runner {
    pub(crate) creator: RunCreator,
    pub(crate) journal: JournalFile,
    /// How agents are isolated, if at all.
    pub(crate) confinement: Option<Confinement>,
    pub(crate) interrupt: Interrupt,
    pub(crate) progress: Progress,
    pub(crate) outages: Outages,
    /// Limits the number of agents that work at a time.
    pub(crate) agents: Semaphore,
    pub(crate) parallel: usize,
    /// The user's time limit for an agent.
    pub(crate) timeout: Option<Duration>,
    pub(crate) grace: Duration,
    pub(crate) patience: Duration,
    /// Nothing more is started, because it would fail in the same way.
    pub(crate) gave_up: AtomicBool,
    pub(crate) tasks: AtomicU64,
}

impl RunCreator {
    pub(crate) fn client(&self) -> &Client {
        match self {
            RunCreator::Solver(client) | RunCreator::Organization(client, _) => client,
        }
    }

    /// The run as this key sees it: a finished scored run has the real names of its tasks.
    pub(crate) async fn summary(&self, run: &BenchmarkRunId) -> Result<RunSummary, ClientError> {
        match self {
            RunCreator::Solver(client) => client.run_summary(run).await,
            RunCreator::Organization(client, _) => Ok(owned::summary(client.run(run).await?)),
        }
    }

    async fn create_run(&self, body: &Value, key: &str) -> Result<CreatedRun, ClientError> {
        match self {
            RunCreator::Solver(client) => client.create_run(body, key).await,
            RunCreator::Organization(client, solver) => {
                let mut body = body.clone();
                body["solver_id"] = json!(solver);
                client.create_run_as_owner(&body, key).await
            }
        }
    }
}

impl Runner {
    /// Executes all runs, `parallel` at a time.
    pub(crate) async fn run_all(&self) -> anyhow::Result<()> {
        let runs = self.journal.read().runs.len();
        let health_watch = tokio::spawn(self.outages.clone().watch(self.creator.client().clone()));
        let ended: Vec<anyhow::Result<()>> =
            stream::iter(0..runs).map(|run| self.run_one(run)).buffer_unordered(self.parallel).collect().await;
        health_watch.abort();
        self.progress.finish();
        ended.into_iter().collect()
    }

    pub(crate) fn should_continue(&self) -> bool {
        !self.interrupt.is_stopped() && !self.gave_up.load(Ordering::Relaxed)
    }

    async fn run_one(&self, run: usize) -> anyhow::Result<()> {
        if self.journal.read().runs.get(run).is_some_and(|record| record.created.is_none()) {
            if !self.should_continue() {
                return Ok(());
            }
            if let Err(error) = self.create(run).await {
                // The next run would be rejected in the same way.
                self.gave_up.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        let record = self.journal.read().runs.get(run).cloned().context("no such run")?;
        let created = record.created.context("a run without an id")?;
        let (in_progress, waiting): (Vec<usize>, Vec<usize>) = (0..record.tasks.len())
            .partition(|task| record.tasks.get(*task).is_some_and(|task| task.step != TaskStage::Waiting));
        let client = self.creator.client().with_key(&created.token);
        // Finish what an earlier process has started before starting waiting tasks.
        for task in in_progress {
            task::resume(self, &client, TaskIndex { run, task }, &created).await?;
        }
        let concurrency = usize::try_from(created.concurrency).unwrap_or(1).clamp(1, self.parallel.max(1));
        let ended: Vec<anyhow::Result<()>> = stream::iter(waiting)
            .map(|task| task::resume(self, &client, TaskIndex { run, task }, &created))
            .buffer_unordered(concurrency)
            .collect()
            .await;
        ended.into_iter().collect()
    }

    /// Creates a run. The idempotency key is stable, so that another process gets the same run.
    async fn create(&self, run: usize) -> anyhow::Result<()> {
        let journal = self.journal.read();
        let body = request(&journal, journal.runs.get(run));
        let key = format!("verial-run-{}-{run}", journal.id);
        let mut created = retry_with_notice(self.patience, || self.creator.create_run(&body, &key)).await?;
        if created.scored {
            // The organization key would return the real names, but the agent may be able to read the journal.
            let agent = self.creator.client().with_key(&created.bearer_token);
            let summary = retry_with_notice(self.patience, || agent.run_summary(&created.benchmark_run_id)).await?;
            created.task_runs = summary.task_runs;
        }
        let tasks = self.tasks.fetch_add(created.task_runs.len() as u64, Ordering::Relaxed);
        self.progress.set_tasks(tasks + created.task_runs.len() as u64);
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
    let rerun_tasks = record.map(|record| &record.only).filter(|only| !only.is_empty());
    if let Some(only) = rerun_tasks.or(Some(&journal.tasks)).filter(|tasks| !tasks.is_empty()) {
        body["tasks"] = json!(only);
    }
    if rerun_tasks.is_none() && !journal.tags.is_empty() {
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
            step: if task.phase == Phase::Completed { TaskStage::Completing } else { TaskStage::Waiting },
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
