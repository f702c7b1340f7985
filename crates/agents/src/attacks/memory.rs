//! Agents that do not work but remember: what the reference agent sent in a run that was not scored is sent again in a
//! scored one. They differ in how they recognize a task.

use std::sync::Arc;

use client::Client;
use serde_json::Value;

use super::case::{Case, Step};
use super::survey::Exchange;
use super::{CATALOG, decide_by_instruction, decide_by_name, replay};
use crate::courier::Courier;
use crate::drive::{Result, Run, Started};
use crate::message::Message;
use crate::{Manner, Ours};

/// A task of a run that was not scored.
pub(super) struct Memory {
    pub(super) name: String,
    pub(super) task_id: String,
    pub(super) item: Value,
    pub(super) fingerprint: String,
    pub(super) exchanges: Vec<Exchange>,
}

/// What the run's token shows of a task of a scored run, and (for the audit itself) which one it really is.
pub(super) struct Seen<'a> {
    pub(super) name: &'a str,
    pub(super) task_id: &'a str,
    pub(super) item: &'a Value,
    /// Its place among the memories.
    pub(super) place: Option<usize>,
}

/// What is sent in a task, and in words by what it was recognized.
pub(super) struct Recalled {
    pub(super) exchanges: Vec<Exchange>,
    pub(super) description: String,
}

/// Recognizes a task; nothing when the attack does not apply to it.
type Recall = fn(&[Memory], &Seen<'_>) -> Option<Recalled>;

const AGENTS: [(&str, Recall); 3] = [
    (decide_by_name::ATTACK.name, decide_by_name::recall),
    (decide_by_instruction::ATTACK.name, decide_by_instruction::recall),
    (replay::ATTACK.name, replay::recall),
];

/// One scored run for each of these agents.
pub(crate) async fn scored_cases(
    owner: &Client,
    benchmark: &str,
    surveyed: &[Result],
) -> anyhow::Result<Vec<(Case, Result)>> {
    let memories: Vec<Memory> = surveyed.iter().map(memory).collect();
    let mut found = Vec::new();
    for (name, recall) in AGENTS {
        let run = Run::create(owner, benchmark, true).await?;
        for place in 0..run.task_runs.len() {
            let started = run.start(place).await?;
            let own = recognized(&memories, &started).await?;
            let (seen_name, seen_id) = (run.name(place), run.task_id(place));
            let seen = Seen { name: &seen_name, task_id: &seen_id, item: &started.assignment.item, place: own };
            let Some(recalled) = recall(&memories, &seen) else {
                run.abandon(place).await?;
                continue;
            };
            let mut case = Case::new("run", recalled.description);
            case.attack = CATALOG.iter().find(|attack| attack.name == name).copied();
            let case = case.step(Step::Replay(Arc::new(recalled.exchanges)));
            let mut result = run.finish(&Ours, Manner::Attack(case.clone()), place, started).await?;
            if let Some(memory) = own.and_then(|own| memories.get(own)) {
                result.task.clone_from(&memory.name);
                result.place = own.unwrap_or(place);
            }
            found.push((case, result));
        }
    }
    Ok(found)
}

fn memory(surveyed: &Result) -> Memory {
    Memory {
        name: surveyed.task.clone(),
        task_id: surveyed.task_id.clone(),
        item: surveyed.plan.item.clone(),
        fingerprint: surveyed.survey.fingerprint.clone(),
        exchanges: surveyed.survey.exchanges.clone(),
    }
}

/// Which task this is, by what it says and what waits in its inboxes.
async fn recognized(memories: &[Memory], started: &Started) -> anyhow::Result<Option<usize>> {
    let assignment = &started.assignment;
    let client = Client::new(&assignment.base_url, &assignment.token)?;
    let fingerprint = Courier::new(client, &assignment.task_run_id, Manner::Nothing).fingerprint().await;
    let is_same = |memory: &Memory| memory.item == assignment.item && memory.fingerprint == fingerprint;
    Ok(memories.iter().position(is_same))
}

/// What an agent sends that opens nothing: its writes, and the list of what waits for an answer.
pub(super) fn writes(exchanges: &[Exchange]) -> Vec<Exchange> {
    let is_kept = |message: &Message| !message.is_read() || message.path.starts_with("cds/hooks");
    exchanges.iter().filter(|exchange| is_kept(&exchange.message)).cloned().collect()
}
