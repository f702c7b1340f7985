//! Evaluates the criteria of a task on its frozen playground. A pure function of stored data.

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
use verify::{Evidence, FileContents, Outcome};
use world::{Effect, Seq, World};

use super::snapshots;
use crate::{App, AppError};

/// The version of the scoring engine. Raised when the result of any check changes.
pub const ENGINE: &str = "verify/9";
/// Events that are read in one transaction.
const PAGE_ROWS: i64 = 2000;
/// Events of reads, of which there may be very many. No check reads their payload.
const WITHOUT_PAYLOAD: [EventType; 8] = [
    EventType::FhirRequest,
    EventType::FileRead,
    EventType::PortalView,
    EventType::PortalSearch,
    EventType::MessageRead,
    EventType::VoiceRead,
    EventType::CdsRead,
    EventType::AuthToken,
];

/// The data on which criteria are evaluated.
pub(super) struct FrozenEvidence {
    pub(super) world: Arc<World>,
    names: SandboxNames,
    pub(super) events: Vec<Event>,
    /// What the agent did, in order.
    pub(super) effects: Vec<Effect>,
    /// The last entry of the log when the task was completed. Later entries are of scheduled work that was settled.
    pub(super) completed_seq: Option<Seq>,
}

/// A criterion with its outcome.
pub(super) struct CriterionOutcome {
    pub(super) criterion: Criterion,
    pub(super) outcome: Outcome,
}

/// The score of a task.
pub(super) fn task_score(outcomes: &[CriterionOutcome]) -> (Score, Axes) {
    let part = |one: &CriterionOutcome| Part {
        score: one.outcome.score.clone(),
        weight: one.criterion.weight,
        axis: one.criterion.axis.clone(),
    };
    score::task(&outcomes.iter().map(part).collect::<Vec<_>>())
}

impl CriterionOutcome {
    /// Whether harm was done. A task that was not scored has no critical failures, because nothing is known about it.
    pub(super) fn is_critical_failure(&self) -> bool {
        self.criterion.critical && !self.outcome.passed
    }
}

/// The axes of a task that ends without being scored: 0 on each axis of its criteria.
pub(super) fn unscored_axes(task: &FrozenTask) -> Axes {
    score::zero_axes(task.criteria.iter().map(|criterion| (criterion.weight, criterion.axis.clone())))
}

impl App {
    pub(super) async fn frozen_evidence(
        &self,
        playground: &PlaygroundId,
        world: Arc<World>,
        completed_seq: Option<Seq>,
    ) -> Result<FrozenEvidence, AppError> {
        let id = playground.clone();
        let sandboxes = self.store().read(move |db| store::sandboxes::of_playground(db, &id)).await?;
        let names = names_of(&sandboxes);
        let mut events: Vec<Event> = Vec::new();
        loop {
            let (id, after) = (playground.clone(), events.last().map_or(0, |event| event.seq));
            let read =
                self.store().read(move |db| log::events_after(db, &id, after, &WITHOUT_PAYLOAD, PAGE_ROWS)).await?;
            let is_last = (read.len() as i64) < PAGE_ROWS;
            for mut stored in read {
                crate::sandboxes::evidence::fill(self, &mut stored).await?;
                events.push(stored.event);
            }
            if is_last {
                return FrozenEvidence::new(world, names, events, completed_seq).await;
            }
        }
    }

    /// Evaluates every criterion of a task.
    pub(super) async fn evaluate(
        &self,
        snapshot: Arc<Snapshot>,
        task: FrozenTask,
        frozen: Arc<FrozenEvidence>,
    ) -> Result<Vec<CriterionOutcome>, AppError> {
        let task_value = Arc::new(snapshots::task_value(&task));
        let (mut outcomes, mut without_files) = (Vec::new(), Vec::new());
        for criterion in task.criteria {
            let evaluation = Evaluation { criterion, task: Arc::clone(&task_value), snapshot: Arc::clone(&snapshot) };
            if !evaluation.reads_files() {
                without_files.push(evaluation);
                continue;
            }
            outcomes.extend(evaluate_without_files(std::mem::take(&mut without_files), &frozen).await?);
            // One after the other, because each may load the bytes of many files.
            let contents = self.load_files(&evaluation, &frozen).await?;
            let frozen = Arc::clone(&frozen);
            outcomes.push(evaluation.run_blocking(move |evaluation| evaluation.evaluate(&frozen, &contents)).await?);
        }
        outcomes.extend(evaluate_without_files(without_files, &frozen).await?);
        Ok(outcomes)
    }

    /// The files that a criterion reads. A file that cannot be read is an error of the server.
    async fn load_files(
        &self,
        evaluation: &Evaluation,
        frozen: &Arc<FrozenEvidence>,
    ) -> Result<FileContents, AppError> {
        let mut contents = FileContents::new();
        let frozen = Arc::clone(frozen);
        let wanted = evaluation.clone().run_blocking(move |evaluation| {
            let assertion = &evaluation.criterion.assertion;
            evaluation
                .with_evidence(&frozen, &verify::NO_FILE_CONTENTS, |evidence| verify::wanted_files(assertion, evidence))
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

impl FrozenEvidence {
    /// Finds the effects in a blocking task, because there may be many record versions.
    async fn new(
        world: Arc<World>,
        names: SandboxNames,
        events: Vec<Event>,
        completed_seq: Option<Seq>,
    ) -> Result<Self, AppError> {
        let finding = tokio::task::spawn_blocking(move || {
            let effects = sims::effects::of_agent(&world, &events);
            Self { world, names, events, effects, completed_seq }
        });
        finding.await.map_err(|_| AppError::Internal("finding the effects panicked".into()))
    }
}

/// The names by which assertions may refer to sandboxes.
pub(super) fn names_of(sandboxes: &[StoredSandbox]) -> SandboxNames {
    sandboxes.iter().map(|sandbox| (sandbox.id.clone(), sandbox.name.clone())).collect()
}

/// The checks that read the contents of files.
const READ_FILES: [&str; 3] = [
    <verify::checks::fax_document::FaxDocument as verify::Check>::INFO.name,
    <verify::checks::sftp_file_present::SftpFilePresent as verify::Check>::INFO.name,
    <verify::checks::no_disclosure::NoDisclosure as verify::Check>::INFO.name,
];

/// A criterion with the values of its templates.
#[derive(Clone)]
struct Evaluation {
    criterion: Criterion,
    task: Arc<Value>,
    snapshot: Arc<Snapshot>,
}

/// Evaluates criteria that only read records and events, in one blocking task.
async fn evaluate_without_files(
    evaluations: Vec<Evaluation>,
    frozen: &Arc<FrozenEvidence>,
) -> Result<Vec<CriterionOutcome>, AppError> {
    if evaluations.is_empty() {
        return Ok(Vec::new());
    }
    let frozen = Arc::clone(frozen);
    let evaluating = tokio::task::spawn_blocking(move || {
        evaluations.into_iter().map(|evaluation| evaluation.evaluate(&frozen, &verify::NO_FILE_CONTENTS)).collect()
    });
    evaluating.await.map_err(|_| AppError::Internal("a check panicked".into()))
}

impl Evaluation {
    fn reads_files(&self) -> bool {
        let check = self.criterion.assertion.get("assert").and_then(Value::as_str);
        check.is_some_and(|check| READ_FILES.contains(&check))
    }

    /// A panic is an error of the server, not a failed criterion.
    async fn run_blocking<T: Send + 'static>(
        self,
        work: impl FnOnce(Self) -> T + Send + 'static,
    ) -> Result<T, AppError> {
        let running = tokio::task::spawn_blocking(move || work(self));
        running.await.map_err(|_| AppError::Internal("a check panicked".into()))
    }

    fn with_evidence<T>(
        &self,
        frozen: &FrozenEvidence,
        contents: &FileContents,
        work: impl FnOnce(&Evidence<'_>) -> T,
    ) -> T {
        let entity = snapshots::entity_value(&self.snapshot, self.criterion.input_entity_id.as_ref());
        let FrozenEvidence { world, names, events, effects, completed_seq } = frozen;
        let (entity, task, completed_seq) = (entity.as_ref(), Some(&*self.task), *completed_seq);
        work(&Evidence { world, names, events, effects, completed_seq, contents, entity, task })
    }

    fn evaluate(self, frozen: &FrozenEvidence, contents: &FileContents) -> CriterionOutcome {
        let evaluate = |evidence: &Evidence<'_>| verify::evaluate(&self.criterion.assertion, evidence);
        let mut outcome = self.with_evidence(frozen, contents, evaluate);
        if self.criterion.critical && !outcome.passed && outcome.score > Score::zero() {
            outcome.score = Score::zero();
            outcome.details.push_str("; critical, so it scores 0 unless it is passed");
        }
        CriterionOutcome { criterion: self.criterion, outcome }
    }
}

/// Identifies the data that was scored, so that a later rescore can check that it is the same.
pub(super) fn sealed(
    frozen: &FrozenEvidence,
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

/// The hash of every record version that was written in each sandbox, and of the datasets below.
pub(super) fn state_hash(world: &World, snapshot: &Snapshot) -> String {
    let mut hash = Sha256::new();
    hash.update(snapshots::datasets_hash(snapshot).as_bytes());
    for sandbox in world.sandboxes.values() {
        hash_text(&mut hash, sandbox.kind.name());
        for collection in sandbox.records.written_collections() {
            for revision in sandbox.records.written(collection) {
                hash_text(&mut hash, collection);
                hash_text(&mut hash, revision.key);
                hash_text(&mut hash, &revision.version.to_string());
                hash_text(&mut hash, &revision.record.map(|record| record.text()).unwrap_or_default());
            }
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Preceded by its length, so that different sequences of texts have different hashes.
fn hash_text(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text.as_bytes());
}
