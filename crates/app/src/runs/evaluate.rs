//! Scoring: criteria held against a sealed playground. A pure function of what is stored.

use std::sync::Arc;

use model::criterion::Criterion;
use model::event::{Event, EventType};
use model::publication::{FrozenTask, Snapshot};
use model::run::Sealed;
use model::score::{self, Axes, Part, Score};
use model::{PlaygroundId, Timestamp};
use sha2::{Digest, Sha256};
use store::log;
use verify::{Evidence, Outcome};
use world::{Seq, World};

use super::snapshots;
use crate::{App, AppError};

/// What scored it. A change of what any check answers raises it.
pub(super) const ENGINE: &str = "verify/1";
/// Events that are read in one transaction.
const ROWS: i64 = 2000;
/// Of these no check reads what went in and out: there may be very many.
const COUNTED_ONLY: [EventType; 6] = [
    EventType::FhirRequest,
    EventType::FileRead,
    EventType::PortalView,
    EventType::PortalSearch,
    EventType::MessageRead,
    EventType::AuthToken,
];

/// Everything that criteria are held against.
pub(super) struct Frozen {
    pub(super) world: Arc<World>,
    pub(super) events: Vec<Event>,
}

/// One criterion and what it came to.
pub(super) struct Judged {
    pub(super) criterion: Criterion,
    pub(super) outcome: Outcome,
}

/// A task's score, from what its criteria came to.
pub(super) fn total(judged: &[Judged]) -> (Score, Axes) {
    let part = |one: &Judged| Part {
        score: one.outcome.score.clone(),
        weight: one.criterion.weight,
        axis: one.criterion.axis.clone(),
    };
    score::task(&judged.iter().map(part).collect::<Vec<_>>())
}

impl App {
    pub(super) async fn frozen(&self, playground: &PlaygroundId, world: Arc<World>) -> Result<Frozen, AppError> {
        let mut events: Vec<Event> = Vec::new();
        loop {
            let (id, after) = (playground.clone(), events.last().map_or(0, |event| event.seq));
            let read = self.store().read(move |db| log::events_after(db, &id, after, &COUNTED_ONLY, ROWS)).await?;
            let is_last = (read.len() as i64) < ROWS;
            for mut stored in read {
                crate::sandboxes::evidence::fill(self, &mut stored).await?;
                events.push(stored.event);
            }
            if is_last {
                return Ok(Frozen { world, events });
            }
        }
    }

    /// Off the threads that serve others. A panic is a failure of ours, and no agent's fail.
    pub(super) async fn judge(
        &self,
        snapshot: Arc<Snapshot>,
        task: FrozenTask,
        frozen: Arc<Frozen>,
    ) -> Result<Vec<Judged>, AppError> {
        let judging = tokio::task::spawn_blocking(move || judge_all(&snapshot, task, &frozen));
        judging.await.map_err(|_| AppError::Internal("a check panicked".into()))
    }
}

fn judge_all(snapshot: &Snapshot, task: FrozenTask, frozen: &Frozen) -> Vec<Judged> {
    let task_value = snapshots::task_value(&task);
    let judge = |criterion: Criterion| {
        let entity = snapshots::entity_value(snapshot, criterion.input_entity_id.as_ref());
        let evidence =
            Evidence { world: &frozen.world, events: &frozen.events, entity: entity.as_ref(), task: Some(&task_value) };
        let outcome = verify::evaluate(&criterion.assertion, &evidence);
        Judged { criterion, outcome }
    };
    task.criteria.into_iter().map(judge).collect()
}

/// Names what was scored, so that it can be told later whether it is still the same.
pub(super) fn sealed(
    frozen: &Frozen,
    snapshot: &Snapshot,
    content_hash: &str,
    (seq, sealed_at): (Seq, Timestamp),
) -> Sealed {
    Sealed {
        sealed_at,
        seq,
        events: frozen.events.len() as u64,
        state_hash: state_hash(&frozen.world, snapshot),
        content_hash: content_hash.to_owned(),
        engine: ENGINE.to_owned(),
    }
}

/// Over what was written in each sandbox, version by version, and the datasets below it.
pub(super) fn state_hash(world: &World, snapshot: &Snapshot) -> String {
    let mut hash = Sha256::new();
    hash.update(snapshots::datasets_hash(snapshot).as_bytes());
    for sandbox in world.sandboxes.values() {
        put(&mut hash, sandbox.kind.name());
        for collection in sandbox.records.written_collections() {
            for revision in sandbox.records.written(collection) {
                put(&mut hash, collection);
                put(&mut hash, revision.key);
                put(&mut hash, &revision.version.to_string());
                put(&mut hash, &revision.record.map(|record| record.text()).unwrap_or_default());
            }
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// With its length before it, so that no two sequences of texts are one.
fn put(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text.as_bytes());
}
