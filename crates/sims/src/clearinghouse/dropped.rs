//! Batch: a file that is written below a configured folder of the Files sandbox is taken as a body of interchanges, and
//! its answers become files of another folder.

use model::SandboxId;
use model::canonical::sha256_hex;
use model::simulator::SimulatorType;
use serde_json::json;
use world::{Change, Context, Outcome, Sandbox, World};

use super::config::{Batch, ClearinghouseConfig};
use super::exchange::{Refusal, Sender, Transport, exchange};
use crate::files::steps::FILES;

/// Larger files are answered with an error, and nobody needs to read them.
pub use super::exchange::MOST_BYTES;

/// Whether a file of this path would be taken: whoever writes files need not hand over the others.
pub fn takes(world: &World, path: &str) -> bool {
    taker(world, path).is_some()
}

/// What becomes of a file that was written into a Files sandbox: the paths of its answers, which are files there now.
/// Nothing where no clearinghouse takes it.
pub fn dropped(
    world: &World,
    context: &Context<'_>,
    files: &SandboxId,
    actor: &str,
    path: &str,
    bytes: &[u8],
) -> Outcome<Vec<String>> {
    let taken = taker(world, path).zip(world.sandboxes.get(files));
    let Some(((house, batch), files)) = taken else {
        return Outcome { answer: Vec::new(), changes: Vec::new(), events: Vec::new() };
    };
    let sender = Sender { actor: actor.to_owned(), transport: Transport::File };
    let Outcome { answer, mut changes, events } = exchange(world, &house, &sender, bytes, context);
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let place = |end: &str| format!("{}/{stem}.{end}", batch.answer_to);
    let answers: Vec<(String, String)> = match answer {
        Err(Refusal::Unreadable(reason) | Refusal::TooLarge(reason)) => {
            vec![(place("error.txt"), format!("{name}: {reason}\n"))]
        }
        Ok(exchanged) => {
            let responses = exchanged.responses.into_iter();
            responses.map(|response| (place(&format!("{}.x12", response.control_number)), response.payload)).collect()
        }
    };
    let free = answers.iter().filter(|(path, _)| !is_below_a_file(files, path));
    let written: Vec<Change> = free.clone().map(|(path, text)| put(files, path, text, context)).collect();
    changes.extend(written);
    Outcome { answer: free.map(|(path, _)| path.clone()).collect(), changes, events }
}

/// Where a file lies there can be no directory.
fn is_below_a_file(files: &Sandbox, path: &str) -> bool {
    path.match_indices('/').any(|(end, _)| files.records.get(FILES, &path[..end]).live().is_some())
}

fn put(files: &Sandbox, path: &str, text: &str, context: &Context<'_>) -> Change {
    let content_type = if path.ends_with(".x12") { "application/edi-x12" } else { "text/plain" };
    let row = json!({
        "sha256": sha256_hex(text.as_bytes()),
        "size": text.len(),
        "content_type": content_type,
        "modified_at": context.now,
        "text": text,
    });
    files.put(FILES, path, &row, context.now)
}

fn taker(world: &World, path: &str) -> Option<(SandboxId, Batch)> {
    let open = |sandbox: &&Sandbox| sandbox.kind == SimulatorType::Clearinghouse && sandbox.is_active;
    world.sandboxes.values().filter(open).find_map(|sandbox| {
        // Most have none: no need to read all rules for every file.
        sandbox.config.get("batch")?;
        let batch = ClearinghouseConfig::of(&sandbox.config).batch?;
        let is_below = path.strip_prefix(batch.take_from.as_str()).is_some_and(|rest| rest.starts_with('/'));
        is_below.then(|| (sandbox.id.clone(), batch))
    })
}
