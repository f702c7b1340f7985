//! Batch processing: a file written below the configured input folder of the Files sandbox is processed as a body of
//! interchanges. Its responses are written as files to the output folder.

use model::SandboxId;
use model::canonical::sha256_hex;
use model::simulator::SimulatorType;
use serde_json::json;
use world::{Change, Context, Outcome, Sandbox, World};

use super::config::{Batch, ClearinghouseConfig};
use super::exchange::{ExchangeError, Sender, Transport, exchange};
use crate::files::steps::FILES;

/// Larger files are answered with an error, so callers need not read more.
pub use super::exchange::MAX_BYTES;

/// Whether a file with this path is processed. Callers can skip all others.
pub fn is_batch_input(world: &World, path: &str) -> bool {
    batch_for(world, path).is_some()
}

/// Processes a file that was written into a Files sandbox, and returns the paths of the response files. Does nothing if no
/// clearinghouse reads this folder.
pub fn process_file(
    world: &World,
    context: &Context<'_>,
    files: &SandboxId,
    actor: &str,
    path: &str,
    bytes: &[u8],
) -> Outcome<Vec<String>> {
    let target = batch_for(world, path).zip(world.sandboxes.get(files));
    let Some(((clearinghouse, batch), files)) = target else {
        return Outcome { answer: Vec::new(), changes: Vec::new(), events: Vec::new() };
    };
    let sender = Sender { actor: actor.to_owned(), transport: Transport::File };
    let Outcome { answer, mut changes, events } = exchange(world, &clearinghouse, &sender, bytes, context);
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let response_path = |extension: &str| format!("{}/{stem}.{extension}", batch.answer_to);
    let response_files: Vec<(String, String)> = match answer {
        Err(ExchangeError::Unreadable(reason) | ExchangeError::TooLarge(reason)) => {
            vec![(response_path("error.txt"), format!("{name}: {reason}\n"))]
        }
        Ok(exchange) => {
            let responses = exchange.responses.into_iter();
            responses
                .map(|response| (response_path(&format!("{}.x12", response.control_number)), response.payload))
                .collect()
        }
    };
    let writable = response_files.iter().filter(|(path, _)| !is_below_a_file(files, path));
    changes.extend(writable.clone().map(|(path, text)| put(files, path, text, context)));
    Outcome { answer: writable.map(|(path, _)| path.clone()).collect(), changes, events }
}

/// Whether a parent folder of the path exists as a file.
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

fn batch_for(world: &World, path: &str) -> Option<(SandboxId, Batch)> {
    let is_active_clearinghouse =
        |sandbox: &&Sandbox| sandbox.kind == SimulatorType::Clearinghouse && sandbox.is_active;
    world.sandboxes.values().filter(is_active_clearinghouse).find_map(|sandbox| {
        // Most clearinghouses have no batch config. Check that before parsing all rules for every file.
        sandbox.config.get("batch")?;
        let batch = ClearinghouseConfig::of(&sandbox.config).batch?;
        let is_below = path.strip_prefix(batch.take_from.as_str()).is_some_and(|rest| rest.starts_with('/'));
        is_below.then(|| (sandbox.id.clone(), batch))
    })
}
