//! Files that another simulator of the playground processes: interchanges for its clearinghouse.

use sims::clearinghouse::batch_files::{MAX_BYTES, is_batch_input, process_file};
use sims::files::TreePath;
use world::{Context, Outcome, World};

use super::{FileDrop, FileDropError};
use runtime::Cost;

/// Sends an interchange to the clearinghouse and writes the responses next to it. Other files only cost one lookup.
pub(super) async fn hand_over(drop: &FileDrop, path: &TreePath) -> Result<(), FileDropError> {
    let asked = path.as_str().to_owned();
    let look = move |world: &World, _: &Context<'_>| Outcome {
        answer: is_batch_input(world, &asked),
        changes: Vec::new(),
        events: Vec::new(),
    };
    if !drop.app.runtime().query(&drop.sandbox, Cost::Light, look).await? {
        return Ok(());
    }
    let reader = drop.peek(path).await?;
    let mut bytes = Vec::new();
    // One byte more than the maximum shows that the file is too large.
    while bytes.len() <= MAX_BYTES {
        let part = reader.read(bytes.len() as u64, MAX_BYTES + 1 - bytes.len()).await?;
        if part.is_empty() {
            break;
        }
        bytes.extend_from_slice(&part);
    }
    let (files, actor, path) = (drop.sandbox.id.clone(), drop.client.actor.clone(), path.as_str().to_owned());
    let message =
        move |world: &World, context: &Context<'_>| process_file(world, context, &files, &actor, &path, &bytes);
    drop.app.runtime().command(&drop.sandbox, message).await?;
    Ok(())
}
