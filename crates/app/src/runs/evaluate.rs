//! Scoring: criteria held against a sealed playground. A pure function of what is stored.

use std::sync::Arc;

use model::criterion::Criterion;
use model::event::{Event, EventType};
use model::publication::{FrozenTask, Snapshot};
use model::run::Sealed;
use model::score::{self, Axes, Part, Score};
use model::{PlaygroundId, Timestamp};
use serde_json::Value;
use sha2::{Digest, Sha256};
use sims::files::Content;
use store::log;
use store::sandboxes::StoredSandbox;
use verify::sandbox_scope::SandboxNames;
use verify::{Contents, Evidence, Outcome};
use world::{Effect, Seq, World};

use super::snapshots;
use crate::{App, AppError};

/// What scored it. A change of what any check answers raises it.
pub const ENGINE: &str = "verify/8";
/// Events that are read in one transaction.
const ROWS: i64 = 2000;
/// Of these no check reads what went in and out: there may be very many.
const COUNTED_ONLY: [EventType; 8] = [
    EventType::FhirRequest,
    EventType::FileRead,
    EventType::PortalView,
    EventType::PortalSearch,
    EventType::MessageRead,
    EventType::VoiceRead,
    EventType::CdsRead,
    EventType::AuthToken,
];

/// Everything that criteria are held against.
pub(super) struct Frozen {
    pub(super) world: Arc<World>,
    names: SandboxNames,
    pub(super) events: Vec<Event>,
    /// What the agent did, in order.
    pub(super) effects: Vec<Effect>,
    /// The last entry of the log when the task was completed; what comes after it was settled.
    pub(super) completed_seq: Option<Seq>,
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

impl Judged {
    /// Harm was done: unlike a task that was never scored, where nothing is known.
    pub(super) fn is_critical_failure(&self) -> bool {
        self.criterion.critical && !self.outcome.passed
    }
}

/// What a task counts that ends without being scored: 0 on each axis of its criteria.
pub(super) fn unscored_axes(task: &FrozenTask) -> Axes {
    score::zero_axes(task.criteria.iter().map(|criterion| (criterion.weight, criterion.axis.clone())))
}

impl App {
    pub(super) async fn frozen(
        &self,
        playground: &PlaygroundId,
        world: Arc<World>,
        completed_seq: Option<Seq>,
    ) -> Result<Frozen, AppError> {
        let id = playground.clone();
        let sandboxes = self.store().read(move |db| store::sandboxes::of_playground(db, &id)).await?;
        let names = names_of(&sandboxes);
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
                return Frozen::new(world, names, events, completed_seq).await;
            }
        }
    }

    /// Holds every criterion of a task against what its playground holds.
    pub(super) async fn judge(
        &self,
        snapshot: Arc<Snapshot>,
        task: FrozenTask,
        frozen: Arc<Frozen>,
    ) -> Result<Vec<Judged>, AppError> {
        let task_value = Arc::new(snapshots::task_value(&task));
        let (mut judged, mut waiting) = (Vec::new(), Vec::new());
        for criterion in task.criteria {
            let matter = Matter { criterion, task: Arc::clone(&task_value), snapshot: Arc::clone(&snapshot) };
            if !matter.reads_files() {
                waiting.push(matter);
                continue;
            }
            judged.extend(judge_without_files(std::mem::take(&mut waiting), &frozen).await?);
            // One after the other: each may load the bytes of many files.
            let contents = self.bring(&matter, &frozen).await?;
            let frozen = Arc::clone(&frozen);
            judged.push(matter.look(move |matter| matter.judged(&frozen, &contents)).await?);
        }
        judged.extend(judge_without_files(waiting, &frozen).await?);
        Ok(judged)
    }

    /// The files that a criterion reads. That they cannot be read is a failure of ours.
    async fn bring(&self, matter: &Matter, frozen: &Arc<Frozen>) -> Result<Contents, AppError> {
        let mut contents = Contents::new();
        let frozen = Arc::clone(frozen);
        let wanted = matter.clone().look(move |matter| {
            let assertion = &matter.criterion.assertion;
            matter.with_evidence(&frozen, &verify::NO_CONTENTS, |evidence| verify::wanted_files(assertion, evidence))
        });
        for (sha256, row) in wanted.await? {
            contents.insert(sha256, self.whole_file(&row).await?);
        }
        Ok(contents)
    }

    async fn whole_file(&self, row: &Value) -> Result<Vec<u8>, AppError> {
        match sims::files::content(row) {
            Some(Content::Inline(bytes)) => Ok(bytes),
            Some(Content::Blobs(names)) => {
                let mut whole = Vec::new();
                for name in names {
                    whole.extend_from_slice(&self.blobs().get(&name).await?);
                }
                Ok(whole)
            }
            None => Err(AppError::Internal("a file has no content".into())),
        }
    }
}

impl Frozen {
    /// Finds the effects off the threads that serve others: there may be many versions.
    async fn new(
        world: Arc<World>,
        names: SandboxNames,
        events: Vec<Event>,
        completed_seq: Option<Seq>,
    ) -> Result<Self, AppError> {
        let found = tokio::task::spawn_blocking(move || {
            let effects = sims::effects::of_agent(&world, &events);
            Self { world, names, events, effects, completed_seq }
        });
        found.await.map_err(|_| AppError::Internal("finding the effects panicked".into()))
    }
}

/// What assertions may call the sandboxes.
pub(super) fn names_of(sandboxes: &[StoredSandbox]) -> SandboxNames {
    sandboxes.iter().map(|sandbox| (sandbox.id.clone(), sandbox.name.clone())).collect()
}

/// The checks that read what files say.
const READ_FILES: [&str; 3] = [
    <verify::checks::fax_document::FaxDocument as verify::Check>::INFO.name,
    <verify::checks::sftp_file_present::SftpFilePresent as verify::Check>::INFO.name,
    <verify::checks::no_disclosure::NoDisclosure as verify::Check>::INFO.name,
];

/// A criterion, and what its templates name.
#[derive(Clone)]
struct Matter {
    criterion: Criterion,
    task: Arc<Value>,
    snapshot: Arc<Snapshot>,
}

/// Evaluates criteria that read records and events only, in one blocking task.
async fn judge_without_files(matters: Vec<Matter>, frozen: &Arc<Frozen>) -> Result<Vec<Judged>, AppError> {
    if matters.is_empty() {
        return Ok(Vec::new());
    }
    let frozen = Arc::clone(frozen);
    let judging = tokio::task::spawn_blocking(move || {
        matters.into_iter().map(|matter| matter.judged(&frozen, &verify::NO_CONTENTS)).collect()
    });
    judging.await.map_err(|_| AppError::Internal("a check panicked".into()))
}

impl Matter {
    fn reads_files(&self) -> bool {
        let check = self.criterion.assertion.get("assert").and_then(Value::as_str);
        check.is_some_and(|check| READ_FILES.contains(&check))
    }

    /// Off the threads that serve others. A panic is a failure of ours, and no agent's fail.
    async fn look<T: Send + 'static>(self, work: impl FnOnce(Self) -> T + Send + 'static) -> Result<T, AppError> {
        let looking = tokio::task::spawn_blocking(move || work(self));
        looking.await.map_err(|_| AppError::Internal("a check panicked".into()))
    }

    fn with_evidence<T>(&self, frozen: &Frozen, contents: &Contents, work: impl FnOnce(&Evidence<'_>) -> T) -> T {
        let entity = snapshots::entity_value(&self.snapshot, self.criterion.input_entity_id.as_ref());
        let Frozen { world, names, events, effects, completed_seq } = frozen;
        let (entity, task, completed_seq) = (entity.as_ref(), Some(&*self.task), *completed_seq);
        work(&Evidence { world, names, events, effects, completed_seq, contents, entity, task })
    }

    fn judged(self, frozen: &Frozen, contents: &Contents) -> Judged {
        let evaluate = |evidence: &Evidence<'_>| verify::evaluate(&self.criterion.assertion, evidence);
        let mut outcome = self.with_evidence(frozen, contents, evaluate);
        if self.criterion.critical && !outcome.passed && outcome.score > Score::zero() {
            outcome.score = Score::zero();
            outcome.details.push_str("; critical, so it scores 0 unless it is passed");
        }
        Judged { criterion: self.criterion, outcome }
    }
}

/// Names what was scored, so that it can be told later whether it is still the same.
pub(super) fn sealed(
    frozen: &Frozen,
    snapshot: &Snapshot,
    content_hash: &str,
    engine: &str,
    sealed_at: Timestamp,
) -> Sealed {
    Sealed {
        sealed_at,
        seq: frozen.world.seq,
        completed_seq: frozen.completed_seq,
        events: frozen.events.len() as u64,
        state_hash: state_hash(&frozen.world, snapshot),
        content_hash: content_hash.to_owned(),
        engine: engine.to_owned(),
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
