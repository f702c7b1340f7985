//! Scanned faxes that the server could not read. A missing OCR program must not change a score.

use std::sync::Arc;

use model::PlaygroundId;
use model::publication::{FrozenTask, Snapshot};
use serde_json::Value;
use verify::Evidence;
use verify::sandbox_scope::SandboxNames;
use world::World;

use super::{evaluate, snapshots};
use crate::sandboxes::fax;
use crate::{App, AppError};

const CHECK: &str = <verify::checks::fax_document::FaxDocument as verify::Check>::INFO.name;
const MISSING: &str = "the score depends on scanned fax pages that this server cannot read: its operator must install the program `tesseract`; complete the task again then";

/// Called before a task is frozen. Reads faxes again that could not be read when they were sent; fails if a criterion
/// depends on a fax that is still unread.
pub(super) async fn check(
    app: &App,
    snapshot: &Arc<Snapshot>,
    task: &FrozenTask,
    playground: &PlaygroundId,
) -> Result<(), AppError> {
    let reads_faxes = |assertion: &Value| assertion.get("assert").and_then(Value::as_str) == Some(CHECK);
    if !task.criteria.iter().any(|criterion| reads_faxes(&criterion.assertion)) {
        return Ok(());
    }
    let world = app.runtime().load_latest(playground).await?.world;
    if sims::fax::unreadable_faxes(&world).is_empty() {
        return Ok(());
    }
    let id = playground.clone();
    let sandboxes = app.store().read(move |db| store::sandboxes::of_playground(db, &id)).await?;
    fax::read_unread(app, &sandboxes, &world).await?;
    let world = app.runtime().load_latest(playground).await?.world;
    let (snapshot, task, names) = (Arc::clone(snapshot), task.clone(), evaluate::names_of(&sandboxes));
    let undecided = tokio::task::spawn_blocking(move || is_undecided(&world, &names, &snapshot, &task)).await;
    match undecided.map_err(|_| AppError::Internal("a check panicked".into()))? {
        true => Err(AppError::Unavailable(MISSING)),
        false => Ok(()),
    }
}

fn is_undecided(world: &World, names: &SandboxNames, snapshot: &Snapshot, task: &FrozenTask) -> bool {
    let task_value = snapshots::task_value(task);
    task.criteria.iter().any(|criterion| {
        let entity = snapshots::entity_value(snapshot, criterion.input_entity_id.as_ref());
        let evidence = Evidence {
            world,
            names,
            events: &[],
            effects: &[],
            completed_seq: None,
            contents: &verify::NO_FILE_CONTENTS,
            entity: entity.as_ref(),
            task: Some(&task_value),
        };
        !verify::undecided_documents(&criterion.assertion, &evidence).is_empty()
    })
}
