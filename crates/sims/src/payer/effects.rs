//! Effects on the payer portal: submitted, amended and withdrawn requests, and changed rows.

use serde_json::Value;
use world::Verb;

use super::determination::ROUNDS;
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
    let documents: Vec<i64> =
        changes.iter().filter(|change| change.collection == DOCUMENTS).map(|change| change.seq).collect();
    let acts = changes.iter().filter_map(|change| match change.collection {
        DRAFTS if change.is_own => remaining_draft(log, change),
        REQUESTS if is_withdrawal(change) => Some(SandboxEffect { verb: Verb::Withdraw, ..change.effect() }),
        // Added documents are effects of their own.
        REQUESTS if change.is_own && documents.contains(&change.seq) && has_same_content(change) => None,
        _ => Some(change.effect()),
    });
    acts.collect()
}

/// Working on a draft is not an effect, because only the agent sees its drafts. A draft that still exists at the end is one.
fn remaining_draft(log: &AgentLog<'_>, change: &RecordChange<'_>) -> Option<SandboxEffect> {
    let exists = log.sandbox.records.get(DRAFTS, change.key).live().is_some();
    (exists && change.verb() == Verb::Create).then(|| change.effect())
}

fn is_withdrawal(change: &RecordChange<'_>) -> bool {
    let is_withdrawn = |row: &Option<Value>| row.as_ref().is_some_and(|row| text(row, "status") == Some("withdrawn"));
    is_withdrawn(&change.after) && !is_withdrawn(&change.before)
}

/// Members that the payer writes, and the list of documents.
const IGNORED_MEMBERS: [&str; 4] = [DOCUMENTS, "updated_at", "determination", ROUNDS];

/// Whether the agent's part of the request is unchanged.
fn has_same_content(change: &RecordChange<'_>) -> bool {
    let content = |row: &Option<Value>| {
        let members = row.as_ref().and_then(Value::as_object).into_iter().flatten();
        let content = members.filter(|(name, _)| !IGNORED_MEMBERS.contains(&name.as_str()));
        content.map(|(name, value)| (name.clone(), value.clone())).collect::<Vec<_>>()
    };
    content(&change.before) == content(&change.after)
}
