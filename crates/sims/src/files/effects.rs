//! Effects of the Files simulator: changes to files and folders.

use std::collections::HashMap;

use model::event::EventType;
use serde_json::Value;
use world::Seq;

use super::steps::FILES;
use super::tree::FOLDERS;
use crate::effects::{AgentLog, EffectInfo, RecordChange, SandboxEffect, member};

pub(crate) const EFFECTS: EffectInfo = EffectInfo {
    channel: "files",
    has_paths: true,
    examples: &["files/outbox/report.json:create", "files/inbox/*:delete"],
    collect,
};

fn collect(log: &AgentLog<'_>) -> Vec<SandboxEffect> {
    let renames = renames(log);
    let changes = log.changes(|collection| [FILES, FOLDERS].contains(&collection), substance);
    let mut effects: Vec<SandboxEffect> = Vec::with_capacity(changes.len());
    for change in &changes {
        match renames.get(&change.seq).filter(|from| **from == change.key) {
            // Uploading under a temporary name and renaming within the folder is one effect.
            Some(from) if is_finished_upload(change, &effects, from) => {
                effects.retain(|effect| effect.resource != *from)
            }
            _ => effects.push(SandboxEffect { seq: change.seq, resource: change.key.to_owned(), verb: change.verb() }),
        }
    }
    effects
}

/// The old paths of renames within a folder, by sequence number.
fn renames<'a>(log: &AgentLog<'a>) -> HashMap<Seq, &'a str> {
    let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let moves = log
        .events
        .iter()
        .filter(|event| event.r#type == EventType::FileWrite && member(event, "operation") == Some("move"));
    let within = moves.filter_map(|event| {
        let (from, to) = (member(event, "path")?, member(event, "to")?);
        (folder(from) == folder(to)).then_some((event.seq, from))
    });
    within.collect()
}

/// Whether the change removes a temporary file of the agent, whose only earlier effect is its creation.
fn is_finished_upload(change: &RecordChange<'_>, effects: &[SandboxEffect], from: &str) -> bool {
    let earlier: Vec<&SandboxEffect> = effects.iter().filter(|effect| effect.resource == from).collect();
    change.is_own
        && change.after.is_none()
        && matches!(earlier.as_slice(), [effect] if effect.verb == world::Verb::Create)
}

/// A file is identified by its bytes and content type, but not by its modification time or storage.
fn substance(row: &Value) -> String {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    match (text("sha256"), text("content_type")) {
        (Some(sha256), Some(content_type)) => format!("{sha256} {content_type}"),
        _ => model::canonical::to_string(row),
    }
}
