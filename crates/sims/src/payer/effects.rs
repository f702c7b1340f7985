//! Effects on the payer's portal: requests that were submitted, added to and withdrawn, and rows that were changed.

use serde_json::Value;
use world::Verb;

use super::decide::ROUNDS;
use super::rows::{DOCUMENTS, DRAFTS, REQUESTS, text};
use crate::effects::{AgentLog, EffectInfo, RecordChange, SandboxEffect, is_bookkeeping};

pub(crate) const EFFECTS: EffectInfo = EffectInfo {
    channel: "portal",
    has_paths: false,
    examples: &["portal/prior_auth_requests:create", "portal/prior_auth_requests:withdraw"],
    collect,
};

fn collect(log: &AgentLog<'_>) -> Vec<SandboxEffect> {
    let changes = log.changes(|collection| !is_bookkeeping(collection), model::canonical::to_string);
    let documents: Vec<i64> = changes.iter().filter(|one| one.collection == DOCUMENTS).map(|one| one.seq).collect();
    let acts = changes.iter().filter_map(|change| match change.collection {
        DRAFTS if change.is_own => left_draft(log, change),
        REQUESTS if is_withdrawal(change) => Some(SandboxEffect { verb: Verb::Withdraw, ..change.effect() }),
        // Documents that are added are effects of their own.
        REQUESTS if change.is_own && documents.contains(&change.seq) && says_the_same(change) => None,
        _ => Some(change.effect()),
    });
    acts.collect()
}

/// Nobody but the agent sees its drafts, so working on one is not an effect; leaving it behind is.
fn left_draft(log: &AgentLog<'_>, change: &RecordChange<'_>) -> Option<SandboxEffect> {
    let is_there = log.sandbox.records.get(DRAFTS, change.key).live().is_some();
    (is_there && change.verb() == Verb::Create).then(|| change.effect())
}

fn is_withdrawal(change: &RecordChange<'_>) -> bool {
    let is_withdrawn = |row: &Option<Value>| row.as_ref().is_some_and(|row| text(row, "status") == Some("withdrawn"));
    is_withdrawn(&change.after) && !is_withdrawn(&change.before)
}

/// What the payer writes, and the list of documents.
const NOT_SAID: [&str; 4] = [DOCUMENTS, "updated_at", "determination", ROUNDS];

/// Whether the request asks for the same, in the same words, as before.
fn says_the_same(change: &RecordChange<'_>) -> bool {
    let said = |row: &Option<Value>| {
        let members = row.as_ref().and_then(Value::as_object).into_iter().flatten();
        let said = members.filter(|(name, _)| !NOT_SAID.contains(&name.as_str()));
        said.map(|(name, value)| (name.clone(), value.clone())).collect::<Vec<_>>()
    };
    said(&change.before) == said(&change.after)
}
