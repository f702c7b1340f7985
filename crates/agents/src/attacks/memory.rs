//! Attacks that replay recorded work: they send what the reference agent sent in an unscored run again in a scored run. They
//! differ in how they recognize a task.

use std::sync::Arc;

use client::Client;
use serde_json::Value;

use super::case::{AttackCase, AttackStep};
use super::survey::Exchange;
use super::{CATALOG, decide_by_instruction, decide_by_name, replay};
use crate::message::Message;
use crate::mutating_proxy::MutatingProxy;
use crate::runner::{BenchmarkRun, StartedTask, TaskResult};
use crate::{AgentMode, ReferenceAgent};

/// A task of an unscored run, as recorded.
pub(super) struct RecordedTask {
    pub(super) name: String,
    pub(super) task_id: String,
    pub(super) item: Value,
    pub(super) fingerprint: String,
    pub(super) exchanges: Vec<Exchange>,
}

/// What the run's token shows of a task of a scored run, and (for the audit itself) which one it really is.
pub(super) struct VisibleTask<'a> {
    pub(super) name: &'a str,
    pub(super) task_id: &'a str,
    pub(super) item: &'a Value,
    /// Its index among the recorded tasks.
    pub(super) index: Option<usize>,
}

/// What is sent in a task, and a description of how it was recognized.
pub(super) struct RecalledWork {
    pub(super) exchanges: Vec<Exchange>,
    pub(super) description: String,
}

/// Recognizes a task. Returns `None` when the attack does not apply to it.
type Recall = fn(&[RecordedTask], &VisibleTask<'_>) -> Option<RecalledWork>;

const AGENTS: [(&str, Recall); 3] = [
    (decide_by_name::ATTACK.name, decide_by_name::recall),
    (decide_by_instruction::ATTACK.name, decide_by_instruction::recall),
    (replay::ATTACK.name, replay::recall),
];

/// Makes one scored run for each of these attacks.
pub(crate) async fn scored_cases(
    owner: &Client,
    benchmark: &str,
    surveyed: &[TaskResult],
) -> anyhow::Result<Vec<(AttackCase, TaskResult)>> {
    let memories: Vec<RecordedTask> = surveyed.iter().map(recorded_task).collect();
    let mut found = Vec::new();
    for (name, recall) in AGENTS {
        let run = BenchmarkRun::create(owner, benchmark, true).await?;
        for index in 0..run.task_runs.len() {
            let started = run.start(index).await?;
            let own = recognized(&memories, &started).await?;
            let (seen_name, seen_id) = (run.name(index), run.task_id(index));
            let seen = VisibleTask { name: &seen_name, task_id: &seen_id, item: &started.assignment.item, index: own };
            let Some(recalled) = recall(&memories, &seen) else {
                run.complete_without_agent(index).await?;
                continue;
            };
            let mut case = AttackCase::new("run", recalled.description);
            case.attack = CATALOG.iter().find(|attack| attack.name == name).copied();
            let case = case.step(AttackStep::Replay(Arc::new(recalled.exchanges)));
            let mut result = run.finish(&ReferenceAgent, AgentMode::Attack(case.clone()), index, started).await?;
            if let Some(memory) = own.and_then(|own| memories.get(own)) {
                result.task.clone_from(&memory.name);
                result.task_index = own.unwrap_or(index);
            }
            found.push((case, result));
        }
    }
    Ok(found)
}

fn recorded_task(surveyed: &TaskResult) -> RecordedTask {
    RecordedTask {
        name: surveyed.task.clone(),
        task_id: surveyed.task_id.clone(),
        item: surveyed.plan.item.clone(),
        fingerprint: surveyed.survey.fingerprint.clone(),
        exchanges: surveyed.survey.exchanges.clone(),
    }
}

/// The index of the recorded task with the same task item and the same inbox contents.
async fn recognized(memories: &[RecordedTask], started: &StartedTask) -> anyhow::Result<Option<usize>> {
    let assignment = &started.assignment;
    let client = Client::new(&assignment.base_url, &assignment.token)?;
    let fingerprint = MutatingProxy::new(client, &assignment.task_run_id, AgentMode::Nothing).fingerprint().await;
    let is_same = |memory: &RecordedTask| memory.item == assignment.item && memory.fingerprint == fingerprint;
    Ok(memories.iter().position(is_same))
}

/// The requests of an agent that reads nothing: its writes, and the list of pending CDS hooks, whose ids it needs.
pub(super) fn blind_requests(exchanges: &[Exchange]) -> Vec<Exchange> {
    let is_kept = |message: &Message| !message.is_read() || message.path.starts_with("cds/hooks");
    exchanges.iter().filter(|exchange| is_kept(&exchange.message)).cloned().collect()
}
